"""RuleFit against imodels: test error, log-loss, exact rule texts, speed, and a large table.

Run ``python benchmarks/rules.py honesty``, ``linear``, ``accuracy``, ``speed``, ``scale`` or
``all``; ``--quick`` takes fewer rows, trees and seeds. ``honesty`` holds the scores RuleFit and
ISLE report about themselves against fresh rows, ``linear`` their losses against the lasso's and
logistic regression's on the raw columns (losses are kept in ``--file``, and only those that are
not there are measured). imodels gets the same rows with categories as codes and medians for
missing values, since it takes neither.
"""

import argparse
import json
import os
import resource
import time
import warnings
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import make_friedman1
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LassoCV, LogisticRegressionCV
from sklearn.metrics import log_loss, root_mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from foldwise import ISLEClassifier, ISLERegressor
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


def raw_columns(model):
    """Return a linear model on columns filled in and scaled, categories level by level."""
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    levels = OneHotEncoder(handle_unknown="ignore", max_categories=20, sparse_output=False)
    is_number = make_column_selector(dtype_include="number")
    is_level = make_column_selector(dtype_exclude="number")
    return make_pipeline(make_column_transformer((numbers, is_number), (levels, is_level)), model)


def rivals(classify, seed):
    plain = {"cv_score": False, "random_state": seed}
    if classify:
        line = LogisticRegressionCV(scoring="neg_log_loss", max_iter=1000)
        rules, trees = RuleFitClassifier(**plain), ISLEClassifier(**plain)
    else:
        line = LassoCV(max_iter=5000)
        rules, trees = RuleFitRegressor(**plain), ISLERegressor(**plain)
    return {"RuleFit": rules, "ISLE": trees, "linear": raw_columns(line)}


def linear(quick, file):
    """Hold RuleFit and ISLE against the lasso and logistic regression (ridge) on raw columns."""
    halves = 1 if quick else 3
    for name, seed in product(REGRESSION + BINARY, range(halves)):
        classify = name in BINARY
        X, X_new, y, y_new = table(name, 300 if quick else 600, seed)
        for kind, model in rivals(classify, seed).items():
            key = [name, seed, kind]
            if key in [found[:3] for found in kept(file)]:
                continue
            model.fit(X, y)
            p = model.predict_proba(X_new) if classify else model.predict(X_new)
            found = log_loss(y_new, p) if classify else root_mean_squared_error(y_new, p)
            with file.open("a") as lines:
                print(json.dumps([*key, float(found)]), file=lines)
    columns = ["table", "half", "model", "loss"]
    losses = pd.DataFrame(kept(file), columns=columns).pivot(
        index=columns[:2], columns="model", values="loss"
    )
    ratios = losses.div(losses.pop("linear"), axis=0)
    print("log-loss or RMSE over that of the linear model, each half")
    print(ratios.unstack().round(3).to_string())
    means = ratios.groupby("table", sort=False).mean()
    for model, ratio in means.items():
        better, within = (ratio < 1).sum(), (ratio <= 1.02).sum()
        print(f"{model}: better on {better} (bar 6), within 2 % on {within} of {len(ratio)} (all)")
        print(f"ratio: {1 / ratio.max():.3f}")


def kept(file):
    """Return the results there are: table, half, model, loss."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


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
        print(f"RuleFit, n = {n}, imodels' seconds over ours  ratio: {took_theirs / took:.1f}")


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
    print(f"RuleFit, n = {n}, 60 s over ours  ratio: {60 / took:.2f}")


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
    parser.add_argument("--file", type=Path, default=Path("rules_linear.jsonl"))
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    parts["linear"] = partial(linear, file=arguments.file)
    for part, run in parts.items():
        if arguments.part in {part, "all"}:
            run(arguments.quick)
