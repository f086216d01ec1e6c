"""The loss of a boosted model against its rounds."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from foldwise.errors import Plain, unsupported


def staged_losses(model: Any, X: Any, y: Any) -> Any:
    """Return the mean loss on some rows after each round."""
    if hasattr(model, "staged_loss"):
        return model.staged_loss(X, y)
    if is_classifier(model) and hasattr(model, "staged_predict"):
        return np.array([np.mean(stage != np.asarray(y)) for stage in model.staged_predict(X)])
    raise unsupported(
        "plot_staged_loss",
        "model",
        must="be boosted in rounds",
        got=Plain(type(model).__name__),
        fix="Pass a fitted booster.",
    )


def plot_staged_loss(model: Any, *sets: tuple[str, Any, Any], ax: Any = None) -> Any:
    """Draw the loss after each round for one or more sets of rows.

    Parameters
    ----------
    model : fitted booster
        From :mod:`foldwise.boost`.
    *sets : tuples (label, X, y)
        Rows to follow; the lowest point of each line is marked.
    ax : matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib.axes.Axes
        The drawing.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from foldwise import GradientBoostingRegressor
    >>> X, y = make_friedman1(100, random_state=0)
    >>> model = GradientBoostingRegressor(n_estimators=5).fit(X[:50], y[:50])
    >>> ax = plot_staged_loss(model, ("training", X[:50], y[:50]), ("new", X[50:], y[50:]))
    """
    import matplotlib.pyplot as plt

    ax = plt.subplots()[1] if ax is None else ax
    for label, X, y in sets:
        losses = staged_losses(model, X, y)
        rounds = np.arange(1, len(losses) + 1)
        best = int(np.argmin(losses))
        (line,) = ax.plot(rounds, losses, label=label)
        ax.plot(rounds[best], losses[best], "o", color=line.get_color(), markersize=5)
    loss = getattr(getattr(model, "loss_", None), "name", None)
    ax.set(
        xlabel="round",
        ylabel="share of wrong rows" if loss is None else f"mean {loss} loss",
        title=type(model).__name__,
    )
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
