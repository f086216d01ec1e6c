"""Which columns interact, and would chance have shown as much?
============================================================

H statistics with a null.
"""

import numpy as np
import pandas as pd

from foldwise import RuleFitRegressor
from foldwise.rules import interaction_null, rule_stability

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(300, 5)), columns=["dose", "age", "weight", "height", "noise"])
y = 3 * (X["dose"] > 0) * (X["age"] < 0.5) + X["weight"] + np.abs(X["height"])
y = y + rng.normal(scale=0.5, size=len(X))

model = RuleFitRegressor(n_estimators=50, random_state=0).fit(X, y)
print("Only dose and age interact; H is not zero for other pairs, but no larger than by chance:")
print(interaction_null(model, X, y, n_bootstrap=3, random_state=0).head(5).round(3).to_string())

short = RuleFitRegressor(n_estimators=50, max_terms=8, random_state=0).fit(X, y)
stable = rule_stability(short, X, y, n_resamples=4, random_state=0)
print(f"\nRules kept on four fifths of the rows (Dice-Sørensen {stable.dice:.2f}):")
print(stable.rules[["rule", "coef", "frequency"]].round(2).to_string(index=False))
