"""The variance of a mean of correlated learners, measured
=======================================================

The variance of a mean of n learners with variance σ² and correlation ρ is σ²/n (1 + (n - 1) ρ): it
falls to ρσ², not to ρ (as one lecture has it) and not to nothing. Here the training set itself is
drawn many times, so that σ², ρ and the variance of the mean are seen and need not be estimated.
"""

import argparse

import numpy as np
from sklearn.datasets import make_friedman1

from foldwise import BaggingRegressor
from foldwise.resample import variance_of_mean

parser = argparse.ArgumentParser()
parser.add_argument("--save", help="write the picture to this file")
save = parser.parse_args().save

SETS, LEARNERS = 120, 30
X_new, _ = make_friedman1(200, random_state=999)
counts = [1, 2, 5, 10, 20, 30]
seen = {}
for name, features in (("trees on all columns", None), ("trees on 3 random columns a split", 3)):
    answers = []
    for seed in range(SETS):
        X, y = make_friedman1(150, noise=1.0, random_state=seed)
        bag = BaggingRegressor(n_estimators=LEARNERS, split_features=features, random_state=seed)
        bag.fit(X, y)
        answers.append([tree.predict(X_new) for tree in bag.estimators_])
    # Axes: training sets, learners, new rows. One half of the sets gives σ² and ρ, the other is
    # measured: on the same sets the formula would hold by algebra.
    known, fresh = np.array(answers)[::2], np.array(answers)[1::2]
    centred = known - known.mean(axis=(0, 1))
    sigma2 = (centred**2).mean()
    pairs = (centred.sum(axis=1) ** 2 - (centred**2).sum(axis=1)) / (LEARNERS * (LEARNERS - 1))
    rho = pairs.mean() / sigma2
    measured = [fresh[:, :n].mean(axis=1).var(axis=0, ddof=1).mean() for n in counts]
    formula = [variance_of_mean(sigma2, rho, n) for n in counts]
    seen[name] = measured, formula, rho * sigma2
    print(f"{name}: σ² {sigma2:.2f}, ρ {rho:.2f}, floor ρσ² {rho * sigma2:.2f}")
    print("  learners " + "".join(f"{n:8d}" for n in counts))
    print("  measured " + "".join(f"{v:8.2f}" for v in measured))
    print("  formula  " + "".join(f"{v:8.2f}" for v in formula))

if save:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
    for (name, (measured, formula, floor)), colour in zip(
        seen.items(), ("#2b6cb0", "#c05621"), strict=True
    ):
        ax.plot(counts, formula, color=colour, label=name)
        ax.plot(counts, measured, "o", color=colour)
        ax.axhline(floor, color=colour, linestyle=":")
    ax.set(xlabel="learners in the mean", ylabel="variance over training sets", ylim=(0, None))
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(save, dpi=120)
