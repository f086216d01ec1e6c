"""When more learners no longer help."""

from typing import Any


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
    ax.set(
        xscale="log",
        xlabel="number of learners",
        ylabel="variance of the prediction",
        title=f"σ² = {sigma2:.3g}, ρ = {rho:.2f}",
        ylim=(0, None),
    )
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
