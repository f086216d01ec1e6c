"""Is it a good idea to boost logistic regression?
===============================================

A sum of linear functions is linear: gradient boosting of a linear learner ends where one linear
model begins. AdaBoost adds *votes*, which are not linear, so it can bend the border a little. A
learner that is not linear gains far more. Two half moons, judged on new rows.
"""

import argparse

import numpy as np
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score
from sklearn.tree import DecisionTreeRegressor

from foldwise import AdaBoostClassifier, GradientBoostingClassifier

parser = argparse.ArgumentParser()
parser.add_argument("--save", help="write the picture to this file")
save = parser.parse_args().save

X, y = make_moons(500, noise=0.25, random_state=0)
X_new, y_new = make_moons(5000, noise=0.25, random_state=1)
stump = DecisionTreeRegressor(max_depth=2)
models = {
    "logistic regression": LogisticRegression(),
    "gradient boosting of lines": GradientBoostingClassifier(Ridge(), n_estimators=100),
    "AdaBoost of logistic regressions": AdaBoostClassifier(LogisticRegression(), n_estimators=100),
    "gradient boosting of trees": GradientBoostingClassifier(stump, n_estimators=100),
}
for name, model in models.items():
    model.fit(X, y)
    print(f"{name:34s} accuracy {accuracy_score(y_new, model.predict(X_new)):.3f}")

line, sums = (models[name].predict_proba(X_new)[:, 1] for name in list(models)[:2])
logit = np.log(sums / (1 - sums))
flat = np.column_stack([np.ones(len(X_new)), X_new])
rest = logit - flat @ np.linalg.lstsq(flat, logit, rcond=None)[0]
print(f"\nThe boosted lines' logit is a line: what is left of it is {np.abs(rest).max():.1e}")

if save:
    import matplotlib.pyplot as plt

    grid = np.stack(np.meshgrid(np.linspace(-1.8, 2.8, 160), np.linspace(-1.3, 1.8, 160)), axis=-1)
    figure, axes = plt.subplots(1, 4, figsize=(13, 3.2), sharey=True, layout="constrained")
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        chance = model.predict_proba(grid.reshape(-1, 2))[:, 1].reshape(160, 160)
        ax.contourf(grid[..., 0], grid[..., 1], chance, levels=12, cmap="RdBu_r", alpha=0.7)
        ax.scatter(*X.T, c=y, s=5, cmap="RdBu_r")
        ax.set_title(name, fontsize=9)
        ax.set_axis_off()
    figure.savefig(save, dpi=120)
