"""A model one can read
====================

Rules for the rents of flats, and why one flat got its rent.
"""

import argparse
from importlib.resources import files

from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

from foldwise import RuleFitRegressor, read_table

parser = argparse.ArgumentParser()
parser.add_argument("--save", help="write the picture to this file")
save = parser.parse_args().save

flats = read_table(files("foldwise.cli") / "data" / "flats.csv")
X = flats[["size_m2", "rooms", "built", "district", "floor", "lift", "balcony", "heating"]]
X, X_new, y, y_new = train_test_split(X, flats["rent"], random_state=0)

rules = RuleFitRegressor(n_estimators=200, max_terms=12, random_state=0).fit(X, y)

print(rules.to_text())
print(f"\nR² on new flats: {r2_score(y_new, rules.predict(X_new)):.2f}")
print("\nImportance of each column:")
print(rules.importances().head(5).round(1).to_string())
print("\nWhy this flat got this rent:")
why = rules.explain(X_new.iloc[[0]])
print(why)

if save:
    import matplotlib.pyplot as plt

    names = why.terms["text"] + " [" + why.terms["value"].astype(str) + "]"
    steps = why.terms["contribution"]
    colours = ["#2b6cb0" if step > 0 else "#c05621" for step in steps]
    figure, ax = plt.subplots(figsize=(7.5, 4), layout="constrained")
    ax.barh(names, steps, left=why.base + steps.cumsum() - steps, color=colours)
    ax.axvline(why.base, color="0.4", linestyle=":", label="an average flat")
    ax.axvline(why.decision, color="0.4", label="this flat")
    ax.invert_yaxis()
    ax.set(xlabel="rent", title="From an average flat to this one")
    ax.legend(frameon=False, loc="lower left")
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(save, dpi=120)
