"""How sure a boosted committee is of its rows."""

from typing import Any

import numpy as np


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
