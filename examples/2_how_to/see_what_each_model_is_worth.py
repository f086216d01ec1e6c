"""Look inside a stack
===================

How alike its models err, what each is worth, and who could go.
"""

import argparse

from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from foldwise import StackingClassifier
from foldwise.diagnose import (
    ambiguity,
    diversity,
    leak_audit,
    model_values,
    permutation_importance,
)

parser = argparse.ArgumentParser()
parser.add_argument("--save", help="write the map of the models' errors to this file")
save = parser.parse_args().save

X, y = load_digits(return_X_y=True)
train, new = slice(0, 800), slice(800, 1000)
learners = [
    ("trees", ExtraTreesClassifier(50)),
    ("neighbours", KNeighborsClassifier()),
    ("lda", LinearDiscriminantAnalysis()),
    ("bayes", GaussianNB()),
    ("tree", DecisionTreeClassifier(max_depth=6)),
]
stack = StackingClassifier(learners, "nnls", random_state=0).fit(X[train], y[train])

print(diversity(stack), end="\n\n")
print(ambiguity(stack), end="\n\n")
# Every subset of the five is combined anew on the out-of-fold predictions; none is fitted again.
print(model_values(stack), end="\n\n")
print(leak_audit(stack), end="\n\n")
rows_of_pixels = {f"row {r}": list(range(8 * r, 8 * r + 8)) for r in range(8)}
print(permutation_importance(stack, X[new], y[new], columns=rows_of_pixels, n_repeats=2))

if save:
    from foldwise.plot import plot_diversity

    plot_diversity(stack).figure.savefig(save, bbox_inches="tight")
