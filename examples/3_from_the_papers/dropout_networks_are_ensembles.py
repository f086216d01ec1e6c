"""Dropout: one network that is an ensemble of thinned ones
========================================================

A network trained with dropout has trained all of its thinned networks, which share their weights.
Predicting with every unit is said to stand for the mean of their predictions (Srivastava et al.
2014), and their spread for how unsure they are (Gal and Ghahramani 2016). Both are measured here,
on new rows: the error of the mean over more and more masks against the plain network, and how often
mean ± spread holds the truth, as it is and after it was widened on 200 rows that were kept back.

Needs torch: ``pip install 'foldwise[neural]'``.
"""

import argparse
from importlib.util import find_spec

import numpy as np
from scipy.stats import norm
from sklearn.datasets import make_friedman1

from foldwise import NetRegressor

parser = argparse.ArgumentParser()
parser.add_argument("--save", help="write the picture to this file")
save = parser.parse_args().save

EPOCHS, MASKS = 60, 100
COUNTS, LEVELS = [1, 2, 5, 10, 30, 100], [0.5, 0.6, 0.7, 0.8, 0.9, 0.95]
X, y = make_friedman1(500, noise=1.0, random_state=0)
X_kept, y_kept = make_friedman1(200, noise=1.0, random_state=1)
X_new, y_new = make_friedman1(1000, noise=1.0, random_state=2)


def rmse(prediction):
    return np.sqrt(np.mean((prediction - y_new) ** 2))


def how_far(draws, target):
    """Return how many spreads the truth lies from the mean over masks."""
    return np.abs(target - draws.mean(axis=0)) / draws.std(axis=0)


def main():
    net = NetRegressor(dropout=0.25, epochs=EPOCHS, random_state=0).fit(X, y)
    draws = net.predict_draws(X_new, MASKS, random_state=0)
    plain, means = rmse(net.predict(X_new)), [rmse(draws[:n].mean(axis=0)) for n in COUNTS]
    print("masks " + "".join(f"{n:8d}" for n in COUNTS) + "   all units, no mask")
    print("RMSE  " + "".join(f"{v:8.3f}" for v in means) + f"{plain:8.3f}")

    kept = how_far(net.predict_draws(X_kept, MASKS, random_state=1), y_kept)
    rank = np.ceil((len(kept) + 1) * np.array(LEVELS)).astype(int) - 1
    wide = {"spread, as a normal's": norm.ppf(0.5 + np.array(LEVELS) / 2)}
    wide["spread, widened on rows kept back"] = np.sort(kept)[rank]
    holds = {
        name: [np.mean(how_far(draws, y_new) <= factor) for factor in factors]
        for name, factors in wide.items()
    }
    print(f"\n{'asked for':34s}" + "".join(f"{level:7.0%}" for level in LEVELS))
    for name, shares in holds.items():
        print(f"{name:34s}" + "".join(f"{share:7.0%}" for share in shares))
    if save:
        draw(plain, means, holds)


def draw(plain, means, holds):
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    left.semilogx(COUNTS, means, "o-", label="mean over masks")
    left.set_xticks(COUNTS, COUNTS)
    left.axhline(plain, color="grey", linestyle=":", label="all units, no mask")
    left.set(xlabel="masks", ylabel="RMSE on new rows")
    right.plot([0.4, 1], [0.4, 1], color="grey", linestyle=":")
    for name, shares in holds.items():
        right.plot(LEVELS, shares, "o-", label=name)
    right.set(xlabel="asked for", ylabel="intervals that hold the truth")
    for ax in (left, right):
        ax.legend(frameon=False)
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(save, dpi=120)


if find_spec("torch") is None:
    print("This example needs torch: pip install 'foldwise[neural]'. Nothing was run.")
else:
    main()
