"""RuleFit against imodels: test error, log-loss, exact rule texts, speed, and a large table.

Run ``python benchmarks/rules.py honesty``, ``linear``, ``accuracy``, ``speed``, ``scale`` or
``all``; ``--quick`` takes fewer rows, trees and seeds. ``honesty`` holds the scores RuleFit and
ISLE report about themselves against fresh rows, ``linear`` their losses against the lasso's on
the raw columns. imodels gets the same rows with categories as codes and medians for
missing values, since it takes neither.
"""

import argparse
import os
import resource
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import make_friedman1
from sklearn.metrics import log_loss, root_mean_squared_error
from sklearn.model_selection import train_test_split

from foldwise import ISLEClassifier, ISLERegressor, LassoPathClassifier, LassoPathRegressor
from foldwise.isle.data import new_table
from foldwise.rules import RuleFitClassifier, RuleFitRegressor, rule_query

DATA = Path(
    os.environ.get("FOLDWISE_DATA", Path(__file__).resolve().parents[1].parent / "shared" / "data")
)
REGRESSION = ["abalone", "auto_mpg", "california_housing", "concrete_strength", "ames_housing"]
BINARY = ["breast_cancer_wdbc", "credit_g", "spambase", "sick_thyroid", "online_shoppers"]


def table(name, most, seed=0):
    frame = pd.read_parquet(DATA / f"{name}.parquet")
    X, y = frame.drop(columns="target"), frame["target"]
    stratify = y if name in BINARY else None
    train = min(most, len(X) // 2)
    return train_test_split(
        X,
        y,
        train_size=train,
        test_size=min(3000, len(X) - train),
        random_state=seed,
        stratify=stratify,
    )


def plain(train, new):
    """Codes for categories and medians for missing values."""
    out = []
    for X in (train, new):
        columns = {}
        for name in X:
            column = X[name]
            if isinstance(column.dtype, pd.CategoricalDtype):
                column = column.cat.codes.astype(float).where(column.notna())
            columns[str(name).replace(" ", "_").replace("/", "_")] = column.astype(float)
        out.append(pd.DataFrame(columns, index=X.index))
    return [X.fillna(out[0].median()).to_numpy() for X in out]


def rules_exact(model, X):
    """Whether pandas, reading each rule on the raw table, selects the rows the model selects."""
    rows, index = new_table(model, X), X.reset_index(drop=True)
    for rule in model.model_.rules:
        selected = index.query(rule_query(rule, model.columns_)).index
        if not np.array_equal(np.isin(index.index, selected), rule.holds(rows)):
            return False
    return True


def simulated(name, seed):
    """Noise, or Friedman's first function with so much noise added."""
    if name == "noise":
        rng = np.random.default_rng(seed)
        return rng.normal(size=(5200, 10)), rng.normal(size=5200)
    return make_friedman1(5200, noise=float(name), random_state=seed)


def honesty(quick):
    seeds, worst = (5 if quick else 100), np.inf
    print(f"{'':28s} {'constant':>9s} {'fresh':>9s} {'own':>9s} {'own-fresh':>9s} {'+-':>7s} terms")
    for kind in (RuleFitRegressor, ISLERegressor):
        for name in ("noise", "1", "7"):
            own, fresh, constant, terms = [], [], [], []
            for seed in range(seeds):
                X, y = simulated(name, seed)
                model = kind(n_estimators=100 if quick else 500, random_state=seed)
                model.fit(X[:200], y[:200])
                own.append(-model.score_)
                fresh.append(np.mean((y[200:] - model.predict(X[200:])) ** 2))
                constant.append(np.mean((y[200:] - y[:200].mean()) ** 2))
                terms.append(len(model.rules_) if kind is RuleFitRegressor else model.n_trees_)
            apart = np.subtract(own, fresh)
            error = apart.std(ddof=1) / np.sqrt(seeds)
            print(
                f"{kind.__name__:20s} {name:7s} {np.mean(constant):9.3f} {np.mean(fresh):9.3f} "
                f"{np.mean(own):9.3f} {apart.mean():9.3f} {error:7.3f} {np.mean(terms):.0f}",
                flush=True,
            )
            worst = min(worst, (np.mean(own) + 2 * error) / np.mean(fresh))
    print("own loss and two Monte Carlo errors over the fresh loss, the most optimistic case")
    print(f"ratio: {worst:.3f}")


def linear(quick):
    ratios, seeds = [], 1 if quick else 5
    print(f"log-loss or RMSE, mean over {seeds} splits")
    for name in (REGRESSION + BINARY)[:: 5 if quick else 1]:
        classify = name in BINARY
        kinds = (
            (RuleFitClassifier, ISLEClassifier, LassoPathClassifier)
            if classify
            else (RuleFitRegressor, ISLERegressor, LassoPathRegressor)
        )
        losses = np.zeros(3)
        for seed in range(seeds):
            X, X_new, y, y_new = table(name, 300 if quick else 1000, seed)
            A, A_new = plain(X, X_new)
            for k, kind in enumerate(kinds):
                model = kind(random_state=seed).fit(A, y)
                losses[k] += (
                    log_loss(y_new, model.predict_proba(A_new))
                    if classify
                    else root_mean_squared_error(y_new, model.predict(A_new))
                ) / seeds
        print(
            f"{name:22s} RuleFit {losses[0]:9.4f} ISLE {losses[1]:9.4f} lasso {losses[2]:9.4f} "
            f"lasso / RuleFit {losses[2] / losses[0]:.3f} lasso / ISLE {losses[2] / losses[1]:.3f}",
            flush=True,
        )
        ratios.append(losses[2] / losses[0])
    better, worst = np.sum(np.array(ratios) > 1), min(ratios)
    print(f"RuleFit better on {better} of {len(ratios)} (bar 6 of 10), worst {worst:.3f} (bar .98)")
    print(f"ratio: {np.exp(np.mean(np.log(ratios))):.3f}")


def accuracy(quick):
    from imodels import RuleFitClassifier as TheirClassifier
    from imodels import RuleFitRegressor as TheirRegressor

    most, trees = (300, 50) if quick else (600, 100)
    won, won_log_loss, exact, ratios = 0, 0, 0, []
    print(f"{'data':22s} {'ours':>9s} {'imodels':>9s} {'terms':>6s} {'s':>6s} {'s theirs':>8s}")
    for name in REGRESSION + BINARY:
        X, X_new, y, y_new = table(name, most)
        A, A_new = plain(X, X_new)
        ours, theirs = (
            (RuleFitRegressor, TheirRegressor)
            if name in REGRESSION
            else (RuleFitClassifier, TheirClassifier)
        )
        started = time.perf_counter()
        model = ours(n_estimators=trees, random_state=0).fit(X, y)
        took = time.perf_counter() - started
        started = time.perf_counter()
        peer = theirs(n_estimators=trees, max_rules=100, random_state=0).fit(A, y.to_numpy())
        took_theirs = time.perf_counter() - started
        if name in REGRESSION:
            errors = [
                root_mean_squared_error(y_new, p)
                for p in (model.predict(X_new), peer.predict(A_new))
            ]
            won += errors[0] <= errors[1]
        else:
            p, q = model.predict_proba(X_new), np.clip(peer.predict_proba(A_new), 1e-6, 1 - 1e-6)
            errors = [log_loss(y_new, p), log_loss(y_new, q)]
            wrong = [np.mean(y_new != p.argmax(axis=1)), np.mean(y_new != q.argmax(axis=1))]
            won += wrong[0] <= wrong[1]
            won_log_loss += errors[0] < errors[1]
            print(f"{'':22s} {wrong[0]:9.4f} {wrong[1]:9.4f}  (share wrong)")
        exact += rules_exact(model, X_new)
        ratios.append(errors[1] / errors[0])
        print(
            f"{name:22s} {errors[0]:9.4f} {errors[1]:9.4f} {len(model.rules_):6d} "
            f"{took:6.1f} {took_theirs:8.1f}",
            flush=True,
        )
    print(f"test error no worse on {won} of 10, log-loss better on {won_log_loss} of {len(BINARY)}")
    print(f"rule texts select exactly the model's rows on {exact} of 10")
    print(f"ratio: {np.exp(np.mean(np.log(ratios))):.3f}")


def speed(quick):
    from imodels import RuleFitRegressor as TheirRegressor

    for n in (500,) if quick else (500, 2500):
        X, y = make_friedman1(n + 2000, n_features=10, noise=1.0, random_state=0)
        started = time.perf_counter()
        model = RuleFitRegressor(n_estimators=300, random_state=0).fit(X[:n], y[:n])
        took = time.perf_counter() - started
        started = time.perf_counter()
        peer = TheirRegressor(n_estimators=300, max_rules=200, random_state=0).fit(X[:n], y[:n])
        took_theirs = time.perf_counter() - started
        mse = [np.mean((y[n:] - m.predict(X[n:])) ** 2) for m in (model, peer)]
        print(
            f"n = {n}: ours {took:.2f} s, {len(model.rules_)} terms, test MSE {mse[0]:.3f}; "
            f"imodels {took_theirs:.2f} s, test MSE {mse[1]:.3f}"
        )
        print(f"ratio: {took_theirs / took:.1f}")


def scale(quick):
    n = 20_000 if quick else 100_000
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 50))
    y = 3 * (X[:, 0] > 0) * (X[:, 1] < 0.5) + X[:, 2] + np.sin(X[:, 3]) + rng.normal(size=n)
    started, busy = time.perf_counter(), time.process_time()
    model = RuleFitRegressor(n_estimators=500, n_jobs=2, random_state=0).fit(X, y)
    took, busy = time.perf_counter() - started, time.process_time() - busy
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"n = {n}, p = 50, 500 trees, {model.n_candidates_} candidates: {took:.1f} s, "
        f"{busy:.1f} s of one core"
    )
    print(f"{len(model.rules_)} terms; peak memory {memory:.2f} GB")
    print(f"ratio: {60 / took:.2f}")


if __name__ == "__main__":
    parts = {
        "honesty": honesty,
        "linear": linear,
        "accuracy": accuracy,
        "speed": speed,
        "scale": scale,
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=[*parts, "all"], nargs="?", default="all")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    for part, run in parts.items():
        if arguments.part in {part, "all"}:
            run(arguments.quick)
