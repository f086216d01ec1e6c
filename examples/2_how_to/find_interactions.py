"""Which columns interact, and would chance have shown as much?
============================================================

H statistics with a null.
"""

import argparse

import numpy as np
import pandas as pd

from foldwise import RuleFitRegressor
from foldwise.rules import interaction_null, rule_stability

parser = argparse.ArgumentParser()
parser.add_argument("--save", help="write the picture to this file")
save = parser.parse_args().save

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(300, 5)), columns=["dose", "age", "weight", "height", "noise"])
y = 3 * (X["dose"] > 0) * (X["age"] < 0.5) + X["weight"] + np.abs(X["height"])
y = y + rng.normal(scale=0.5, size=len(X))

model = RuleFitRegressor(n_estimators=50, random_state=0).fit(X, y)
print("Only dose and age interact; H is not zero for other pairs, but no larger than by chance:")
found = interaction_null(model, X, y, n_bootstrap=3, random_state=0)
print(found.head(5).round(3).to_string())

short = RuleFitRegressor(n_estimators=50, max_terms=12, random_state=0).fit(X, y)
stable = rule_stability(short, X, y, n_resamples=4, random_state=0)
print(f"\nHow often rules come back on four fifths of the rows (Dice-Sørensen {stable.dice:.2f}):")
print(stable.rules[["rule", "coef", "frequency"]].head(6).round(2).to_string(index=False))

if save:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
    pairs = found["feature_1"] + " and " + found["feature_2"]
    ax.barh(
        pairs,
        found["null_mean"] + 2 * found["null_std"],
        color="0.85",
        label="as far as chance goes",
    )
    ax.plot(found["H"], pairs, "o", color="#2b6cb0", label="seen")
    ax.invert_yaxis()
    ax.set(xlabel="H: share of the joint effect that is interaction")
    ax.legend(frameon=False, loc="lower right")
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(save, dpi=120)
