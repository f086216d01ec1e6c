"""The lattice at work
===================

15 fits where the reference does 30, and what each of them is for.

``hold_out="node"`` is the reference's procedure to the letter: one model predicts the hold-out
fold, the mean of five is deployed, so its score is pessimistic. ``"mean"`` repeats what is
deployed, from the models without two folds that are there anyway. The default also takes out a part
of what is left, which comes of judged models having seen fewer rows than deployed ones.
"""

import argparse

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeRegressor

from foldwise import StackingRegressor

parser = argparse.ArgumentParser()
parser.add_argument("--save", help="write the picture to this file")
save = parser.parse_args().save

SAMPLES = 16
X_new, y_new = make_friedman1(100_000, noise=1.0, random_state=999)
learners = [("ridge", Ridge()), ("tree", DecisionTreeRegressor(min_samples_leaf=5))]
grid = {"alpha": np.logspace(-2, 3, 6)}
found = {"node": [], "mean": [], "auto": []}
for seed in range(SAMPLES):
    X, y = make_friedman1(400, noise=1.0, random_state=seed)
    folds = KFold(5, shuffle=True, random_state=seed)
    for hold_out, shares in found.items():
        stack = StackingRegressor(
            learners, (Ridge(), grid), cv=folds, hold_out=hold_out, random_state=seed
        ).fit(X, y)
        truth = ((stack.predict(X_new) - y_new) ** 2).mean() ** 0.5
        shares.append(-stack.score_ / truth)

print(f"{stack.n_fits_ // 2} fits a learner, whichever way")
print(f"own RMSE over that of 100,000 new rows, {SAMPLES} samples of 400 rows:")
means = {hold_out: np.mean(shares) for hold_out, shares in found.items()}
errors = {hold_out: np.std(shares) / SAMPLES**0.5 for hold_out, shares in found.items()}
for hold_out, mean in means.items():
    print(f"hold_out={hold_out!r:7s} {mean:.3f} ± {errors[hold_out]:.3f}")

if save:
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    nodes = 2 * np.triu(np.ones((5, 5))) - np.eye(5)
    left.imshow(np.where(nodes > 0, nodes, np.nan), cmap="Blues", vmin=-1, vmax=4)
    left.text(-0.4, 3.8, "the reference\nfits pairs twice")
    for i, j in np.argwhere(nodes > 0):
        left.text(j, i, f"−{i + 1}" if i == j else f"−{i + 1}−{j + 1}", ha="center", va="center")
    left.set(title="15 fits: without one fold, without two", xticks=[], yticks=[])
    right.errorbar(list(means.values()), list(means), xerr=list(errors.values()), fmt="o")
    right.axvline(1, color="#c05621")
    right.set(xlabel="own error over that of new rows", ylabel="hold_out", title="Is it the truth?")
    right.margins(y=0.2)
    right.invert_yaxis()
    left.spines[:].set_visible(False)
    right.spines[["top", "right"]].set_visible(False)
    figure.savefig(save, dpi=120)
