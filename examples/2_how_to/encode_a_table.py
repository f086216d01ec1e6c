"""Numbers, words, dates and texts in one table
============================================

See what each column is, and stack on it.

The encoder is the first step of each learner, so it is fitted again inside every node: nothing
of a judged row reaches it. Learners with equal encoders share one.
"""

from importlib.resources import files

from lightgbm import LGBMRegressor
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline

from foldwise import StackingRegressor, TableEncoder, column_kinds, read_table

flats = read_table(files("foldwise.cli") / "data" / "flats.csv")
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
