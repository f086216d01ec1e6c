"""How alike learners err, when more of them no longer help, and how often probabilities hold."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from foldwise.arrays import FloatArray, IntArray
from foldwise.checks import check_word
from foldwise.combine import expected_calibration_error, reliability_curve
from foldwise.diagnose import diversity, error_correlation
from foldwise.diagnose.diversity import PAIRWISE


def plot_diversity(source: Any, measure: str = "error_correlation", *, ax: Any = None) -> Any:
    """Draw a pairwise measure as a coloured square, with its numbers.

    Parameters
    ----------
    source : fitted stack or OutOfFoldTable
        As in :func:`foldwise.diagnose.diversity`.
    measure : str, default="error_correlation"
        "error_correlation" for numbers and classes; for classes also "q_statistic",
        "correlation", "disagreement" and "double_fault".
    ax : matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib.axes.Axes
        The drawing.

    Examples
    --------
    >>> from foldwise.diagnose import OutOfFoldTable
    >>> table = OutOfFoldTable.from_arrays([[1.0, 3.0], [2.0, 2.5], [4.0, 3.0]], [2.0, 2.0, 3.0])
    >>> ax = plot_diversity(table)
    """
    check_word("plot_diversity", "measure", measure, ("error_correlation", *PAIRWISE))
    import matplotlib.pyplot as plt

    if measure == "error_correlation":
        frame = error_correlation(source).to_frame()
    else:
        frame = diversity(source).pairs(measure)
    values = frame.to_numpy()
    ax = plt.subplots()[1] if ax is None else ax
    signed = measure not in ("disagreement", "double_fault")
    most = 1.0 if signed else max(float(values.max()), 1e-12)
    colours, least = ("RdBu_r", -most) if signed else ("Blues", 0.0)
    image = ax.imshow(values, cmap=colours, vmin=least, vmax=most)
    for i in range(len(values)):
        for k in range(len(values)):
            dark = abs(values[i, k]) > 0.6 * most
            ax.text(k, i, f"{values[i, k]:.2f}", ha="center", va="center",
                    color="white" if dark else "black", fontsize=9)  # fmt: skip
    ax.set_xticks(range(len(values)), frame.columns, rotation=45, ha="right")
    ax.set_yticks(range(len(values)), frame.index)
    ax.set_title(measure.replace("_", " ").capitalize())
    ax.spines[:].set_visible(False)
    ax.figure.colorbar(image, ax=ax, shrink=0.8)
    return ax


def plot_variance_curve(curve: Any, *, ax: Any = None) -> Any:
    """Draw the variance of a bagged prediction against the number of learners.

    Parameters
    ----------
    curve : VarianceCurve
        From ``variance_curve`` of a bagging estimator.
    ax : matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib.axes.Axes
        The drawing: the curve, its floor ρσ², and where the ensemble stands.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from foldwise import BaggingRegressor
    >>> X, y = make_friedman1(100, random_state=0)
    >>> model = BaggingRegressor(n_estimators=20, random_state=0).fit(X, y)
    >>> ax = plot_variance_curve(model.variance_curve(X))
    """
    import matplotlib.pyplot as plt

    ax = plt.subplots()[1] if ax is None else ax
    n, sigma2, rho = curve.n_fitted, curve.sigma2, curve.rho
    here = rho * sigma2 + (1 - rho) * sigma2 / n
    ax.plot(curve.n_learners, curve.variance, label="ρσ² + (1−ρ)σ²/n")
    ax.axhline(curve.floor, color="grey", linestyle=":", label=f"floor ρσ² = {curve.floor:.3g}")
    ax.plot([n], [here], "o", label=f"{n} learners: {here:.3g}")
    ax.set(xscale="log", xlabel="number of learners", ylabel="variance of the prediction")
    ax.set(title=f"σ² = {sigma2:.3g}, ρ = {rho:.2f}", ylim=(0, None))
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_reliability(
    probabilities: Any,
    y: IntArray,
    *,
    n_bins: int = 10,
    strategy: str = "quantile",
    sample_weight: FloatArray | None = None,
    ax: Any = None,
) -> Any:
    """Draw observed against predicted shares, with 95 % intervals.

    Parameters
    ----------
    probabilities : ndarray or mapping of str to ndarray
        As in :func:`foldwise.combine.reliability_curve`; a mapping draws one curve a name.
    y : ndarray of int of shape (n_samples,)
        Class codes.
    n_bins : int, default=10
        The most bins.
    strategy : {"quantile", "uniform"}, default="quantile"
        Bins of equal weight, or of equal width.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.
    ax : matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib.axes.Axes
        The drawing: right probabilities lie on the dotted line. The legend has the expected
        calibration error of each curve.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(size=300)
    >>> ax = plot_reliability({"right": p}, (rng.uniform(size=300) < p).astype(int))
    """
    import matplotlib.pyplot as plt

    ax = plt.subplots()[1] if ax is None else ax
    curves = probabilities if isinstance(probabilities, Mapping) else {"": probabilities}
    options: dict[str, Any] = {"n_bins": n_bins, "strategy": strategy}
    options["sample_weight"] = sample_weight
    ax.plot([0, 1], [0, 1], color="grey", linewidth=0.8, linestyle=":")
    for name, given in curves.items():
        curve = reliability_curve(np.asarray(given), y, **options)
        error = expected_calibration_error(np.asarray(given), y, **options)
        label = f"{name}, {error:.3f}" if name else f"{error:.3f}"
        (line,) = ax.plot(curve.predicted, curve.observed, marker="o", markersize=4, label=label)
        ax.vlines(curve.predicted, curve.lower, curve.upper, color=line.get_color(), alpha=0.4)
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="predicted probability", ylabel="share that came true")
    ax.set_title("Reliability")
    ax.legend(frameon=False, loc="upper left", title="expected calibration error")
    ax.spines[["top", "right"]].set_visible(False)
    return ax
