"""How often predicted probabilities come true."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from foldwise.arrays import FloatArray, IntArray
from foldwise.combine import expected_calibration_error, reliability_curve


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
    options: dict[str, Any] = {
        "n_bins": n_bins,
        "strategy": strategy,
        "sample_weight": sample_weight,
    }
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
