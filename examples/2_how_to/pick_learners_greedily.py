"""Pick a few of many learners greedily, and compare with other ways to combine them
=================================================================================
"""

import argparse

from sklearn.datasets import load_diabetes
from sklearn.linear_model import Lasso, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from foldwise import EnsembleSelectionRegressor, StackingRegressor

parser = argparse.ArgumentParser()
parser.add_argument("--save", help="write the picture to this file")
save = parser.parse_args().save

X, y = load_diabetes(return_X_y=True, as_frame=True)
learners = [(f"ridge {a}", make_pipeline(StandardScaler(), Ridge(a))) for a in (1, 100)]
learners += [(f"lasso {a}", make_pipeline(StandardScaler(), Lasso(a))) for a in (1, 5)]
learners += [(f"{k} neighbours", KNeighborsRegressor(k)) for k in (5, 20, 50)]
learners += [(f"tree of depth {d}", DecisionTreeRegressor(max_depth=d)) for d in (2, 4)]
learners += [("svr", make_pipeline(StandardScaler(), SVR(C=30.0)))]

# How many picks and how much of the plain mean are chosen over the folds, honestly.
selection = EnsembleSelectionRegressor(
    learners, n_steps=[5, 20, 50], shrinkage=[0.0, 0.25], random_state=0
).fit(X, y)
print(f"greedy selection: RMSE {-selection.score_:.2f} ± {selection.score_se_:.2f}")
print(selection.weights_[selection.weights_ > 0].round(3).to_string())

bagged = EnsembleSelectionRegressor(learners, n_bags=20, random_state=0).fit(X, y)
stack = StackingRegressor(learners, random_state=0).fit(X, y)
ways = {"greedy selection": selection, "bagged selection": bagged, "default stack": stack}
for top in ("best", "mean", "median", "simplex", "ridge", "lasso", "pseudo_bma_plus"):
    ways[top] = stack.restack(top)
print()
for name, way in ways.items():
    print(f"{name:17s} RMSE {-way.score_:.2f}")

if save:
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    left.barh(selection.weights_.index, selection.weights_, color="#2b6cb0")
    left.set(xlabel="weight", title="What greedy selection picked")
    right.plot([-way.score_ for way in ways.values()], list(ways), "o", color="#2b6cb0")
    said = f"honest root mean squared error, each ± {selection.score_se_:.1f}"
    right.set(xlabel=said, title="Ways to combine them")
    for ax in (left, right):
        ax.invert_yaxis()
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(save, dpi=120)
