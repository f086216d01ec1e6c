"""Stack a time series
===================

Every model is judged on what came after its training rows.
"""

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import TimeSeriesSplit
from sklearn.tree import DecisionTreeRegressor

from foldwise import StackingRegressor

rng = np.random.default_rng(0)
t = np.arange(1200)
season = np.sin(2 * np.pi * t / 50)
y = 0.01 * t + 2 * season + rng.normal(scale=0.5, size=len(t))
X = np.column_stack([t, season, np.roll(y, 1), np.roll(y, 50)])[50:]
y = y[50:]

stack = StackingRegressor(
    [("ridge", Ridge()), ("tree", DecisionTreeRegressor(min_samples_leaf=10))],
    cv=TimeSeriesSplit(6, gap=5),
    random_state=0,
).fit(X, y)

print(f"{stack.n_fits_} fits: one a fold and one on all rows, a learner")
print(f"Fold {stack.unjudged_folds_[0]} cannot be judged: nothing came before it")
print("RMSE of the folds, oldest first:", (-stack.fold_scores_).round(2))
print(f"Honest score {-stack.score_:.3f} ± {stack.score_se_:.3f}")
print(stack.leaderboard_[["model", "root_mean_squared_error"]].round(3).to_string(index=False))
