"""Does `calibrate="auto"` help, and does it ever hurt? Log-loss on rows nobody saw.

Six binary and three multiclass real data sets, each through five models: LightGBM, a random
forest and naive Bayes alone, and stacks of these three and a logistic regression (the plain
mean, and the default bake-off).
Each is judged on test rows without calibration and with `calibrate="auto"`, from the same
fits; and scikit-learn's CalibratedClassifierCV(ensemble=True), on the same five folds, by its
three methods.

    python benchmarks/calibration.py [--quick] [SET ...]

Ends with ``ratio:`` lines, uncalibrated by calibrated log-loss in the worst case (the promise:
at least 0.99) and in the median one, and cases made better by cases made worse.
"""

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foldwise import StackingClassifier

DATA = Path(
    os.environ.get("FOLDWISE_DATA", Path(__file__).resolve().parents[1].parent / "shared" / "data")
)
BINARY = ["adult", "credit_g", "higgs_sample", "online_shoppers", "spambase", "electricity"]
SEVERAL = ["satimage", "letter", "vehicle"]
ALLOWED = 0.99


def load(name: str, most: int) -> tuple[np.ndarray, np.ndarray]:
    frame = pd.read_parquet(DATA / f"{name}.parquet")
    frame = frame.sample(min(len(frame), most), random_state=0)
    X = pd.get_dummies(frame.drop(columns="target"), dtype=float)
    return X.fillna(X.median()).to_numpy(), frame["target"].to_numpy()


def learners(n_classes: int) -> list:
    rounds = 150 if n_classes == 2 else 30
    return [
        ("gbm", LGBMClassifier(n_estimators=rounds, verbosity=-1, random_state=0, n_jobs=1)),
        ("forest", RandomForestClassifier(100, random_state=0)),
        ("bayes", GaussianNB(var_smoothing=1e-3)),
        (
            "logistic",
            make_pipeline(StandardScaler(), LogisticRegression(max_iter=300, tol=1e-3)),
        ),
    ]


def peers(X, y, X_new, y_new, folds, methods) -> dict:
    """Return scikit-learn's log-losses, by learner and method."""
    found = {}
    for name, learner in learners(len(np.unique(y)))[:3]:
        for method in methods:
            model = CalibratedClassifierCV(learner, method=method, cv=folds).fit(X, y)
            found[name, method] = log_loss(y_new, model.predict_proba(X_new))
    return found


def cases(X, y, X_new, y_new, folds):
    """Yield name, log-loss before, after, and the deployed method; all from one set of fits."""
    every = learners(len(np.unique(y)))
    stacks = {
        name: StackingClassifier([(name, learner)], "mean", cv=folds, random_state=0).fit(X, y)
        for name, learner in every[:3]
    }
    everything = stacks["gbm"]
    for name, learner in every[1:]:
        everything = everything.add(name, learner)
    stacks |= {"mean of four": everything, "bake-off": everything.restack(None)}
    for name, plain in stacks.items():
        start = time.perf_counter()
        fitted = plain.restack(calibrate="auto")
        seconds = time.perf_counter() - start
        before = log_loss(y_new, plain.predict_proba(X_new))
        after = log_loss(y_new, fitted.predict_proba(X_new))
        yield name, before, after, fitted.calibrator_.method, -fitted.score_, seconds


def main(quick: bool, names: list[str]) -> None:
    warnings.simplefilter("ignore")
    rows = []
    methods = ["sigmoid", "isotonic", "temperature"]
    head = ("set", "model", "plain", "auto", "method", "score_", "seconds", *methods)
    print("{:16s}{:13s}{:>8s}{:>8s}  {:12s}{:>8s}{:>8s}".format(*head[:7]), end="")
    print("".join(f"{m:>12s}" for m in methods if not quick))
    for name in names:
        X, y = load(name, 2_500 if quick else 6_000)
        X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
        folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
        theirs = {} if quick else peers(X, y, X_new, y_new, folds, methods)
        for model, before, after, method, score, seconds in cases(X, y, X_new, y_new, folds):
            rows.append((name, model, before, after))
            line = f"{name:16s}{model:13s}{before:8.4f}{after:8.4f}  {method:12s}"
            line += f"{score:8.4f}{seconds:8.2f}"
            if (model, methods[0]) in theirs:
                line += "".join(f"{theirs[model, m]:12.4f}" for m in methods)
            print(line, flush=True)
    table = pd.DataFrame(rows, columns=["set", "model", "plain", "auto"])
    ratio = table["plain"] / table["auto"]
    better, worse = (ratio > 1).sum(), (ratio < 1).sum()
    print(
        f"\n{len(ratio)} cases: {better} better, {len(ratio) - better - worse} left alone,", end=""
    )
    print(f" {worse} worse, {(ratio < ALLOWED).sum()} by more than 1 %")
    for model, part in table.assign(ratio=ratio).groupby("model", sort=False)["ratio"]:
        print(f"{model:13s} median {part.median():.4f}, worst {part.min():.4f}")
    print("worst case, plain / auto")
    print(f"ratio: {ratio.min():.4f}")
    print("median case, plain / auto")
    print(f"ratio: {ratio.median():.4f}")
    print("cases made better / cases made worse")
    print(f"ratio: {better / max(worse, 1):.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("sets", nargs="*", default=BINARY + SEVERAL, metavar="SET")
    arguments = parser.parse_args()
    main(arguments.quick, arguments.sets)
