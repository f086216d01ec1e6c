"""Boosting as a path to the largest margin
========================================

After Schapire et al. 1998; Rosset, Zhu, Hastie 2004.

Long after the last training row is right, AdaBoost goes on to raise the smallest margin. Against
the L1 norm of its coefficients that is the path of an L1-regularised fit.

    python examples/3_from_the_papers/boosting_maximises_the_margin.py [--save FILE]
"""

import argparse

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from foldwise import AdaBoostClassifier

parser = argparse.ArgumentParser()
parser.add_argument("--save", help="file for the picture")
options = parser.parse_args()

X, y = load_breast_cancer(return_X_y=True)
X, X_new, y, y_new = train_test_split(X, y, random_state=0)
model = AdaBoostClassifier(n_estimators=300, learning_rate=0.5, random_state=0).fit(X, y)
path = model.path_
print("round   L1 norm   loss      wrong   smallest margin")
for m in [1, 10, 30, 100, 200, 300]:
    row = path.l1_norm[m - 1], path.exponential_loss[m - 1], path.error[m - 1]
    print(f"{m:5d} {row[0]:9.2f}   {row[1]:.5f}  {row[2]:6.3f}   {path.smallest_margin[m - 1]:.3f}")
print(
    f"{model.coefficient_path(X).shape[1]} distinct stumps; test score "
    f"{model.score(X_new, y_new):.3f}"
)

if options.save:
    import matplotlib.pyplot as plt

    from foldwise.plot import plot_margins, plot_staged_loss

    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    plot_staged_loss(model, ("training", X, y), ("new rows", X_new, y_new), ax=axes[0])
    plot_margins(model, X, y, ax=axes[1])
    figure.savefig(options.save, dpi=150)
