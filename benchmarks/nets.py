"""Networks of all nodes at once: the same, quicker, and worth having?

Parts (``--parts``, all by default; those that need a graphics card say so and are skipped):

- ``agree``: networks trained as one tensor against one by one in double precision (1e-8 after 20
  steps); one seed gives the same bits twice.
- ``time``: the 15 networks of K = 5 against one by one. Processor, two cores: 1,000 rows x 20
  columns, at most 60 s and at least 2 times as quick. Graphics card: 20,000 x 50, at most 2.5 times
  the time of one network of all rows, and one by one at least 6 times slower.
- ``accuracy``: ten tables that no setting was chosen on, 70/30, at most 10,000 training rows:
  against scikit-learn's MLP (best of 8 settings by cross-validation; better on at least 9) and
  LightGBM's defaults (on at least 6). Losses as in ``accuracy.py``.
- ``auto``: AutoStack with and without networks, eight tables, 30 s each, on a graphics card: lower
  on at least six, never more than 1 % higher.

Run: ``benchmarks/nets.py [--parts agree time] [--jobs 2] [--sets a b ...]``.
"""

import argparse
import time
import warnings
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any
from unittest import mock

import numpy as np
import torch
from accuracy import Problem, load
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import make_friedman1
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from foldwise import (
    AutoStackClassifier,
    AutoStackRegressor,
    NetClassifier,
    NetRegressor,
    TableEncoder,
    column_kinds,
)
from foldwise.auto.portfolio import members
from foldwise.learners import NodeTask, TrainingData, fit_at_node, fit_nodes
from foldwise.learners.general import Assignment
from foldwise.nets.fused import fused_layer
from foldwise.nets.network import Shape, bent_by
from foldwise.nets.train import NodeRows, Recipe, train

HAS_CARD = torch.cuda.is_available()
SHOWN = (
    "diabetes_progression", "credit_g", "communities_crime", "ames_housing", "spambase",
    "online_shoppers", "letter", "bike_sharing_hour", "diamonds", "electricity",
)  # fmt: skip
IN_STACKS = (
    "credit_g", "ames_housing", "spambase", "online_shoppers", "letter", "bike_sharing_hour",
    "diamonds", "electricity",
)  # fmt: skip
MOST_ROWS = 10_000
MLP_GRID = {
    "net__hidden_layer_sizes": [(100,), (128, 64)],
    "net__alpha": [1e-4, 1e-1],
    "net__learning_rate_init": [1e-3, 5e-3],
}


def lattice(n_rows: int, n_folds: int = 5) -> list[NodeTask]:
    """Return the nodes of one and two left-out folds."""
    folds = [test for _, test in KFold(n_folds, shuffle=True, random_state=0).split(range(n_rows))]
    every = np.arange(n_rows)
    left_out = [{i, j} for i, j in product(range(n_folds), repeat=2) if i <= j]
    tests = [np.concatenate([folds[i] for i in sorted(which)]) for which in left_out]
    return [NodeTask(np.setdiff1d(every, t), t, seed) for seed, t in enumerate(tests)]


def seconds_of(work: Any) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def agree() -> None:
    rng = np.random.default_rng(0)

    def rows(n: int) -> tuple[Any, Any, Any]:
        x = rng.standard_normal((n, 8))
        return x, np.sin(x[:, :1]) + x[:, 1:2], np.ones(n)

    nodes = [NodeRows(*rows(200 + 9 * i), *rows(30), seed=i) for i in range(15)]
    shape = Shape(6, 2, 1, n_members=4, width=32, n_layers=2, n_frequencies=8)
    recipe = Recipe(shape, False, 4, 5, None, 2e-3, 0.02, 0.1, "float64")
    for device in ["cpu", *(["cuda"] if HAS_CARD else [])]:
        together = train(torch, nodes, recipe, device)
        alone = [train(torch, [node], recipe, device)[0] for node in nodes]
        worst = max(
            float(np.abs(a.weights[name] - b.weights[name]).max())
            for a, b in zip(together, alone, strict=True)
            for name in a.weights
        )
        print(f"agree: {device}: 15 nodes, 20 steps, largest difference {worst:.1e} (bar 1e-8)")
        single = replace(recipe, dtype="float32", epochs=20)
        first, second = (train(torch, nodes, single, device) for _ in range(2))
        same = all(
            np.array_equal(a.weights[name], b.weights[name])
            for a, b in zip(first, second, strict=True)
            for name in a.weights
        )
        print(f"agree: {device}: one seed, same bits twice: {same}")
    if HAS_CARD:
        agree_fused()


def agree_fused() -> None:
    """Compare a layer in one pass, and its slopes, with torch's own, in double precision."""
    drawn = torch.randint(0, 256, (3, 40, 16), device="cuda").double()
    chances = (drawn, torch.tensor([64.0]).cuda().double(), torch.tensor([1.5]).cuda().double())
    asked = [torch.randn(3, n, 16).cuda().double().requires_grad_() for n in (40, 1, 1)]
    direction = torch.randn(3, 40, 16).cuda().double()

    def plain(product: Any, bias: Any, bend: Any) -> Any:
        hidden = bent_by(torch.nn.functional.silu)(product, bias, bend, 0)
        return hidden * (drawn >= 64) * 1.5

    def answers(layer: Any) -> list[Any]:
        said = layer(*asked)
        return [said.detach(), *torch.autograd.grad((said * direction).sum(), asked)]

    fused = answers(lambda *line: fused_layer(torch)(*line, *chances))
    worst = max(float((a - b).abs().max()) for a, b in zip(fused, answers(plain), strict=True))
    print(f"agree: cuda: a layer in one pass, largest difference {worst:.1e} (bar 1e-8)")


def timed(device: str, n_rows: int, n_columns: int, epochs: int | None) -> None:
    X, y = make_friedman1(n_rows, n_columns, noise=1.0, random_state=0)
    data, tasks = TrainingData(X, y), lattice(n_rows)
    # No early stopping: all train as long, so that times can be compared.
    net = NetRegressor(device=device, epochs=epochs, n_iter_no_change=None)
    NetRegressor(device=device, epochs=2).fit(X, y)
    whole = NodeTask(np.arange(n_rows), tasks[0].test, 0)

    def alone(task: NodeTask) -> Any:
        return fit_at_node([Assignment(net, "predict", task.seed)], data, task)

    one = seconds_of(lambda: alone(whole))
    together: list[Any] = []
    all_nodes = seconds_of(lambda: together.extend(fit_nodes(net, data, tasks)))
    separate: list[Any] = []
    one_by_one = seconds_of(lambda: separate.extend(alone(task)[0] for task in tasks))
    best = [fit.model.best_epoch_ for fit in together]
    other = [fit.model.best_epoch_ for fit in separate]
    losses = [
        np.mean([np.mean((f.predictions[:, 0] - y[t.test]) ** 2) for f, t in pairs])
        for pairs in (zip(together, tasks, strict=True), zip(separate, tasks, strict=True))
    ]
    print(
        f"time: {device}, {n_rows} x {n_columns}: one {one:.1f} s, 15 together {all_nodes:.1f} s "
        f"({all_nodes / one:.2f} times one), one by one {one_by_one:.1f} s\n"
        f"time: {device}: same best epoch at {np.mean(np.equal(best, other)):.0%} of the nodes, "
        f"loss together / one by one {losses[0] / losses[1]:.4f}\n"
        f"ratio: {one_by_one / all_nodes:.2f}"
    )


def pipelines(problem: Problem, jobs: int) -> dict[str, Any]:
    """Return a network, the best MLP and LightGBM, each behind an encoder."""
    regression = problem.task == "regression"
    kinds = column_kinds(problem.X)

    def behind(model: Any, **how: str) -> Pipeline:
        task = "regression" if regression else "classification"
        return Pipeline([("table", TableEncoder(kinds, task=task, **how)), ("net", model)])

    net = NetRegressor(random_state=0) if regression else NetClassifier(random_state=0)
    mlp = (MLPRegressor if regression else MLPClassifier)(early_stopping=True, random_state=0)
    if regression:
        mlp = TransformedTargetRegressor(mlp, transformer=StandardScaler())
    boosted = (LGBMRegressor if regression else LGBMClassifier)(verbosity=-1, random_state=0)
    grid = {k.replace("net__", "net__regressor__") if regression else k: v
            for k, v in MLP_GRID.items()}  # fmt: skip
    scoring = "neg_root_mean_squared_error" if regression else "neg_log_loss"
    one_hot = {"numbers": "impute", "categories": "onehot", "scale": "standard"}
    return {
        "net": behind(net, numbers="keep", categories="onehot"),
        "mlp": GridSearchCV(behind(mlp, **one_hot), grid, cv=3, scoring=scoring, n_jobs=jobs),
        "lightgbm": behind(boosted, numbers="keep", categories="keep"),
    }


def test_loss(problem: Problem, model: Any) -> float:
    ask = model.predict if problem.task == "regression" else model.predict_proba
    return problem.loss(problem.evaluate(ask(problem.X_test), problem.y_test).score)


def accuracy(sets: Any, jobs: int) -> None:
    wins = {"mlp": 0, "lightgbm": 0}
    for name in sets:
        problem = load(name, 0)
        problem = replace(problem, X=problem.X[:MOST_ROWS], y=problem.y[:MOST_ROWS])
        losses, took = {}, {}
        for key, model in pipelines(problem, jobs).items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                took[key] = seconds_of(partial(model.fit, problem.X, problem.y))
                losses[key] = test_loss(problem, model)
        for peer in wins:
            wins[peer] += losses["net"] < losses[peer]
        shown = ", ".join(f"{k} {v:.5g} ({took[k]:.1f} s)" for k, v in losses.items())
        print(f"accuracy: {name}: {shown}", flush=True)
    print(f"accuracy: better than the best MLP on {wins['mlp']} of {len(sets)} (bar 9 of 10), "
          f"than LightGBM on {wins['lightgbm']} (bar 6 of 10)")  # fmt: skip


def auto(sets: Any, jobs: int, budget: float) -> None:
    lower, worst = 0, -np.inf
    for name in sets:
        problem, losses, took = load(name, 0), {}, {}
        kind = AutoStackRegressor if problem.task == "regression" else AutoStackClassifier
        for nets in (True, False):
            kept = members.REGRESSORS, members.CLASSIFIERS
            if not nets:
                kept = tuple(tuple(m for m in each if m.package != "torch") for each in kept)
            model = kind(time_budget=budget, metric=problem.metric, n_jobs=jobs, random_state=0)
            with (
                mock.patch.object(members, "REGRESSORS", kept[0]),
                mock.patch.object(members, "CLASSIFIERS", kept[1]),
                warnings.catch_warnings(),
            ):
                warnings.simplefilter("ignore")
                took[nets] = seconds_of(partial(model.fit, problem.X, problem.y))
            losses[nets] = test_loss(problem, model)
            if nets:
                board = model.leaderboard_
                print(board.to_string(max_colwidth=30), flush=True)
        change = losses[True] / losses[False] - 1
        lower, worst = lower + (change < 0), max(worst, change)
        print(f"auto: {name}: with {losses[True]:.5g} ({took[True]:.0f} s), without "
              f"{losses[False]:.5g} ({took[False]:.0f} s), {change:+.2%}", flush=True)  # fmt: skip
    print(f"auto: lower on {lower} of {len(sets)} (bar 6 of 8), at worst {worst:+.2%} (bar +1 %)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--parts", nargs="+", default=["agree", "time", "accuracy", "auto"])
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--budget", type=float, default=30.0)
    options = parser.parse_args()
    card = torch.cuda.get_device_name() if HAS_CARD else "no graphics card"
    print(f"torch {torch.__version__}, {card}", flush=True)
    if "agree" in options.parts:
        agree()
    if "time" in options.parts:
        timed("cpu", 1000, 20, None)
        if HAS_CARD:
            timed("cuda", 20_000, 50, 30)
        else:
            print("time: no graphics card: that part is skipped")
    if "accuracy" in options.parts:
        accuracy(options.sets or SHOWN, options.jobs)
    if "auto" in options.parts and HAS_CARD:
        auto(options.sets or IN_STACKS, options.jobs, options.budget)
    elif "auto" in options.parts:
        print("auto: no graphics card: skipped")


if __name__ == "__main__":
    main()
