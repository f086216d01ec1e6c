"""Do 90 % intervals hold 90 %? predict_interval on held-out rows of four real data sets.

With --scores: do the 95 % intervals of `score_` hold the true loss of what is deployed
(known_truth.py)? Naive (uncorrected score, rows' standard error) beside new, and how often heavy
tails are said.

python benchmarks/coverage.py [--quick] [--scores] [--seeds 100] [--rows 100 400]
"""

import argparse
import itertools
import os
from pathlib import Path

import numpy as np
import pandas as pd
from known_truth import PROBLEMS
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


def scores(n_seeds: int, sizes: list[int]) -> None:
    """Print how often intervals of scores hold the truth, problem by problem and pooled."""
    pooled: dict[tuple[str, int, str], list[list[float]]] = {}
    for n, problem, how in itertools.product(sizes, PROBLEMS, ("folds", "refit", "pairs")):
        found = []
        for seed in range(n_seeds):
            X, y, _ = problem.rows(n, np.random.default_rng(2000 + seed))
            stack = problem.stack(predict_with=how, random_state=seed).fit(X, y)
            truth = problem.truth(stack, np.random.default_rng(seed))
            plain = stack.deals_[0].verdict.evaluation
            naive = abs(-plain.score - truth) <= 1.96 * plain.standard_error
            new = abs(-stack.score_ - truth) <= 1.96 * stack.score_se_
            found.append([naive, new, bool(stack.score_note_)])
        naive, new, said = np.mean(found, axis=0)
        print(f"n={n} {how:<6}{problem.name:<22} naive {naive:.2f}  new {new:.2f}  said {said:.2f}")
        if not problem.heavy:
            task = "classes" if problem.classify else "numbers"
            pooled.setdefault((task, n, how), []).extend(found)
    for (task, n, how), each in pooled.items():
        naive, new, _ = np.mean(each, axis=0)
        print(f"pooled: {task} n={n} {how:<6} naive {naive:.3f}  new {new:.3f}")
    print(f"ratio: {np.mean([np.mean(each, axis=0)[1] for each in pooled.values()]) / 0.95:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--scores", action="store_true")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--rows", type=int, nargs="+", default=[100, 400])
    arguments = parser.parse_args()
    if arguments.scores:
        scores(arguments.seeds, arguments.rows)
    else:
        main(arguments.quick)
