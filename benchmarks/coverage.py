"""Do 90 % intervals hold 90 %, and where? predict_interval on held-out rows of eight real tables.

For the three ways of predicting new rows the share held; then for predict_with="folds", adaptive
beside plain intervals: the mean width at equal coverage (both scaled to hold exactly 90 % of the
new rows), the interval score (width plus 20 times what is missed, Gneiting & Raftery 2007), and
the share held in the narrowest and the widest tenth of the adaptive intervals; how unevenly the
levels of a column are held, alone and with by= (the root mean square of their distances from the
share of all, in standard errors: chance alone gives one; with by= the rows that a level's width
was found on have their chance too, without it they are the same for all). With --sets: prediction
sets on real tables of classes.
Intervals of scores: scores.py.

python benchmarks/coverage.py [--data folder] [--quick] [--sets] [--tables NAME ...]
"""

import argparse
import os
from pathlib import Path

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foldwise import StackingClassifier, StackingRegressor

DATA = Path(
    os.environ.get("FOLDWISE_DATA", Path(__file__).resolve().parents[1].parent / "shared" / "data")
)
# What adaptive intervals were chosen on (diamonds, bike_sharing_hour, auto_mpg) is not shown.
SETS = ["diabetes_progression", "concrete_strength", "communities_crime", "ames_housing",
        "abalone", "california_housing", "metro_traffic", "nyc_flights_delay"]  # fmt: skip
CLASS_SETS = ["credit_g", "vehicle", "satimage", "adult"]
GOAL = (0.88, 0.97)
MOST_ROWS = (3_000, 12_000)
MOST_LEVELS = 100  # of more, only how frequent they are is told


def load(folder: Path, name: str, most: int) -> tuple[pd.DataFrame, pd.DataFrame, pd.Series]:
    """Return numbers, the table as it was, and targets."""
    frame = pd.read_parquet(folder / f"{name}.parquet")
    frame = frame.sample(min(len(frame), most), random_state=0).reset_index(drop=True)
    table, y = frame.drop(columns="target"), frame["target"]
    words = table.select_dtypes(exclude="number")
    many = [column for column in words if words[column].nunique() > MOST_LEVELS]
    counts = {column: table[column].map(table[column].value_counts()) for column in many}
    X = pd.get_dummies(table.assign(**counts), dtype=float)
    X.columns = [f"column {i}" for i in range(X.shape[1])]
    return X.fillna(X.median()).fillna(0.0), table, y


def halves(X: pd.DataFrame, table: pd.DataFrame, y: pd.Series) -> tuple:
    """Return X and y of training and new rows, and a column of few levels for each."""
    train, new = train_test_split(np.arange(len(y)), test_size=0.4, random_state=0)
    few = [c for c in table if 2 <= table.loc[train, c].value_counts().gt(50).sum() <= 20]
    label = table[few[0]].astype(object) if few else pd.qcut(y.sample(frac=1, random_state=0), 3)
    rare = label.map(label.iloc[train].value_counts()).fillna(0) <= 50
    label = np.where(rare, "rare", label.astype(str))
    return (
        X.iloc[train],
        y.iloc[train],
        X.iloc[new],
        y.iloc[new].to_numpy(),
        label[train],
        label[new],
    )


def uneven(inside: np.ndarray, label: np.ndarray, trained: np.ndarray | None = None) -> float:
    """Return how far levels are from the share of all; ``trained``: what by= found widths on."""
    every, far = inside.mean(), []
    for level in np.unique(label):
        own, seen = inside[label == level], 0 if trained is None else (trained == level).sum()
        chance = 1 / len(own) + (1 / seen if seen else 0)
        far.append((own.mean() - every) ** 2 / (every * (1 - every) * chance))
    return float(np.sqrt(np.sum(far) / (len(far) - 1)))


def at_equal_coverage(lower: np.ndarray, upper: np.ndarray, y: np.ndarray) -> float:
    """Return the mean width when all intervals are scaled to hold 90 % of y."""
    half = (upper - lower) / 2
    factor = np.quantile(np.abs(y - (lower + upper) / 2) / half, 0.9, method="inverted_cdf")
    return float(2 * factor * half.mean())


def interval_score(lower: np.ndarray, upper: np.ndarray, y: np.ndarray) -> float:
    missed = np.maximum(lower - y, 0) + np.maximum(y - upper, 0)
    return float((upper - lower + 20 * missed).mean())


def main(folder: Path, quick: bool, tables: list[str]) -> None:
    learners = [
        ("ridge", make_pipeline(StandardScaler(), RidgeCV())),
        ("trees", ExtraTreesRegressor(60, min_samples_leaf=2, random_state=0)),
        ("gbm", LGBMRegressor(n_estimators=150, verbosity=-1, random_state=0, n_jobs=1)),
    ]
    print("share held (folds, refit, pairs); adaptive / plain: width at equal coverage, interval "
          "score;\nheld in the narrowest and the widest tenth, plain -> adaptive; unevenness "
          "of levels, without -> with by=")  # fmt: skip
    found = []
    for name in tables:
        X, table, y = load(folder, name, MOST_ROWS[not quick])
        X_train, y_train, X_new, y_new, label, label_new = halves(X, table, y)
        shares = []
        for how in ["pairs", "refit", "folds"]:
            stack = StackingRegressor(learners, predict_with=how, random_state=0)
            lower, upper = stack.fit(X_train, y_train).predict_interval(X_new, 0.9)
            shares.insert(0, float(((lower <= y_new) & (y_new <= upper)).mean()))
        plain = stack.predict_interval(X_new, 0.9, adaptive=False)
        by = stack.predict_interval(X_new, 0.9, by=(label, label_new))
        ends = [plain, (lower, upper), by]
        inside = [(low <= y_new) & (y_new <= up) for low, up in ends]
        order, tenth = np.argsort(upper - lower, kind="stable"), len(y_new) // 10
        narrow, wide = ([own[at].mean() for own in inside[:2]]
                        for at in (order[:tenth], order[-tenth:]))  # fmt: skip
        width = at_equal_coverage(lower, upper, y_new) / at_equal_coverage(*plain, y_new)
        score = interval_score(lower, upper, y_new) / interval_score(*plain, y_new)
        levels = [uneven(inside[1], label_new), uneven(inside[2], label_new, label)]
        print(
            f"{name:21s}{len(X):6d} " + "".join(f"{s:6.3f}" for s in shares)
            + f"   width {width:.3f} score {score:.3f}"
            + f"   narrow {narrow[0]:.3f} -> {narrow[1]:.3f} wide {wide[0]:.3f} -> {wide[1]:.3f}"
            + f"   levels {levels[0]:.2f} -> {levels[1]:.2f}",
            flush=True,
        )  # fmt: skip
        found.append(
            [width, score, *narrow, *wide, *levels, all(GOAL[0] <= s <= GOAL[1] for s in shares)]
        )
    means = np.array(found, dtype=float)
    width, score = np.exp(np.log(means[:, :2]).mean(axis=0))
    off = np.abs(means[:, 2:6] - 0.9).mean(axis=0)
    print(f"geometric mean: width {width:.3f}, interval score {score:.3f}; mean distance from 0.9: "
          f"narrow {off[0]:.3f} -> {off[1]:.3f}, wide {off[2]:.3f} -> {off[3]:.3f}; "
          f"levels {means[:, 6].mean():.2f} -> {means[:, 7].mean():.2f}")  # fmt: skip
    good = int(means[:, -1].sum())
    print(f"tables with coverage in {GOAL} for all three ways: {good} of {len(tables)}")
    print(f"ratio: {1 / score:.3f}")


def sets(folder: Path, quick: bool, tables: list[str]) -> None:
    """Print how often prediction sets hold the class, and how large they are."""
    learners = [
        ("logistic", make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))),
        ("trees", ExtraTreesClassifier(60, min_samples_leaf=2, random_state=0)),
        ("gbm", LGBMClassifier(n_estimators=60, verbosity=-1, random_state=0, n_jobs=1)),
    ]
    held = []
    for name in tables:
        X_train, y_train, X_new, y_new, label, label_new = halves(
            *load(folder, name, MOST_ROWS[not quick])
        )
        stack = StackingClassifier(learners, random_state=0).fit(X_train, y_train)
        truth = np.searchsorted(stack.classes_, y_new)
        row = []
        for by in (None, (label, label_new)):
            inside = stack.predict_set(X_new, 0.9, by=by)
            hits = inside[np.arange(len(truth)), truth]
            levels = uneven(hits, label_new, None if by is None else label)
            row += [hits.mean(), inside.sum(axis=1).mean(), levels]
        print(f"{name:15s} held {row[0]:.3f} size {row[1]:.2f} levels {row[2]:.2f}  by=: held "
              f"{row[3]:.3f} size {row[4]:.2f} levels {row[5]:.2f}", flush=True)  # fmt: skip
        held.append(row[0])
    print(f"ratio: {np.mean(held) / 0.9:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--sets", action="store_true")
    parser.add_argument("--tables", nargs="+", help="all by default")
    arguments = parser.parse_args()
    measure, every = (sets, CLASS_SETS) if arguments.sets else (main, SETS)
    measure(arguments.data, arguments.quick, arguments.tables or every)
