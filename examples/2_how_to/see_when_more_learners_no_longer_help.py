"""See when more learners no longer help
=====================================

The variance of a bagged prediction.

The variance of a mean of n learners is ρσ² + (1−ρ)σ²/n. One fit tells both parts, so it tells how
far more learners can go. Drawing fewer features at each split lowers ρ, and with it the floor.

    python examples/2_how_to/see_when_more_learners_no_longer_help.py [--save FILE]
"""

import argparse

from sklearn.datasets import make_friedman1

from foldwise import BaggingRegressor

parser = argparse.ArgumentParser()
parser.add_argument("--save", help="file for the picture")
options = parser.parse_args()

X, y = make_friedman1(500, noise=1.0, random_state=0)
X, X_new, y, y_new = X[:300], X[300:], y[:300], y[300:]
curves = {}
for name, per_split in [("all features at each split", None), ("three", 3)]:
    model = BaggingRegressor(n_estimators=300, split_features=per_split, random_state=0).fit(X, y)
    curve = curves[name] = model.variance_curve(X_new)
    print(
        f"{name:28} σ² {curve.sigma2:.2f}  ρ {curve.rho:.2f}  floor {curve.floor:.2f}  "
        f"within 10 % of it from {curve.enough(0.1)} learners on"
    )

low, high = model.confidence_interval(X_new[:1], 0.9)[0]
print(f"the forest's own prediction for a new row, over training sets: {low:.1f} to {high:.1f}")

if options.save:
    from foldwise.plot import plot_variance_curve

    ax = plot_variance_curve(curves["three"])
    ax.figure.savefig(options.save, dpi=150, bbox_inches="tight")
