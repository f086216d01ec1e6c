"""How accurate is AutoStack for its time, and how far is its own estimate from the truth?

On real tables, 70/30 splits (``train_test_split(test_size=0.3, random_state=seed)``, stratified
for classes, at most 50,000 training rows), with the same time and cores:

- ``AutoStack(preset="balanced", time_budget=60)``
- AutoGluon ``best_quality`` with the same time limit, in an environment of its own
- scikit-learn's stack of ridge or logistic regression, forest and LightGBM
- LightGBM alone

Losses are RMSE, 1 - AUC for two classes and log-loss for more. For AutoStack and AutoGluon the
difference between their own estimate and the loss on the test rows is printed in standard
errors, sqrt(se² + se_test²): below -2 is optimistic.

Run: ``benchmarks/accuracy.py [--autogluon PYTHON] [--budget 60] [--sets a b ... | all] [--quick]``.
With ``--file results.csv`` every result is kept as it comes, and what is in the file is not done
again: a run that was cut continues. One AutoGluon of 60 s can stand against ours of 15 s: its own
budget is ``--autogluon-budget``.
With ``--orders orders.json``, written by ``portfolio.py --write``, AutoStack tries its members in
the order learned on the half of the tables that the one shown is not in; a kind of problem that
this half has not has the order of the members as they are listed.
The published losses of AutoGluon (split seed 0) stand beside where they are known. The rule of
their split is not recorded, so that they are a rough reference; ``--autogluon`` is the comparison.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import (
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from foldwise import AutoStackClassifier, AutoStackRegressor
from foldwise.auto.portfolio import members
from foldwise.scores.metric import Evaluation, Response, Target, as_metric

DATA = Path(
    os.environ.get("FOLDWISE_DATA")
    or Path(__file__).resolve().parents[1].parent / "shared" / "data"
)
PUBLISHED = {
    "concrete_strength": 3.936,
    "credit_g": 0.1914,
    "vehicle": 0.3971,
    "ames_housing": 28_973.0,
    "abalone": 2.159,
    "spambase": 0.00957,
    "satimage": 0.2171,
    "california_housing": 46_941.0,
}
QUICK = ("concrete_strength", "credit_g", "vehicle")
MOST_ROWS = 50_000
AUTOGLUON = Path(__file__).with_name("autogluon_peer.py")


@dataclass(frozen=True)
class Problem:
    """One table, split."""

    name: str
    task: str
    X: pd.DataFrame
    y: Any
    X_test: pd.DataFrame
    y_test: Any

    @property
    def metric(self) -> str:
        """The metric's short name."""
        return {"regression": "rmse", "binary": "roc_auc", "multiclass": "log_loss"}[self.task]

    def evaluate(self, predictions: Any, y: Any) -> Evaluation:
        """Return the score of predictions, greater is better, with its standard error."""
        scoring = {"rmse": "neg_root_mean_squared_error", "roc_auc": "roc_auc"}
        metric = as_metric(
            scoring.get(self.metric, "neg_log_loss"),
            owner="accuracy",
            classify=self.task != "regression",
            has_probabilities=True,
        )
        values = np.asarray(predictions, dtype=float).reshape(len(y), -1)
        kind = "value" if self.task == "regression" else "probability"
        labels = None if self.task == "regression" else np.arange(values.shape[1])
        target = Target(np.asarray(y), labels, None, np.zeros(len(y), dtype=np.intp))
        return metric.evaluate(Response(kind, values), target)

    def loss(self, score: float) -> float:
        """Return a score as a loss."""
        return 1.0 - score if self.metric == "roc_auc" else -score


@dataclass(frozen=True)
class Result:
    """What one method did on one problem."""

    loss: float
    seconds: float
    surprise: float = float("nan")
    predicting: float = float("nan")  # seconds for the test rows


def load(name: str, seed: int) -> Problem:
    """Return a table, split 70/30."""
    tasks = pd.read_csv(DATA / "catalogue.csv").set_index("name")["task"]
    frame = pd.read_parquet(DATA / f"{name}.parquet")
    task, y = str(tasks[name]), frame.pop("target").to_numpy()
    y = y if task == "regression" else y.astype(int)
    stratify = None if task == "regression" else y
    train, test = train_test_split(
        np.arange(len(y)), test_size=0.3, random_state=seed, stratify=stratify
    )
    train = train[:MOST_ROWS]
    X = frame.reset_index(drop=True)
    return Problem(
        name,
        task,
        X.iloc[train].reset_index(drop=True),
        y[train],
        X.iloc[test].reset_index(drop=True),
        y[test],
    )


def judged(problem: Problem, predictions: Any, seconds: float, own: tuple[float, float]) -> Result:
    """Return the test loss, and by how many standard errors the own estimate differs from it."""
    test = problem.evaluate(predictions, problem.y_test)
    score, error = own
    difference = problem.loss(score) - problem.loss(test.score)
    return Result(
        problem.loss(test.score), seconds, difference / np.hypot(error, test.standard_error)
    )


def foldwise(problem: Problem, budget: float, jobs: int) -> Result:
    """Run AutoStack."""
    kind = AutoStackRegressor if problem.task == "regression" else AutoStackClassifier
    model = kind("balanced", time_budget=budget, metric=problem.metric, n_jobs=jobs, random_state=0)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(problem.X, problem.y)
    seconds = time.perf_counter() - start
    ask = model.predict if problem.task == "regression" else model.predict_proba
    start = time.perf_counter()
    predictions = ask(problem.X_test)
    predicting = time.perf_counter() - start
    result = judged(problem, predictions, seconds, (model.score_, model.score_se_))
    return replace(result, predicting=predicting)


def use_order(path: Path, name: str) -> None:
    """Let AutoStack try its members in the order learned without a table's half."""
    kept = json.loads(path.read_text())
    (other,) = (kept["orders"][k] for k, half in enumerate(kept["halves"]) if name not in half)
    for kind in members.ORDER:
        few, many = (other.get(f"{kind} {size}", "") for size in ("small", "large"))
        members.ORDER[kind] = (few, many, many)


def autogluon(problem: Problem, budget: float, jobs: int, python: str) -> Result:
    """Run AutoGluon in its own environment; tables travel as CSV with their dtypes beside."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        problem.X.assign(target=problem.y).to_csv(folder / "train.csv", index=False)
        problem.X_test.to_csv(folder / "test.csv", index=False)
        kinds = {c: str(t) for c, t in problem.X.dtypes.items()}
        order = {"metric": problem.metric, "task": problem.task, "kinds": kinds}
        order |= {"budget": budget, "jobs": jobs}
        (folder / "order.json").write_text(json.dumps(order))
        done = subprocess.run(
            [python, str(AUTOGLUON), str(folder)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            print(done.stderr[-2000:])
            return Result(float("nan"), float("nan"))
        told = json.loads((folder / "told.json").read_text())
        predictions = np.load(folder / "test.npy")
        oof = np.load(folder / "oof.npy")
    known = np.isfinite(oof.reshape(len(oof), -1)).all(axis=1)
    error = problem.evaluate(oof[known], problem.y[known]).standard_error
    result = judged(problem, predictions, told["seconds"], (told["score"], error))
    return replace(result, predicting=told["predicting"])


def scikit_learns_stack(problem: Problem, jobs: int) -> Result:
    """Run scikit-learn's stack of three learners on plain encodings."""
    number = make_column_selector(dtype_include="number")
    word = make_column_selector(dtype_exclude="number")
    dense = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), number),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), word),
    )
    codes = make_column_transformer(
        (SimpleImputer(), number),
        (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), word),
    )
    if problem.task == "regression":
        linear, forest, boosted = RidgeCV(), RandomForestRegressor(200), LGBMRegressor(verbosity=-1)
        kind: Any = StackingRegressor
    else:
        linear, forest = LogisticRegression(max_iter=1000), RandomForestClassifier(200)
        boosted, kind = LGBMClassifier(verbosity=-1), StackingClassifier
    members = [
        ("linear", make_pipeline(dense, linear)),
        ("forest", make_pipeline(codes, forest.set_params(n_jobs=jobs, random_state=0))),
        ("boosted", boosted.set_params(n_jobs=jobs, random_state=0)),
    ]
    return alone(problem, kind(members))


def alone(problem: Problem, model: Any) -> Result:
    """Fit any model; it has no estimate of its own."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(problem.X, problem.y)
        seconds = time.perf_counter() - start
        ask = model.predict if problem.task == "regression" else model.predict_proba
        score = problem.evaluate(ask(problem.X_test), problem.y_test).score
    return Result(problem.loss(score), seconds)


def lightgbm(problem: Problem, jobs: int) -> Result:
    """Run LightGBM with its defaults."""
    kind = LGBMRegressor if problem.task == "regression" else LGBMClassifier
    return alone(problem, kind(verbosity=-1, n_jobs=jobs, random_state=0))


def methods(options: argparse.Namespace) -> dict[str, Callable[[Problem], Result]]:
    """Return every method that is to be run."""
    jobs, budget = options.jobs, options.budget
    theirs = options.autogluon_budget or budget
    known: dict[str, Callable[[Problem], Result]] = {
        "foldwise": lambda problem: foldwise(problem, budget, jobs)
    }
    if options.autogluon:
        known["AutoGluon"] = lambda problem: autogluon(problem, theirs, jobs, options.autogluon)
    if not options.only:
        known["sklearn stack"] = lambda problem: scikit_learns_stack(problem, jobs)
        known["LightGBM"] = lambda problem: lightgbm(problem, jobs)
    return known


def tried(run: Callable[[Problem], Result], problem: Problem) -> Result:
    """Return a result, or none where the method fails: the other tables go on."""
    try:
        return run(problem)
    except Exception as error:
        print(f"{problem.name}: {type(error).__name__}: {error}", flush=True)
        return Result(float("nan"), float("nan"))


def tell(record: dict[str, Any]) -> None:
    """Print one result."""
    print(
        f"{record['set']:22s} {record['seed']}  {record['method']:14s} {record['loss']:12.6g}  "
        f"{record['seconds']:6.1f} s  {record['surprise']:+.2f}  "
        f"predicting {record['predicting']:.2f} s",
        flush=True,
    )


def summarise(table: pd.DataFrame) -> None:
    """Print how often foldwise is no worse, by how much, and how far estimates are off."""
    losses = table.pivot_table(index=["set", "seed"], columns="method", values="loss")
    for peer in [name for name in losses.columns if name != "foldwise"]:
        both = losses[["foldwise", peer]].dropna()
        ratios = both[peer] / both["foldwise"]
        share = float((ratios >= 1).mean())
        for (name, seed), each in ratios.sort_values(ascending=False).items():
            print(f"{name}, split {seed}: {peer}'s loss over ours  ratio: {each:.3f}")
        print(f"no worse than {peer} on {share:.0%} of {len(both)} sets")
        print(f"geometric mean  ratio: {float(np.exp(np.log(ratios).mean())):.4f}")
    times = table.pivot_table(index=["set", "seed"], columns="method", values="predicting")
    for peer in [name for name in times.columns if name != "foldwise"]:
        both = times[["foldwise", peer]].dropna()
        quicker = float((both["foldwise"] <= both[peer]).mean())
        print(f"prediction no slower than {peer}'s on {quicker:.0%} of {len(both)} sets")
    surprises = table.dropna(subset="surprise").groupby("method")["surprise"]
    for method, values in surprises:
        within = float((values.abs() <= 2).mean())
        print(
            f"{method}: own estimate within 2 standard errors on {within:.0%} of {len(values)} "
            f"sets; mean difference {values.mean():+.2f} (below 0 is optimistic)"
        )


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", nargs="+", default=list(PUBLISHED))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--budget", type=float, default=60.0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--autogluon", help="the Python of an environment with AutoGluon")
    parser.add_argument("--autogluon-budget", type=float, help="its seconds, if not the same")
    parser.add_argument("--file", type=Path, help="CSV that keeps results and is continued")
    parser.add_argument("--orders", type=Path, help="JSON of orders of members, by halves")
    parser.add_argument("--only", action="store_true", help="leave scikit-learn and LightGBM out")
    parser.add_argument("--quick", action="store_true", help="three small sets, 15 seconds each")
    options = parser.parse_args()
    if options.quick:
        options.sets, options.budget = list(QUICK), min(options.budget, 15.0)
    if options.sets == ["all"]:
        options.sets = list(pd.read_csv(DATA / "catalogue.csv")["name"])
    kept = options.file is not None and options.file.exists()
    records = pd.read_csv(options.file).to_dict("records") if kept else []
    done = {(record["set"], record["seed"], record["method"]) for record in records}
    for record in records:
        tell(record)
    for name in options.sets:
        for seed in options.seeds:
            problem = load(name, seed)
            if options.orders is not None:
                use_order(options.orders, name)
            runs = methods(options)
            if seed == 0 and name in PUBLISHED:
                runs["published"] = lambda p: Result(PUBLISHED[p.name], float("nan"))
            for method in [m for m in runs if (name, seed, m) not in done]:
                result = tried(runs[method], problem)
                records.append({"set": name, "seed": seed, "method": method, **vars(result)})
                if options.file is not None:
                    pd.DataFrame(records).to_csv(options.file, index=False)
                tell(records[-1])
    summarise(pd.DataFrame(records))


if __name__ == "__main__":
    main()
