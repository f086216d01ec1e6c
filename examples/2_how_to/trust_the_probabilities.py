"""Probabilities that mean what they say, and a decision that costs least
======================================================================

Naive Bayes and many rounds of boosting rank well but are far too sure. `calibrate="auto"` puts
that right on the stack's own out-of-fold predictions, and a threshold is tuned for costs; both
are judged by rows that chose nothing. `--save FILE` draws the reliability curves.
"""

import argparse

from lightgbm import LGBMClassifier
from sklearn.datasets import make_classification
from sklearn.metrics import make_scorer
from sklearn.naive_bayes import GaussianNB

from foldwise import StackingClassifier
from foldwise.combine import decompose_loss, expected_calibration_error


def saved(y_true, y_pred) -> float:
    """Return minus the cost of a row: a missed case costs ten false alarms."""
    return -float((10 * (y_true > y_pred) + (y_true < y_pred)).mean())


parser = argparse.ArgumentParser()
parser.add_argument("--save", help="write the reliability curves to this file")
save = parser.parse_args().save

X, y = make_classification(
    5000,
    20,
    n_informative=5,
    n_redundant=10,
    weights=[0.8],
    flip_y=0.05,
    class_sep=0.7,
    random_state=0,
)
train, new = slice(0, 1000), slice(1000, None)
boosting = LGBMClassifier(n_estimators=100, n_jobs=1, verbosity=-1)
learners = [("bayes", GaussianNB()), ("boosting", boosting)]
plain = StackingClassifier(learners, "mean", random_state=0).fit(X[train], y[train])
calibrated = plain.restack(calibrate="auto")

print(f"Chosen: {calibrated.calibrator_.method}, by nested log-losses")
for method, loss in calibrated.calibrator_.losses.items():
    print(f"  {method:12s}{loss:.4f}")
print("\nOn 4000 new rows     log-loss = calibration + refinement       ECE   score_ said")
for name, stack in (("uncalibrated", plain), ("calibrated", calibrated)):
    given = stack.predict_proba(X[new])
    parts, error = decompose_loss(given, y[new]), expected_calibration_error(given, y[new])
    print(f"{name:20s}{parts.total:9.4f}{parts.calibration:14.4f}{parts.refinement:13.4f}", end="")
    print(f"{error:10.4f}{-stack.score_:13.4f}")

cheap = calibrated.tune_threshold(make_scorer(saved))
before, after = (-saved(y[new], stack.predict(X[new])) for stack in (calibrated, cheap))
print(f"\nA case is predicted from {cheap.threshold_:.2f} on (by theory from 1 / (1 + 10) = 0.09)")
print(f"  cost of a new row: {after:.3f}, where 0.50 on costs {before:.3f}")
print(f"  score_ said {-cheap.score_:.3f} ± {cheap.score_se_:.3f}")

if save:
    from foldwise.plot import plot_reliability

    both = {"uncalibrated": plain, "calibrated": calibrated}
    ax = plot_reliability({k: s.predict_proba(X[new]) for k, s in both.items()}, y[new])
    ax.figure.savefig(save, dpi=120, bbox_inches="tight")
