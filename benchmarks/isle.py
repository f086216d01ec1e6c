"""ISLE: how small and how good ensembles become when the lasso reweighs their trees.

``spambase``: a forest of 1000 trees reweighed by the lasso, and the cheap dictionary of
six-leaf trees on 5 % of the rows (Elements of Statistical Learning, section 16.3.1).
``figure``: the simulation behind figure 16.8 of the same book. ``--quick`` takes fewer trees
and repeats.
"""

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from lightgbm import LGBMRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from foldwise.isle import ISLEClassifier, ISLERegressor

DATA = Path(
    os.environ.get("FOLDWISE_DATA", Path(__file__).resolve().parents[1].parent / "shared" / "data")
)


def timed(fit):
    started = time.perf_counter()
    model = fit()
    return model, time.perf_counter() - started


def spambase(quick):
    frame = pd.read_parquet(DATA / "spambase.parquet")
    X, y = frame.drop(columns="target").to_numpy(), frame["target"].to_numpy()
    # The book's split: 3065 training and 1536 test rows.
    X, X_new, y, y_new = train_test_split(X, y, train_size=3065, random_state=0, stratify=y)
    n_trees = 300 if quick else 1000
    forest, grown = timed(
        lambda: RandomForestClassifier(n_trees, random_state=0, n_jobs=1).fit(X, y)
    )
    isle, lasso = timed(lambda: ISLEClassifier.from_fitted(forest, random_state=0).fit(X, y))
    sparser = ISLEClassifier.from_fitted(forest, choose="1se", random_state=0).fit(X, y)
    cheap, cheap_time = timed(
        lambda: RandomForestClassifier(
            n_trees, max_samples=0.05, bootstrap=True, max_leaf_nodes=6, random_state=0, n_jobs=1
        ).fit(X, y)
    )
    cheap_isle, _ = timed(lambda: ISLEClassifier.from_fitted(cheap, random_state=0).fit(X, y))
    boosted, boosted_time = timed(
        lambda: ISLEClassifier(n_estimators=n_trees, subsample=0.05, random_state=0, n_jobs=1).fit(
            X, y
        )
    )
    print(f"{'spambase':34s} {'error':>7s} {'log-loss':>8s} {'trees':>6s}")
    for name, model, size in (
        ("forest", forest, n_trees),
        ("forest + lasso", isle, isle.n_trees_),
        ("forest + lasso, one s.e.", sparser, sparser.n_trees_),
        ("5 % samples, 6 leaves", cheap, n_trees),
        ("5 % samples, 6 leaves + lasso", cheap_isle, cheap_isle.n_trees_),
        ("ISLE, 5 % samples, 6 leaves", boosted, boosted.n_trees_),
    ):
        p = model.predict_proba(X_new)[:, 1]
        wrong = np.mean(y_new != (p > 0.5))
        print(f"{name:34s} {wrong:7.4f} {log_loss(y_new, p):8.4f} {size:6d}")
    print(
        f"forest grown in {grown:.1f} s, its lasso {lasso:.1f} s; small trees {cheap_time:.1f} s; "
        f"ISLE with its lasso {boosted_time:.1f} s"
    )
    print(f"forest + lasso predicts {isle.speedup_:.1f} times faster than the forest")
    errors = [np.mean(y_new != (m.predict_proba(X_new)[:, 1] > 0.5)) for m in (forest, isle)]
    print("test error, forest over forest + lasso")
    print(f"ratio: {errors[0] / errors[1]:.3f}")
    print("trees, forest over forest + lasso")
    print(f"ratio: {n_trees / isle.n_trees_:.1f}")
    print("time to grow, forest over 5 % samples of 6 leaves")
    print(f"ratio: {grown / cheap_time:.1f}")


def simulated(n, rng):
    """10 · prod of five exp(−2 x²) + sum of 30 linear terms; 65 columns of noise."""
    X = rng.random((n, 100))
    f = 10 * np.exp(-2 * X[:, :5] ** 2).prod(axis=1) + X[:, 5:35].sum(axis=1)
    return X, f


def figure(quick):
    n_trees, repeats = (1000, 1) if quick else (2500, 2)
    errors = {}
    for repeat in range(repeats):
        rng = np.random.default_rng(repeat)
        X, f = simulated(1000, rng)
        y = f + rng.normal(scale=1.3, size=1000)
        X_new, f_new = simulated(2000, rng)
        common = {"num_leaves": 6, "min_child_samples": 5, "verbose": -1, "n_jobs": 1}

        def boosting(share, common=common, repeat=repeat, X=X, y=y):
            return LGBMRegressor(
                n_estimators=n_trees,
                learning_rate=0.01,
                subsample=share,
                subsample_freq=int(share < 1),
                random_state=repeat,
                **common,
            ).fit(X, y)

        full, part = boosting(1.0), boosting(0.1)
        models = {
            "boosting": full,
            "boosting + lasso": ISLERegressor.from_fitted(full, random_state=0).fit(X, y),
            "boosting, 10 % samples": part,
            "boosting, 10 % samples + lasso": ISLERegressor.from_fitted(part, random_state=0).fit(
                X, y
            ),
            "forest": RandomForestRegressor(
                min(n_trees, 300), max_features=33, random_state=repeat
            ).fit(X, y),
        }
        for name, model in models.items():
            error = np.mean((f_new - model.predict(X_new)) ** 2)
            errors.setdefault(name, []).append(error)
    print("figure 16.8: mean squared error to the true function")
    for name, found in errors.items():
        print(f"{name:34s} {np.mean(found):7.4f}")
    means = {name: np.mean(found) for name, found in errors.items()}
    print("boosting over boosting on samples")
    print(f"ratio: {means['boosting'] / means['boosting, 10 % samples']:.3f}")
    print("forest over boosting on samples + lasso")
    print(f"ratio: {means['forest'] / means['boosting, 10 % samples + lasso']:.3f}")


if __name__ == "__main__":
    parts = {"spambase": spambase, "figure": figure}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=[*parts, "all"], nargs="?", default="all")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    for part, run in parts.items():
        if arguments.part in {part, "all"}:
            run(arguments.quick)
