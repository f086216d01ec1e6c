"""Pick a few of many learners greedily, and compare with other ways to combine them
=================================================================================
"""

from sklearn.datasets import load_diabetes
from sklearn.linear_model import Lasso, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from foldwise import EnsembleSelectionRegressor, StackingRegressor

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
print(f"\nbagged selection: RMSE {-bagged.score_:.2f}")

stack = StackingRegressor(learners, random_state=0).fit(X, y)
print(f"default stack:    RMSE {-stack.score_:.2f}")
for top in ("best", "mean", "median", "simplex", "ridge", "lasso", "pseudo_bma_plus"):
    print(f"{top:17s} RMSE {-stack.restack(top).score_:.2f}")
