"""One small tree, a forest, and boosting
======================================

How a tree splits, how it is pruned, and why one tree with fewer leaves does not replace a forest.

A split is chosen by information gain IG = I(n) - p1 I(n1) - p2 I(n2), with the impurity I: Gini or
entropy for classes, the variance for numbers. Pre-pruning stops early (``max_depth``),
post-pruning grows and cuts back (``ccp_alpha``); both are chosen by the folds here, so that all
are judged alike.
"""

import argparse

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foldwise import BaggingRegressor, GradientBoostingRegressor, StackingRegressor

parser = argparse.ArgumentParser()
parser.add_argument("--save", help="write the picture to this file")
save = parser.parse_args().save

IMPURITY = {
    "gini": lambda y: 1 - np.sum((np.bincount(y) / len(y)) ** 2),
    "entropy": lambda y: -sum(p * np.log2(p) for p in np.bincount(y) / len(y) if p > 0),
    "variance": np.var,
}


def gains(x, y, impurity):
    """Return every cut of a column and the information gain of splitting there."""
    cuts = np.unique(x)[:-1]
    left = np.array([(x <= cut).mean() for cut in cuts])
    parts = [(impurity(y[x <= cut]), impurity(y[x > cut])) for cut in cuts]
    return cuts, impurity(y) - np.array(
        [p * a + (1 - p) * b for p, (a, b) in zip(left, parts, strict=True)]
    )


X, y = load_breast_cancer(return_X_y=True)
print("Best first cut of the tumour's radius by hand, and by scikit-learn's tree:")
for name in ("gini", "entropy"):
    cuts, gain = gains(X[:, 0], y, IMPURITY[name])
    tree = DecisionTreeClassifier(criterion=name, max_depth=1).fit(X[:, [0]], y)
    cut, theirs = cuts[gain.argmax()], tree.tree_.threshold[0]
    print(f"  {name:9s}{cut:7.3f}  gain {gain.max():.3f}  {theirs:7.3f}")

X, y = load_diabetes(return_X_y=True, as_frame=True)
cuts, gain = gains(X["bmi"].to_numpy(), y.to_numpy(), IMPURITY["variance"])
tree = DecisionTreeRegressor(max_depth=1).fit(X[["bmi"]], y)
print(
    f"  variance {cuts[gain.argmax()]:7.3f}  gain {gain.max():.0f}   {tree.tree_.threshold[0]:7.3f}"
)

learners = [
    ("grown out", DecisionTreeRegressor()),
    ("pre-pruned", DecisionTreeRegressor()),
    ("post-pruned", DecisionTreeRegressor()),
    ("forest", BaggingRegressor(n_estimators=60, split_features=3)),
    ("boosting", GradientBoostingRegressor(n_estimators=60, learning_rate=0.1)),
]
tune = {
    "pre-pruned": {"max_depth": [1, 2, 3, 4, 6]},
    "post-pruned": {"ccp_alpha": [3.0, 10.0, 30.0, 100.0, 300.0]},
}
stack = StackingRegressor(learners, "best", tune=tune, random_state=0).fit(X, y)
board = stack.leaderboard_.set_index("model").loc[[name for name, _ in learners]]
print("\nHonest RMSE on diabetes, five folds, pruning chosen inside them:")
print(board.iloc[:, :2].round(1).to_string())

if save:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    axes[0].plot(cuts, gain, color="#2b6cb0")
    axes[0].axvline(cuts[gain.argmax()], color="#c05621")
    axes[0].set(xlabel="cut of the body mass", ylabel="information gain (variance)")
    axes[1].barh(board.index, board.iloc[:, 0], xerr=board.iloc[:, 1], color="#2b6cb0")
    axes[1].invert_yaxis()
    axes[1].set_xlabel("honest RMSE")
    figure.savefig(save, dpi=120)
