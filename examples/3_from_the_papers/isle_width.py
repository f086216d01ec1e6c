"""The width of a sampling scheme
==============================

Smaller samples make trees differ, and the lasso profit.

Elements of Statistical Learning, section 16.3.1. Trees without memory (bagging) on ever smaller
parts of the rows: too narrow, and they look alike, so that there is nothing to choose from.
"""

import argparse

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.metrics import mean_squared_error

from foldwise import ISLERegressor

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--save", help="write the picture to this file")
arguments = parser.parse_args()

X, y = make_friedman1(3000, noise=1.0, random_state=0)
X, X_new, y, y_new = X[:1000], X[1000:], y[:1000], y[1000:]

rows = []
print("subsample  width  relative  correlation  trees  test MSE")
for share in (1.0, 0.5, 0.2, 0.1, 0.05, 0.02):
    isle = ISLERegressor(
        n_estimators=200,
        subsample=share,
        learning_rate=1e-6,
        min_samples_leaf=2,
        linear_terms=False,
        random_state=0,
    ).fit(X, y)
    width, error = isle.width_, mean_squared_error(y_new, isle.predict(X_new))
    rows.append((share, width.relative, error))
    print(
        f"{share:9.2f} {width.sigma:6.2f} {width.relative:9.0%} {width.similarity**0.5:12.2f} "
        f"{isle.n_trees_:6d} {error:9.2f}"
    )

if arguments.save:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    share, relative, error = np.array(rows).T
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    axes.plot(relative, error, "o-", color="#2a6fb0")
    for x, value, label in zip(relative, error, share, strict=True):
        axes.annotate(f"{label:.0%} of rows", (x, value), (6, 6), textcoords="offset points")
    axes.margins(x=0.15)
    axes.set_xlabel("width of the sampling scheme (0: as good as the best tree, 1: as a constant)")
    axes.set_ylabel("test error after the lasso")
    axes.set_title("A wider scheme gives the lasso more to choose from")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(arguments.save, dpi=120)
