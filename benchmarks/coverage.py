"""Do 90 % intervals hold 90 %? predict_interval on held-out rows of four real data sets.

Intervals of scores: scores.py.

python benchmarks/coverage.py [--quick]
"""

import argparse
import os
from pathlib import Path

import pandas as pd
from lightgbm import LGBMRegressor
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foldwise import StackingRegressor

DATA = Path(
    os.environ.get("FOLDWISE_DATA", Path(__file__).resolve().parents[1].parent / "shared" / "data")
)
SETS = ["abalone", "concrete_strength", "california_housing", "diamonds"]
GOAL = (0.88, 0.97)


def load(name: str, most: int) -> tuple[pd.DataFrame, pd.Series]:
    frame = pd.read_parquet(DATA / f"{name}.parquet")
    frame = frame.sample(min(len(frame), most), random_state=0)
    X = pd.get_dummies(frame.drop(columns="target"), dtype=float)
    return X.fillna(X.median()), frame["target"]


def main(quick: bool) -> None:
    learners = [
        ("ridge", make_pipeline(StandardScaler(), RidgeCV())),
        ("trees", ExtraTreesRegressor(60, min_samples_leaf=2, random_state=0)),
        ("gbm", LGBMRegressor(n_estimators=150, verbosity=-1, random_state=0, n_jobs=1)),
    ]
    print(f"{'':20s}{'rows':>7s}{'folds':>9s}{'refit':>9s}{'pairs':>9s}{'width / sd':>12s}")
    inside_goal = 0
    for name in SETS:
        X, y = load(name, 3_000 if quick else 12_000)
        parts = train_test_split(X, y, test_size=0.4, random_state=0)
        X_train, X_new, y_train, y_new = parts
        shares = []
        for how in ["folds", "refit", "pairs"]:
            stack = StackingRegressor(learners, predict_with=how, random_state=0)
            lower, upper = stack.fit(X_train, y_train).predict_interval(X_new, 0.9)
            shares.append(float(((lower <= y_new) & (y_new <= upper)).mean()))
        width = float((upper - lower).mean() / y_new.std())
        print(f"{name:20s}{len(X):7d}" + "".join(f"{s:9.3f}" for s in shares) + f"{width:12.2f}")
        inside_goal += all(GOAL[0] <= share <= GOAL[1] for share in shares)
    print(f"sets with coverage in {GOAL} for all three ways: {inside_goal} of {len(SETS)}")
    print(f"ratio: {inside_goal / len(SETS):.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    main(parser.parse_args().quick)
