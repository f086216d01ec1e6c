"""Make a fitted forest smaller, faster and often better
=====================================================

Drop the trees the lasso does not need.
"""

import argparse

from sklearn.datasets import make_friedman1
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_squared_error

from foldwise import ISLERegressor

parser = argparse.ArgumentParser()
parser.add_argument("--save", help="write the picture to this file")
save = parser.parse_args().save

X, y = make_friedman1(3000, noise=1.0, random_state=0)
train, spare, new = slice(0, 1000), slice(1000, 2000), slice(2000, 3000)

forest = RandomForestRegressor(200, random_state=0).fit(X[train], y[train])
# Rows the forest has not seen show what its trees are worth; its own rows flatter them.
small = ISLERegressor.from_fitted(forest, random_state=0).fit(X[spare], y[spare])

for name, model in (("forest, 200 trees", forest), (f"reweighted, {small.n_trees_} trees", small)):
    print(f"{name:22s} MSE {mean_squared_error(y[new], model.predict(X[new])):.2f}")
print()
print(small.summary())

if save:
    import matplotlib.pyplot as plt
    import numpy as np

    trees = np.cumsum([tree.predict(X[new]) for tree in forest.estimators_], axis=0)
    counts = np.arange(1, len(trees) + 1)
    figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
    errors = ((trees / counts[:, None] - y[new]) ** 2).mean(axis=1)
    ax.plot(counts, errors, color="0.5", label="the forest, cut off after so many trees")
    error = mean_squared_error(y[new], small.predict(X[new]))
    label = "what the lasso keeps, by 1,000 rows more"
    ax.plot(small.n_trees_, error, "o", color="#c05621", label=label)
    ax.set(xlabel="trees", ylabel="mean squared error on new rows", ylim=(3, 6))
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(save, dpi=120)
