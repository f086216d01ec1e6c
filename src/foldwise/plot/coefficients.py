"""The coefficients of linear ensembles, how sure they are and how often they were chosen."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from foldwise.arrays import Array
from foldwise.errors import unsupported

BLUE, GREY = "#1f5fa8", "#8a8f98"


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
        raise unsupported(
            "plot_coefficients",
            "model",
            must="have one coefficient a column, in coef_",
            got=model,
            fix="Pass a linear model for one target.",
        )
    unit = np.ones(len(coef)) if X is None else np.asarray(X, dtype=float).std(axis=0)
    names = np.asarray(getattr(model, "feature_names_in_", np.arange(len(coef))))
    sd, folds = getattr(model, "coef_sd_", None), getattr(model, "fold_coef_", None)
    often = getattr(model, "inclusion_probability_", None)
    if often is None:
        often = getattr(model, "selection_frequency_", None)
    return (
        names,
        coef * unit,
        None if sd is None else sd * unit,
        often,
        None if folds is None else folds * unit,
    )
