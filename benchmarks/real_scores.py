"""Is `score_` right on real tables? Cheap stacks of up to 2,000 rows against their test rows.

Over three splits of every table; own minus test score in standard errors of both, which is within
two on nine of ten if they are right.

    python benchmarks/real_scores.py [--splits 3] [--file real_scores.jsonl]

Every fit is a line in the file, and what is there is not fitted again.

Ends with ``ratio: share within two standard errors / (70 / 78)``.
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from accuracy import DATA, load
from lightgbm import LGBMClassifier, LGBMRegressor
from own_scores import kept
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from foldwise import StackingClassifier, StackingRegressor

REAL_ROWS, TEST_ROWS = 2_000, 20_000
BOOSTED = {"n_estimators": 60, "num_leaves": 15, "n_jobs": 1, "verbose": -1}
GOAL = 70 / 78


def learners_of(task):
    """Return three cheap learners for a table of numbers and words."""
    linear, tree = (RidgeCV, LGBMRegressor), (LogisticRegression, LGBMClassifier)
    model, boosted = linear if task == "regression" else tree
    nearest = KNeighborsRegressor if task == "regression" else KNeighborsClassifier
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    scaled = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (
            OneHotEncoder(handle_unknown="ignore", max_categories=20, sparse_output=False),
            make_column_selector(dtype_exclude="number"),
        ),
    )
    return [
        ("linear", make_pipeline(scaled, model())),
        ("nearest", make_pipeline(scaled, nearest(15))),
        ("boosted", make_pipeline(scaled, boosted(**BOOSTED))),
    ]


def surprise(table, seed):
    """Return own minus test score of a cheap stack, in standard errors of both."""
    regress, rows = table.task == "regression", slice(REAL_ROWS)
    scoring = {"rmse": "neg_root_mean_squared_error", "log_loss": "neg_log_loss"}
    stack = (StackingRegressor if regress else StackingClassifier)(
        learners_of(table.task),
        "nnls",
        scoring=scoring.get(table.metric, table.metric),
        random_state=seed,
    ).fit(table.X[rows], table.y[rows])
    X, y = table.X_test[:TEST_ROWS], table.y_test[:TEST_ROWS]
    if not regress:
        # A class too rare to be in the training rows cannot be predicted.
        known = np.isin(y, stack.classes_)
        X, y = X[known], np.searchsorted(stack.classes_, y[known])
    test = table.evaluate(stack.predict(X) if regress else stack.predict_proba(X), y)
    return (stack.score_ - test.score) / np.hypot(stack.score_se_, test.standard_error)


def compared(splits, file):
    """Print own score against test score on real tables; return the share that is near."""
    print("own - test score in standard errors of both; positive is optimistic")
    found, there = [], {(name, seed): gap for name, seed, gap in kept(file)}
    for name in sorted(path.stem for path in DATA.glob("*.parquet")):
        for seed in range(splits):
            if (name, seed) not in there:
                there[name, seed] = float(surprise(load(name, seed), seed))
                with file.open("a") as lines:
                    print(json.dumps([name, seed, there[name, seed]]), file=lines)
        found.append([there[name, seed] for seed in range(splits)])
        print(f"  {name:<24}" + "".join(f"{gap:8.2f}" for gap in found[-1]), flush=True)
    near = np.abs(found) <= 2
    good = "good" if near.mean() >= GOAL else "BAD"
    print(f"within two: {near.sum()} of {near.size} {good}; mean {np.mean(found):+.2f}")
    return near.mean()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--file", type=Path, default=Path("real_scores.jsonl"))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"ratio: {compared(arguments.splits, arguments.file) / GOAL:.3f}")
