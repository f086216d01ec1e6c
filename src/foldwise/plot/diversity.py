"""A map of how alike the models of an ensemble err."""

from typing import Any

from foldwise.diagnose import diversity, error_correlation
from foldwise.diagnose.diversity import PAIRWISE
from foldwise.errors import did_you_mean, invalid_parameter


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
    known = ("error_correlation", *PAIRWISE)
    if measure not in known:
        raise invalid_parameter(
            "plot_diversity",
            "measure",
            must="be a pairwise measure",
            got=measure,
            fix=did_you_mean(measure, known),
        )
    import matplotlib.pyplot as plt

    if measure == "error_correlation":
        frame = error_correlation(source).to_frame()
    else:
        frame = diversity(source).pairs(measure)
    values = frame.to_numpy()
    ax = plt.subplots()[1] if ax is None else ax
    signed = measure not in ("disagreement", "double_fault")
    most = 1.0 if signed else max(float(values.max()), 1e-12)
    image = ax.imshow(
        values, cmap="RdBu_r" if signed else "Blues", vmin=-most if signed else 0.0, vmax=most
    )
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
