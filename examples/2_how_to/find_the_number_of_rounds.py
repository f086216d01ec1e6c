"""Find the number of rounds on folds, then boost all rows for that many, scaled
=============================================================================

The rows that decide when to stop lie inside the training rows, never among those predicted
later. With five folds each model sees four fifths of the rows; the refit on all of them gets a
quarter more rounds.
"""

import argparse

from sklearn.datasets import make_friedman1
from sklearn.model_selection import train_test_split

from foldwise import NewtonBoostingRegressor

parser = argparse.ArgumentParser()
parser.add_argument("--save", help="write the picture to this file")
save = parser.parse_args().save

X, y = make_friedman1(1500, noise=3.0, random_state=0)
X, X_new, y, y_new = train_test_split(X, y, random_state=0)

models = {}
for words, choice in [
    ("all 300 rounds", {}),
    ("kept from one split", {"early_stopping": True, "refit": None}),
    ("refit after one split", {"early_stopping": True}),
    ("refit after five folds", {"early_stopping": True, "validation": 5}),
]:
    model = NewtonBoostingRegressor(n_estimators=300, random_state=0, **choice).fit(X, y)
    models[words] = model
    print(f"{words:24} {model.n_estimators_:4d} rounds   R² {model.score(X_new, y_new):.3f}")

if save:
    from foldwise.plot import plot_staged_loss

    every = models.pop("all 300 rounds")
    ax = plot_staged_loss(every, ("training rows", X, y), ("new rows", X_new, y_new))
    for k, (words, model) in enumerate(models.items()):
        ax.axvline(model.n_estimators_, color=f"C{k + 2}", linestyle=":", label=words)
    ax.set(title="Where boosting should stop, and where it stops", xlim=(0, 150))
    ax.legend(frameon=False)
    ax.figure.savefig(save, dpi=120, bbox_inches="tight")
