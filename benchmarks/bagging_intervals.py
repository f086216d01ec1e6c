"""What bagging says of itself: do its 90 % intervals hold, is its out-of-bag score honest?

Intervals are of the expected prediction, the mean over the training sets; the share that held is
over points and sets. Honesty is the mean of (out-of-bag loss − loss on fresh rows) over the seeds,
as a share of the fresh loss, with its Monte Carlo error.
"""

import argparse

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

from foldwise import BaggingClassifier, BaggingRegressor

LEVEL, GOAL = 0.9, (0.88, 0.98)
BAGS = {
    "forest of 100": (200, 1.0, {"n_estimators": 100, "split_features": 0.33}),
    "forest of 300": (200, 1.0, {"n_estimators": 300, "split_features": 0.33}),
    "trees, noise 7": (200, 7.0, {"n_estimators": 100}),
    "half the rows": (200, 1.0, {"sampling": "subsample", "max_samples": 0.5}),
    "depth 3": (100, 1.0, {"estimator": DecisionTreeRegressor(max_depth=3)}),
    "ridge": (100, 1.0, {"estimator": Ridge()}),
}
TABLES = {"noise": (None, 1.0), "friedman 1": (1, 1.0), "friedman 1, noise 7": (1, 7.0)}


def rows(n: int, noise: float, seed: int, signal: int | None = 1) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_friedman1(n, noise=noise, random_state=seed)
    return X, y if signal else np.random.default_rng(seed).normal(size=n)


def held(n: int, noise: float, options: dict, n_sets: int) -> float:
    X_new, _ = rows(50, 0.0, 10_000)
    ends, centres = [], []
    for seed in range(n_sets):
        model = BaggingRegressor(random_state=seed, **options).fit(*rows(n, noise, seed))
        ends.append(model.confidence_interval(X_new, LEVEL))
        centres.append(model.predict(X_new))
    expected, ends = np.mean(centres, axis=0)[:, None], np.array(ends)
    return float(np.mean((ends[..., :1] <= expected) & (expected <= ends[..., 1:])))


def optimism(table: str, classes: bool, n_seeds: int) -> tuple[float, float]:
    """Return the mean of (own − fresh) / mean of fresh, and its Monte Carlo error."""
    signal, noise = TABLES[table]
    own, fresh = [], []
    for seed in range(n_seeds):
        X, y = rows(150, noise, seed, signal)
        X_new, y_new = rows(2000, noise, 5000 + seed, signal)
        if classes:
            cut = 0.0 if signal is None else 14.4
            model = BaggingClassifier(oob_score=True, random_state=seed).fit(X, y > cut)
            own.append(1 - model.oob_score_)
            fresh.append(1 - model.score(X_new, y_new > cut))
        else:
            model = BaggingRegressor(oob_score=True, random_state=seed).fit(X, y)
            own.append(np.mean((y - model.oob_prediction_) ** 2))
            fresh.append(np.mean((y_new - model.predict(X_new)) ** 2))
    away = np.array(own) - fresh
    mean = np.mean(fresh)
    return float(away.mean() / mean), float(away.std(ddof=1) / np.sqrt(n_seeds) / mean)


def main(quick: bool) -> None:
    kept = 0
    for name, (n, noise, options) in BAGS.items():
        share = held(n, noise, options, 20 if quick else 100)
        kept += GOAL[0] <= share <= GOAL[1]
        print(f"{name:24s}{share:8.3f} of {LEVEL:.0%} intervals held", flush=True)
    for table in TABLES:
        for classes in (False, True):
            mean, error = optimism(table, classes, 20 if quick else 40)
            kept += mean >= -0.02 - 2 * error
            kind = "classes" if classes else "numbers"
            print(f"{table:24s}{kind:8s}{mean:+8.3f} ± {error:.3f} own − fresh", flush=True)
    print(f"ratio: {kept / (len(BAGS) + 2 * len(TABLES)):.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    main(parser.parse_args().quick)
