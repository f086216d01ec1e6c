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
from foldwise.scores.metric import Target
from foldwise.stack.stackers.candidates import respond

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


def plain_selection(predictions, loss, n_steps: int):
    """Select as AutoGluon and auto-sklearn do: form each mean anew, ask for its loss."""
    order, total = [], np.zeros_like(predictions[0])
    mean = np.empty_like(total)
    for step in range(n_steps):
        scores = np.empty(len(predictions))
        for j, prediction in enumerate(predictions):
            np.add(total, prediction, out=mean)
            np.multiply(mean, 1.0 / (step + 1), out=mean)
            scores[j] = loss(mean)
        best = int(np.argmin(scores))
        order.append(best)
        total += predictions[best]
    return order


def greedy(quick: bool) -> None:
    n, n_models, n_steps = (20_000, 100, 50) if quick else (100_000, 100, 50)
    rng = np.random.default_rng(0)
    shared = rng.normal(size=n)
    quality = rng.uniform(0.3, 1.5, n_models)
    logits = shared[:, None] + quality * rng.normal(size=(n, n_models))
    y = shared + 0.5 * rng.normal(size=n)
    codes = (rng.uniform(size=n) < 1 / (1 + np.exp(-2 * shared))).astype(np.intp)
    second = 1 / (1 + np.exp(-logits))
    chances = np.stack([1 - second, second], axis=2)
    rows = np.arange(n)

    def logarithmic(mean):
        return -np.log(np.clip(mean[rows, codes], 1e-15, 1 - 1e-15)).mean()

    print(
        f"greedy selection, {n_steps} steps, {n_models} models, {n:,} rows; "
        "seconds of processor, one thread"
    )
    for loss, ours, target, theirs, theirs_loss in (
        ("squared", logits, y, logits, lambda mean: np.mean((mean - y) ** 2)),
        ("log", chances, codes, chances, logarithmic),
    ):
        start = time.process_time()
        path = greedy_selection(ours, target, loss=loss, n_steps=n_steps)
        fast = time.process_time() - start
        each = [np.ascontiguousarray(theirs[:, m]) for m in range(n_models)]
        start = time.process_time()
        order = plain_selection(each, theirs_loss, n_steps)
        slow = time.process_time() - start
        same = path.order.tolist() == order
        print(f"{loss:8s} ours {fast:7.2f}  plain {slow:7.2f}  same picks: {same}")
        print(f"greedy, {loss} (goal 5)  ratio: {slow / fast:.1f}")


def adult(quick: bool) -> None:
    task, X, y, _, _ = read("adult", 5_000 if quick else 48_842, n_test=100)
    stack = StackingClassifier(learners(task), "mean", random_state=0)
    start = time.process_time()
    stack.fit(X, y)
    fitting = time.process_time() - start
    again = time.process_time()
    whole = stack.restack(None)
    baking = time.process_time() - again
    plain = time.process_time()
    stack.restack("mean")
    plain = time.process_time() - plain
    print(f"adult, {len(y):,} rows, 5 learners, 75 fits: {fitting:.1f} s of processor")
    name = type(whole.stacker_).__name__
    print(f"the whole default bake-off with its judging: {baking:.2f} s (deploys {name})")
    print(f"of it the leaderboard and judging of a plain mean alone: {plain:.2f} s")
    print(f"share of the fitting time: {100 * baking / fitting:.1f} %")
    print(f"bake-off against 5 % of the fits  ratio: {0.05 * fitting / baking:.2f}")


def data(quick: bool, cache: Path | None) -> None:
    sizes = (400,) if quick else (400, 1000)
    rows = pd.read_csv(DATA / "catalogue.csv").set_index("name")["n_rows"]
    worse = {"settled on": [], "check": []}
    for title, names in (("settled on", CHOSEN_ON), ("check", CHECKED_ON)):
        print(
            "\nloss on test rows divided by that of the learner picked by cross-validation: "
            + title
        )
        heads = ("default", "simplex", "linear", "mean", "best seen")
        print(
            f"{'':22s}{'rows':>6s}{'honest':>9s}"
            + "".join(f"{h:>10s}" for h in heads)
            + "  deployed"
        )
        for n in sizes:
            for name in names[:4] if quick else names:
                # A set whose rows were all used at the smaller size would only repeat itself.
                if n == min(sizes) or 0.7 * rows[name] > min(sizes):
                    worse[title].append(one_set(name, n, cache))
        ratios = np.array(worse[title])
        print(
            f"default: geometric mean {np.exp(np.log(ratios).mean()):.3f}, "
            f"worst {ratios.max():.3f}, "
            f"worse by more than 1 % in {(ratios > 1.01).sum()} of {len(ratios)}"
        )
    ratios = np.concatenate(list(worse.values()))
    print(f"default against the best learner  ratio: {1 / np.exp(np.log(ratios).mean()):.3f}")


def one_set(name: str, n: int, cache: Path | None) -> float:
    stack, features, z, _ = fitted(name, n, cache)
    linear = "ridge" if stack.deals_[0].top.problem.labels is None else "pool"
    tops = {"best": "best", "simplex": "simplex", "linear": linear, "mean": "mean", "default": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = losses(stack, features, z, tops)
        deployed = stack.restack(None)
    base = found["best"][1]
    names = [entry.name for entry in stack.deals_[0].top.entries]
    alone = losses(
        stack, features, z,
        {m: ("weighted_mean", {"weights": [np.eye(len(names))[i]]}) for i, m in enumerate(names)},
    )  # fmt: skip
    shown = [found[h][1] / base for h in ("default", "simplex", "linear", "mean")]
    shown.append(min(test for _, test in alone.values()) / base)
    honest = found["default"][0] / found["best"][0]
    print(
        f"{name:22s}{n:6d}{honest:9.3f}" + "".join(f"{r:10.3f}" for r in shown)
        + f"  {type(deployed.stacker_).__name__} {getattr(deployed.stacker_, 'rule', '')}",
        flush=True,
    )  # fmt: skip
    return shown[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=["data", "greedy", "adult"])
    parser.add_argument("--cache", type=Path)
    options = parser.parse_args()
    if options.cache is not None:
        options.cache.mkdir(parents=True, exist_ok=True)
    with threadpool_limits(1):
        if options.only in (None, "greedy"):
            greedy(options.quick)
        if options.only in (None, "adult"):
            adult(options.quick)
        if options.only in (None, "data"):
            data(options.quick, options.cache)


if __name__ == "__main__":
    main()
