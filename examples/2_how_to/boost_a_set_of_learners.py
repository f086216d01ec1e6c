"""Boost a set of learners
=======================

Each round keeps the one that lowers the loss most.

A straight line plus a wave: the ridge takes the line, the trees take the wave, and either alone
needs more rounds for less. The loss is Huber's, because some rows are far off.
"""

import argparse

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeRegressor

from foldwise import GradientBoostingRegressor

parser = argparse.ArgumentParser()
parser.add_argument("--save", help="write the picture to this file")
save = parser.parse_args().save

rng = np.random.default_rng(0)
X = rng.uniform(-3, 3, size=(600, 2))
y = 4 * X[:, 0] + np.sin(3 * X[:, 1]) + rng.normal(scale=0.3, size=600)
y[rng.random(600) < 0.03] += 30
X, X_new, y, y_new = train_test_split(X, y, random_state=0)

tree, models = DecisionTreeRegressor(max_depth=2), {}
for name, learner in [("trees", tree), ("ridge", Ridge()), ("both", [Ridge(), tree])]:
    model = GradientBoostingRegressor(
        learner, "huber", n_estimators=200, early_stopping=True, random_state=0
    ).fit(X, y)
    models[name] = model
    error = np.median(np.abs(y_new - model.predict(X_new)))
    kept = np.bincount(model.members_, minlength=2)
    print(f"{name:6} median error {error:.3f} after {model.n_estimators_} rounds, kept {kept}")

if save:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
    for name, model in models.items():
        errors = [np.median(np.abs(y_new - stage)) for stage in model.staged_predict(X_new)]
        ax.plot(range(1, len(errors) + 1), errors, label=name)
    ax.set(xlabel="round", ylabel="median error on new rows", ylim=(0.2, 1.2))
    ax.set_title("Each line ends where the booster stopped")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(save, dpi=120)
