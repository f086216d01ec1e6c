"""Boosting round by round: the loss, and how sure the committee is of its rows."""

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
    got, fix = Plain(type(model).__name__), "Pass a fitted booster."
    raise unsupported("plot_staged_loss", "model", must="be boosted in rounds", got=got, fix=fix)


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
    height = "share of wrong rows" if loss is None else f"mean {loss} loss"
    ax.set(xlabel="round", ylabel=height, title=type(model).__name__)
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_margins(model: Any, X: Any, y: Any, *, rounds: Any = None, ax: Any = None) -> Any:
    """Draw the cumulated distribution of the margins after some rounds.

    Parameters
    ----------
    model : fitted AdaBoostClassifier
        The committee.
    X : array-like of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        The right classes.
    rounds : list of int, optional
        After which rounds; by default one, a tenth and all of them.
    ax : matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib.axes.Axes
        The drawing: the height at 0 is the share of wrong rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from foldwise import AdaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ax = plot_margins(AdaBoostClassifier(n_estimators=10).fit(X, y), X, y)
    """
    import matplotlib.pyplot as plt

    ax = plt.subplots()[1] if ax is None else ax
    n_rounds = model.n_estimators_
    wanted = sorted({1, max(1, n_rounds // 10), n_rounds}) if rounds is None else list(rounds)
    share = np.arange(1, len(np.asarray(y)) + 1) / len(np.asarray(y))
    for m, margins in enumerate(model.staged_margins(X, y), start=1):
        if m in wanted:
            label = f"{m} round{'s' if m > 1 else ''}"
            ax.step(np.sort(margins), share, where="post", label=label)
    ax.axvline(0, color="grey", linewidth=0.8, linestyle=":")
    ax.set(xlim=(-1, 1), ylim=(0, 1), xlabel="margin", ylabel="share of rows up to it")
    ax.set_title("Margins")
    ax.legend(frameon=False, loc="upper left")
    ax.spines[["top", "right"]].set_visible(False)
    return ax
