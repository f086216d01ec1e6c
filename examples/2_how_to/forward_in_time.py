"""Stack a time series
===================

Every model is judged on what came after its training rows.
"""

import argparse

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import TimeSeriesSplit
from sklearn.tree import DecisionTreeRegressor

from foldwise import StackingRegressor

parser = argparse.ArgumentParser()
parser.add_argument("--save", help="write the picture to this file")
save = parser.parse_args().save

rng = np.random.default_rng(0)
t = np.arange(1200)
season = np.sin(2 * np.pi * t / 50)
y = 0.01 * t + 2 * season + rng.normal(scale=0.5, size=len(t))
X = np.column_stack([t, season, np.roll(y, 1), np.roll(y, 50)])[50:]
y = y[50:]

splits = TimeSeriesSplit(6, gap=5)
stack = StackingRegressor(
    [("ridge", Ridge()), ("tree", DecisionTreeRegressor(min_samples_leaf=10))],
    cv=splits,
    random_state=0,
).fit(X, y)

print(f"{stack.n_fits_} fits: one a fold and one on all rows, a learner")
print(f"Fold {stack.unjudged_folds_[0]} cannot be judged: nothing came before it")
print("RMSE of the folds, oldest first:", (-stack.fold_scores_).round(2))
print(f"Honest score {-stack.score_:.3f} ± {stack.score_se_:.3f}")
print(stack.leaderboard_[["model", "root_mean_squared_error"]].round(3).to_string(index=False))

if save:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6.8, 3), layout="constrained")
    losses = iter(-stack.fold_scores_)
    for fold, (train, test) in enumerate(splits.split(X)):
        judged = fold not in stack.unjudged_folds_
        ax.barh(fold, len(train), color="0.8", label="" if fold else "learned from")
        colour = "#2b6cb0" if judged else "#c05621"
        label = {0: "not judged: trains the first stacker", 1: "judged"}.get(fold, "")
        ax.barh(fold, len(test), left=test[0], color=colour, label=label)
        if judged:
            ax.text(test[-1] + 15, fold, f"RMSE {next(losses):.2f}", va="center", fontsize=9)
    ax.invert_yaxis()
    ax.set(xlabel="row, oldest first", ylabel="fold", xlim=(0, 1.15 * len(X)))
    ax.legend(frameon=False, loc="upper right")
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(save, dpi=120)
