"""Bagging and boosting beside scikit-learn, LightGBM and XGBoost: errors and times.

Both parts run everything on the same rows with one thread, foldwise and its peer in turn.

    python benchmarks/bagging_boosting.py [--quick] [--part errors|times]

The errors part ends in one line a method, the geometric mean over data sets of the peer's test
error by ours; the times part in one line a claim, the peer's time by ours.
"""

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import lightgbm
import numpy as np
import pandas as pd
import sklearn.ensemble as peers
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import foldwise

DATA = Path(
    os.environ.get("FOLDWISE_DATA", Path(__file__).resolve().parents[1].parent / "shared" / "data")
)
NAMES = ["letter", "satimage", "spambase", "california_housing"]


def load(name: str) -> tuple[np.ndarray, np.ndarray, bool]:
    table = pd.read_parquet(DATA / f"{name}.parquet")
    y = table.pop("target").to_numpy()
    for column in table.select_dtypes("category"):
        table[column] = table[column].cat.codes
    X = table.to_numpy(dtype=float)
    X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    return X, y, name != "california_housing"


def methods(classes: bool, n_classes: int, quick: bool) -> dict[str, tuple[Callable, Callable]]:
    """Return name -> (ours, theirs), each a function of the seed."""
    kind = "Classifier" if classes else "Regressor"
    n_boost = (10 if quick else 20) if n_classes > 10 else 100
    trees, rounds = (20, 20) if quick else (50, 100)

    def pair(name, ours, theirs):
        return (
            lambda seed: getattr(foldwise, name + kind)(random_state=seed, **ours),
            lambda seed: getattr(peers, name + kind)(random_state=seed, **theirs),
        )

    found = {
        "bagging": pair("Bagging", {"n_estimators": trees}, {"n_estimators": trees}),
        "gradient": pair("GradientBoosting", {"n_estimators": n_boost}, {"n_estimators": n_boost}),
    }
    if classes:
        tree = DecisionTreeClassifier(max_depth=5)
        ada = {"estimator": tree, "n_estimators": trees}
        found["adaboost"] = pair("AdaBoost", ada, ada)
    settings = {"learning_rate": 0.1, "n_estimators": rounds}
    newton = getattr(foldwise, "NewtonBoosting" + kind)

    def lgbm(seed):
        return getattr(lightgbm, "LGBM" + kind)(
            num_leaves=31, reg_lambda=1.0, n_jobs=1, verbose=-1, random_state=seed, **settings
        )

    found["newton beside LightGBM"] = (lambda s: newton(random_state=s, **settings), lgbm)
    try:
        import xgboost

        def xgb(seed):
            return getattr(xgboost, "XGB" + kind)(
                tree_method="hist",
                grow_policy="lossguide",
                max_leaves=31,
                max_depth=0,
                min_child_weight=1e-3,
                n_jobs=1,
                random_state=seed,
                **settings,
            )

        # XGBoost has no smallest number of rows in a leaf.
        bare = {"min_samples_leaf": 1, **settings}
        found["newton beside XGBoost"] = (lambda s: newton(random_state=s, **bare), xgb)
    except ImportError:
        print("xgboost is not installed: left out")
    return found


def test_error(model, name, X, y, X_new, y_new, classes) -> float:
    model.fit(X, y)
    if not classes:
        return mean_squared_error(y_new, model.predict(X_new))
    if "newton" in name:
        return log_loss(y_new, model.predict_proba(X_new), labels=np.unique(y))
    return float(np.mean(model.predict(X_new) != y_new))


def compare_errors(quick: bool) -> None:
    n_seeds, n_rows = (2, 1000) if quick else (5, 3000)
    logs: dict[str, list[float]] = {}
    print(f"{'data':20}{'method':26}{'ours':>9}{'theirs':>9}{'difference':>12}{'± s.e.':>9}")
    for name in NAMES:
        X, y, classes = load(name)
        n_classes = len(np.unique(y)) if classes else 0
        for method, pair in methods(classes, n_classes, quick).items():
            errors = []
            for seed in range(n_seeds):
                parts = train_test_split(X, y, train_size=n_rows, random_state=seed)
                X_in, X_new, y_in, y_new = (part[:8000] for part in parts)
                errors.append(
                    [
                        test_error(make(seed), method, X_in, y_in, X_new, y_new, classes)
                        for make in pair
                    ]
                )
            ours, theirs = np.mean(errors, axis=0)
            gap = np.diff(errors, axis=1)[:, 0]
            error = gap.std(ddof=1) / np.sqrt(n_seeds)
            scale = 1 if classes else theirs
            shown = [ours / scale, theirs / scale, -gap.mean() / scale, error / scale]
            print(
                f"{name:20}{method:26}"
                + "".join(f"{x:{w}.4f}" for x, w in zip(shown, [9, 9, 12, 9], strict=True)),
                flush=True,
            )
            logs.setdefault(method, []).append(np.log(theirs / ours))
    print("\npeer's error / ours, geometric mean over the data sets (MSE of housing in theirs)")
    for method, values in logs.items():
        print(f"{method}\nratio: {np.exp(np.mean(values)):.4f}")


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time of the work: one thread, and other processes do not count."""
    start = time.process_time()
    work()
    return time.process_time() - start


def race(claim: str, ours: Callable, theirs: Callable, repeats: int) -> None:
    times = np.array([[seconds(ours), seconds(theirs)] for _ in range(repeats)])
    best = times.min(axis=0)
    print(f"{claim}: ours {best[0]:.2f} s, theirs {best[1]:.2f} s\nratio: {best[1] / best[0]:.3f}")


class TimedTree(DecisionTreeClassifier):
    """A tree that adds up the time of its fits."""

    spent = 0.0

    def fit(self, X, y, sample_weight=None, check_input=True):
        start = time.process_time()
        super().fit(X, y, sample_weight=sample_weight, check_input=check_input)
        TimedTree.spent += time.process_time() - start
        return self


def overhead(claim: str, fit: Callable[[], object]) -> None:
    TimedTree.spent = 0.0
    whole = seconds(fit)
    print(f"{claim}: {100 * (whole / TimedTree.spent - 1):.1f} % over the bare fits")
    print(f"ratio: {1.05 * TimedTree.spent / whole:.3f}  (1.05 · bare fits / whole)")


def compare_times(quick: bool) -> None:
    X, y = make_classification(50_000, 30, n_informative=10, random_state=0)
    rounds, trees, repeats = (20, 20, 2) if quick else (200, 200, 1)
    race(
        f"AdaBoost of {rounds} stumps on 50,000 x 30, scikit-learn",
        lambda: foldwise.AdaBoostClassifier(n_estimators=rounds, random_state=0).fit(X, y),
        lambda: peers.AdaBoostClassifier(n_estimators=rounds, random_state=0).fit(X, y),
        repeats,
    )
    tree = TimedTree(max_depth=5)
    overhead(
        "AdaBoost of 10 trees of depth 5 on 20,000 x 30",
        lambda: foldwise.AdaBoostClassifier(tree, 10, random_state=0).fit(X[:20_000], y[:20_000]),
    )
    overhead(
        "bagging of 20 full trees on 5,000 x 30",
        lambda: foldwise.BaggingClassifier(TimedTree(), 20, random_state=0).fit(X[:5000], y[:5000]),
    )
    race(
        f"bagging of {trees} trees on 3,000 x 30, scikit-learn",
        lambda: foldwise.BaggingClassifier(None, trees, random_state=0).fit(X[:3000], y[:3000]),
        lambda: peers.BaggingClassifier(None, trees, random_state=0).fit(X[:3000], y[:3000]),
        max(2, repeats),
    )
    race(
        "gradient boosting of 30 trees on 5,000 x 30, scikit-learn",
        lambda: foldwise.GradientBoostingClassifier(n_estimators=30).fit(X[:5000], y[:5000]),
        lambda: peers.GradientBoostingClassifier(n_estimators=30).fit(X[:5000], y[:5000]),
        3,
    )
    words = {
        "objective": "binary",
        "num_leaves": 31,
        "lambda_l2": 1.0,
        "num_threads": 1,
        "verbosity": -1,
    }
    for n in [2_000, 50_000]:
        race(
            f"Newton boosting of 100 trees on {n:,} x 30, LightGBM called directly",
            lambda n=n: foldwise.NewtonBoostingClassifier(n_estimators=100).fit(X[:n], y[:n]),
            lambda n=n: lightgbm.train(words, lightgbm.Dataset(X[:n], y[:n], params=words), 100),
            5,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rows, rounds and seeds")
    parser.add_argument("--part", choices=["errors", "times"], help="only this part")
    options = parser.parse_args()
    if options.part != "times":
        compare_errors(options.quick)
    if options.part != "errors":
        compare_times(options.quick)
