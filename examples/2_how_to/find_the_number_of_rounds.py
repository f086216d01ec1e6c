"""Find the number of rounds on folds, then boost all rows for that many, scaled
=============================================================================

The rows that decide when to stop lie inside the training rows, never among those predicted
later. With five folds each model sees four fifths of the rows; the refit on all of them gets a
quarter more rounds.
"""

from sklearn.datasets import make_friedman1
from sklearn.model_selection import train_test_split

from foldwise import NewtonBoostingRegressor

X, y = make_friedman1(1500, noise=3.0, random_state=0)
X, X_new, y, y_new = train_test_split(X, y, random_state=0)

for words, choice in [
    ("all 300 rounds", {}),
    ("kept from one split", {"early_stopping": True, "refit": None}),
    ("refit after one split", {"early_stopping": True}),
    ("refit after five folds", {"early_stopping": True, "validation": 5}),
]:
    model = NewtonBoostingRegressor(n_estimators=300, random_state=0, **choice).fit(X, y)
    print(f"{words:24} {model.n_estimators_:4d} rounds   R² {model.score(X_new, y_new):.3f}")
