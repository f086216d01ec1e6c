"""The coefficients of linear models: how sure they are, how often chosen, and their paths."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from foldwise.arrays import Array
from foldwise.errors import unsupported
from foldwise.paths import CVPath, Path, arc_length

BLUE, GREY = "#1f5fa8", "#8a8f98"
MOST_LABELS = 8


def plot_coefficients(model: Any, X: Any = None, *, top: int | None = None, ax: Any = None) -> Any:
    """Draw the coefficients of a fitted linear model, the largest first.

    A dot is a coefficient, its line one standard deviation (``coef_sd_``) either way. Where
    columns were chosen with some probability or in some of the folds, it stands at the right,
    and the dot is hollow below one half. Faint dots are the coefficients of the single folds.

    Parameters
    ----------
    model : estimator
        Fitted, with ``coef_``: :class:`~foldwise.BestSubsetRegressor`,
        :class:`~foldwise.AveragedCVRegressor`,
        :class:`~foldwise.BayesianModelAveragingRegressor`, their classifiers, or any linear
        model for one target.
    X : array-like of shape (n_samples, n_features), optional
        With it, coefficients are those of columns scaled to standard deviation 1, so that they
        can be compared.
    top : int, optional
        Number of columns to show; None shows all.
    ax : matplotlib Axes, optional
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Axes
        The axes, for titles and saving.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> axes = plot_coefficients(LinearRegression().fit(np.eye(3), np.arange(3.0)))
    """
    import matplotlib.pyplot as plt

    names, coef, sd, often, folds = _read(model, X)
    order = np.argsort(-np.abs(coef), kind="stable")[:top][::-1]
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 0.9 + 0.32 * len(order)), layout="constrained")
    at = np.arange(len(order))
    ax.axvline(0, color=GREY, linewidth=0.8)
    if folds is not None:
        for row in folds[:, order]:
            ax.plot(row, at, "o", color=BLUE, markersize=3, alpha=0.25, markeredgewidth=0)
    if sd is not None:
        ax.hlines(at, coef[order] - sd[order], coef[order] + sd[order], color=BLUE, linewidth=1.5)
    likely = np.ones(len(order), dtype=bool) if often is None else often[order] > 0.5
    faces = [BLUE if inside else "white" for inside in likely]
    ax.scatter(coef[order], at, s=34, c=faces, edgecolors=BLUE, linewidths=1.5, zorder=3)
    if often is not None:
        _write_shares(ax, at, often[order], type(model).__name__)
    ax.set_yticks(at, [str(name) for name in names[order]])
    ax.set_ylim(-0.6, len(order) - 0.4)
    ax.set_xlabel("coefficient" if X is None else "coefficient per standard deviation")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _write_shares(ax: Any, at: Array, shares: Array, name: str) -> None:
    """Write at the right how often columns were chosen."""
    right = ax.secondary_yaxis("right")
    right.set_yticks(at, [f"{100 * share:.0f} %" for share in shares])
    right.set_ylabel("probability of inclusion" if "Bayes" in name else "share of folds")
    right.tick_params(length=0)
    right.spines["right"].set_visible(False)


def _read(model: Any, X: Any) -> tuple[Array, Any, Any, Any, Any]:
    """Return names, coefficients, spreads, shares and fold coefficients, scaled where asked."""
    check_is_fitted(model)
    coef = np.atleast_1d(np.squeeze(np.asarray(getattr(model, "coef_", np.empty((2, 2))))))
    if coef.ndim != 1:
        must, fix = "have one coefficient a column, in coef_", "Pass a linear model for one target."
        raise unsupported("plot_coefficients", "model", must=must, got=model, fix=fix)
    unit = np.ones(len(coef)) if X is None else np.asarray(X, dtype=float).std(axis=0)
    names = np.asarray(getattr(model, "feature_names_in_", np.arange(len(coef))))
    sd, folds = getattr(model, "coef_sd_", None), getattr(model, "fold_coef_", None)
    often = getattr(model, "inclusion_probability_", None)
    if often is None:
        often = getattr(model, "selection_frequency_", None)
    sd, folds = (None if each is None else each * unit for each in (sd, folds))
    return names, coef * unit, sd, often, folds


def plot_path(
    path: Path,
    *,
    names: Any = None,
    mark: int | None = None,
    until: float | None = None,
    title: str = "",
    ax: Any = None,
) -> Any:
    """Draw the coefficients of a path against the distance they have walked.

    On this axis the lasso and forward stagewise can be laid side by side: where no coefficient
    turns back it is the sum of the absolute coefficients.

    Parameters
    ----------
    path : foldwise.paths.Path
        A lasso, elastic-net or stagewise path of one linear predictor.
    names : sequence of str or None
        Names of the columns; the largest at the end of the path are labelled.
    mark : int or None
        A point of the path to mark by a line, such as the one cross-validation chose; by default
        the point of least held-out loss, where there is one.
    until : float or None
        Draw up to this distance.
    title : str
        Title of the picture.
    ax : matplotlib axes or None
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib.axes.Axes
        The drawing.

    Examples
    --------
    >>> import numpy as np
    >>> from foldwise.paths import lasso_path
    >>> path = lasso_path(np.eye(6)[:, :2], np.arange(6.0), n_lambdas=5)
    >>> len(plot_path(path).lines)
    3
    """
    import matplotlib.pyplot as plt

    ax = plt.subplots()[1] if ax is None else ax
    walked, coefs = _drawn(path, until)
    for column in np.flatnonzero(coefs.any(axis=0)):
        ax.plot(walked, coefs[:, column], color=f"C{column % 10}", linewidth=1.2)
    ax.axhline(0, color="0.6", linewidth=0.6)
    _label(ax, walked, coefs, names)
    if mark is None and isinstance(path, CVPath):
        mark = path.index_min
    if mark is not None and _walked(path)[mark] <= walked[-1]:
        ax.axvline(_walked(path)[mark], color="0.3", linewidth=0.8, linestyle="--")
    ax.set(xlabel="L1 arc length", ylabel="coefficient", title=title)
    return ax


def plot_paths_side_by_side(
    paths: dict[str, Path], *, names: Any = None, until: float | None = None
) -> Any:
    """Draw several paths of one dictionary on the same axes' scale.

    Parameters
    ----------
    paths : dict of str to foldwise.paths.Path
        Titles and paths, for instance of the lasso and of forward stagewise.
    names : sequence of str or None
        Names of the columns.
    until : float or None
        Draw up to this distance; by default as far as the shortest path goes.

    Returns
    -------
    matplotlib.figure.Figure
        The drawing.

    Examples
    --------
    >>> import numpy as np
    >>> from foldwise.paths import lasso_path, monotone_lasso_path
    >>> D, y = np.eye(6)[:, :2], np.arange(6.0)
    >>> both = {"lasso": lasso_path(D, y), "stagewise": monotone_lasso_path(D, y)}
    >>> [ax.get_title() for ax in plot_paths_side_by_side(both).axes]
    ['lasso', 'stagewise']
    """
    import matplotlib.pyplot as plt

    size = (5.2 * len(paths), 4.2)
    figure, axes = plt.subplots(1, len(paths), figsize=size, sharey=True, layout="constrained")
    if until is None:
        until = min(float(_walked(path)[-1]) for path in paths.values())
    for ax, (title, path) in zip(np.atleast_1d(axes), paths.items(), strict=True):
        plot_path(path, names=names, until=until, title=title, ax=ax)
    return figure


def _walked(path: Path) -> Any:
    stored = getattr(path, "arc_length", None)
    return arc_length(path.coefs) if stored is None else stored


def _drawn(path: Path, until: float | None) -> tuple[Any, Any]:
    """Return distances and coefficients to draw, cut between two points where asked to."""
    walked, coefs = _walked(path), path.coefs.reshape(len(path.coefs), -1)
    if until is None or until >= walked[-1]:
        return walked, coefs
    inside = walked < until
    end = [np.interp(until, walked, column) for column in coefs.T]
    return np.r_[walked[inside], until], np.vstack([coefs[inside], end])


def _label(ax: Any, walked: Any, coefs: Any, names: Any) -> None:
    if names is None:
        return
    largest = np.argsort(-np.abs(coefs[-1]))[:MOST_LABELS]
    gap = 0.035 * max(float(np.ptp(coefs)), 1e-12)
    height = -np.inf
    for column in sorted(largest, key=lambda j: coefs[-1, j]):
        if not coefs[-1, column]:
            continue
        height = max(float(coefs[-1, column]), height + gap)
        place = {"xytext": (3, 0), "textcoords": "offset points", "va": "center"}
        text, at = str(names[column]), (walked[-1], height)
        ax.annotate(text, at, fontsize=8, annotation_clip=False, **place)
