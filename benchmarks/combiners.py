"""Combiners: is the default stack hardly ever worse than its best learner, and what does it cost?

data    the default bake-off, its candidates and every learner on real data sets: honest score
        of the stack, test losses. The default was settled by looking at the sets of CHOSEN_ON
        only; the others are the check.
greedy  50 steps, 100 models, 100,000 rows, against the loop of AutoGluon and auto-sklearn
        written plainly in NumPy.
adult   seconds of the whole default bake-off against seconds of fitting its learners.

    python benchmarks/combiners.py [--quick] [--only data|greedy|adult] [--cache DIR]

``--cache`` keeps the fitted learners of the data sets in a folder.
"""

import argparse
import os
import time
import warnings
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor
from threadpoolctl import threadpool_limits

from foldwise import StackingClassifier, StackingRegressor
from foldwise.combine import greedy_selection
from foldwise.stack.metric import Target
from foldwise.stack.stackers import respond

DATA = Path(
    os.environ.get("FOLDWISE_DATA", Path(__file__).resolve().parents[1].parent / "shared" / "data")
)
CHOSEN_ON = [
    "abalone", "ames_housing", "breast_cancer_wdbc", "communities_crime", "covertype",
    "diabetes_progression", "electricity", "horse_colic", "metro_traffic", "online_shoppers",
    "sick_thyroid", "spambase",
]  # fmt: skip
CHECKED_ON = [
    "adult", "auto_mpg", "bike_sharing_hour", "california_housing", "census_income_kdd",
    "concrete_strength", "credit_g", "diamonds", "higgs_sample", "letter", "nyc_flights_delay",
    "satimage", "soybean", "vehicle",
]  # fmt: skip


def read(name: str, n_train: int, n_test: int = 5000, seed: int = 0):
    """Return training and test rows, encoded without looking at the test rows or the target."""
    frame = pd.read_parquet(DATA / f"{name}.parquet")
    frame = frame.sample(frac=1.0, random_state=seed)
    counts = frame["target"].value_counts()
    task = pd.read_csv(DATA / "catalogue.csv").set_index("name").loc[name, "task"]
    if task != "regression":
        frame = frame[frame["target"].isin(counts.index[counts >= 20])]
    n_train = min(n_train, int(0.7 * len(frame)))
    train, test = frame.iloc[:n_train], frame.iloc[n_train : n_train + n_test]
    classes = make_column_selector(dtype_include=["category", "object"])
    numbers = make_column_selector(dtype_exclude=["category", "object"])
    encode = make_column_transformer(
        (
            OneHotEncoder(
                sparse_output=False, handle_unknown="infrequent_if_exist", max_categories=15
            ),
            classes,
        ),
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
    )
    X, Z = (part.drop(columns="target") for part in (train, test))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, Z = encode.fit_transform(X), encode.transform(Z)
    return task, X, train["target"].to_numpy(), Z, test["target"].to_numpy()


def learners(task: str):
    if task == "regression":
        return [
            ("ridge", Ridge(10.0)),
            ("knn", KNeighborsRegressor(10)),
            ("tree", DecisionTreeRegressor(min_samples_leaf=10)),
            ("forest", RandomForestRegressor(60, min_samples_leaf=2)),
            ("gbm", LGBMRegressor(n_estimators=100, learning_rate=0.08, verbosity=-1, n_jobs=1)),
        ]
    return [
        ("logistic", LogisticRegression(C=0.3, max_iter=200)),
        ("knn", KNeighborsClassifier(15)),
        ("bayes", GaussianNB(var_smoothing=1e-3)),
        ("forest", RandomForestClassifier(60, min_samples_leaf=2)),
        (
            "gbm",
            LGBMClassifier(
                n_estimators=60, learning_rate=0.08, num_leaves=15, verbosity=-1, n_jobs=1
            ),
        ),
    ]


def fitted(name: str, n_train: int, cache: Path | None):
    """Return a stack of the learners, what they say about the test rows, and the truth."""
    file = None if cache is None else cache / f"{name}-{n_train}.joblib"
    if file is not None and file.exists():
        return joblib.load(file)
    task, X, y, Z, z = read(name, n_train)
    kind = StackingRegressor if task == "regression" else StackingClassifier
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        stack = kind(learners(task), "mean", random_state=0).fit(X, y)
        deal = stack.deals_[0]
        features = deal.fresh(Z, deal.reading.deployed)
    if task != "regression":
        known = np.isin(z, stack.classes_)
        z = np.searchsorted(stack.classes_, np.where(known, z, stack.classes_[0]))
    result = stack, features, z, time.perf_counter() - start
    if file is not None:
        joblib.dump(result, file)
    return result


def losses(stack, features, z, tops) -> dict[str, tuple[float, float]]:
    """Return the honest loss and the test loss of each top."""
    found = {}
    target = Target(z, stack.deals_[0].top.problem.labels, None, np.zeros(len(z), dtype=np.intp))
    for title, top in tops.items():
        again = stack.restack(top)
        response = respond(again.stacker_, features)
        found[title] = (-again.score_, -again._metric.score(response, target))
    return found
