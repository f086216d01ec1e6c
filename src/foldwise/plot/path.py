"""Pictures of regularisation and stagewise paths."""

from __future__ import annotations

from typing import Any

import numpy as np

from foldwise.paths import CVPath, Path, arc_length

MOST_LABELS = 8


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

    figure, axes = plt.subplots(
        1, len(paths), figsize=(5.2 * len(paths), 4.2), sharey=True, layout="constrained"
    )
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
        ax.annotate(
            str(names[column]),
            (walked[-1], height),
            xytext=(3, 0),
            textcoords="offset points",
            fontsize=8,
            va="center",
            annotation_clip=False,
        )
