"""Numbers, words, dates and texts in one table
============================================

See what each column is, and stack on it.

The encoder is the first step of each learner, so it is fitted again inside every node: nothing
of a judged row reaches it. Learners with equal encoders share one.
"""

import argparse
from importlib.resources import files

from lightgbm import LGBMRegressor
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline

from foldwise import StackingRegressor, TableEncoder, column_kinds, read_table

parser = argparse.ArgumentParser()
parser.add_argument("--save", help="write the picture to this file")
save = parser.parse_args().save

flats = read_table(files("foldwise.cli") / "data" / "flats.csv")
flats, new = flats[:600], flats[600:]
X, y = flats.drop(columns="rent"), flats["rent"]

kinds = column_kinds(X)
print(kinds)
print(f"\nNot used: {', '.join(kinds.dropped)}\n")

for_lines = TableEncoder(kinds, categories="onehot", scale="standard", task="regression")
for_trees = TableEncoder(kinds, numbers="keep", categories="keep", task="regression")
boosting = LGBMRegressor(n_estimators=40, min_data_per_group=10, n_jobs=1, verbosity=-1)
stack = StackingRegressor(
    [
        ("ridge", make_pipeline(for_lines, RidgeCV([0.1, 1.0, 10.0, 100.0]))),
        ("boosting", make_pipeline(for_trees, boosting)),
    ],
    random_state=0,
).fit(X, y)

print(stack.leaderboard_.iloc[:, :5].to_string(index=False, float_format="{:.1f}".format))

# A district nobody has seen, a missing size, a date in the future: all are answered.
strange = X.head(1).assign(district="Atlantis", size_m2=None, listed="2031-05-01")
print(f"\nRent of a strange flat: {stack.predict(strange)[0]:.0f}")

if save:
    import matplotlib.pyplot as plt

    from foldwise.diagnose import permutation_importance

    found = permutation_importance(stack, new.drop(columns="rent"), new["rent"], random_state=0)
    used = found.to_frame().query("column not in @kinds.dropped")
    figure, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    for kind, own in used.groupby([kinds[name].kind for name in used["column"]], sort=False):
        ax.barh(own["column"], own["importance"], xerr=own["se"], label=kind)
    ax.invert_yaxis()
    ax.set(xlabel="rise of the error on new flats with the column shuffled")
    ax.legend(frameon=False, title="kind of the column")
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(save, dpi=120)
