"""Learn the order of AutoStack's members again: which lower the stack's loss, for what time.

On the training parts of real tables (70 %, never a test row), at several sizes, every member is
fitted in three folds; its out-of-fold predictions and seconds are kept in a folder. From these,
for each kind of task and size, members are put in order one after the other: next comes the one
with the largest gain for its time, the gain being the mean fall of the log of the stack's loss
(squared error, or log-loss) over the tables, with convex weights fitted on other folds.

python benchmarks/portfolio.py FOLDER [--sets a b ...] [--sizes 1000 8000] [--learn]
    [--cross] [--write orders.json]

``--learn`` only reads the folder. ``--cross``: on two halves of the tables. ``--write``: keeps what
each half has learned, so that ``accuracy.py --orders`` can show it on the tables of the other.
"""

import argparse
import itertools
import json
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from accuracy import DATA, load
from joblib import Parallel, delayed
from scipy.optimize import nnls

from foldwise.auto.portfolio import portfolio
from foldwise.auto.portfolio.encodings import encoded
from foldwise.auto.portfolio.member import Contender, profile_of
from foldwise.auto.tables import column_kinds
from foldwise.auto.tables.frames import factorised
from foldwise.learners import Assignment, NodeTask, TrainingData, fit_at_node

N_FOLDS = 3
SMALL = 2500
SLOW = ("rules", "neural")  # not fitted to many rows
EM_STEPS = 300
MOST_ROWS = 4000  # that weights are fitted and judged on
TINY = 1e-9


def problem_of(name: str, size: int) -> tuple[TrainingData, np.ndarray]:
    """Return some rows of a table's training part, and their folds."""
    whole = load(name, 1)
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(whole.y))[:size]
    y = whole.y[rows]
    n_classes = None
    if whole.task != "regression":
        classes, y = np.unique(y, return_inverse=True)
        n_classes = len(classes)
    X = factorised(whole.X.iloc[rows].reset_index(drop=True))
    return TrainingData(X, y, n_classes=n_classes), rng.permutation(len(rows)) % N_FOLDS


def fit_member(folder: Path, name: str, size: int, member: Contender) -> None:
    """Keep a member's out-of-fold predictions and seconds."""
    path = folder / f"{name}-{size}-{member.name}.npz"
    if path.exists():
        return
    warnings.simplefilter("ignore")
    data, folds = problem_of(name, size)
    kinds = column_kinds(data.X)
    profile = profile_of(kinds, data.y, n_classes=data.n_classes)
    learner = encoded(member.build(profile), member.encoding, kinds, regression=profile.regression)
    method = "predict" if profile.regression else "predict_proba"
    found: Any = np.full((len(data.y), data.n_classes or 1), np.nan, dtype=np.float32)
    start = time.perf_counter()
    for fold in range(N_FOLDS):
        task = NodeTask(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold), fold, False)
        (fit,) = fit_at_node([Assignment(learner, method, fold)], data, task)
        if isinstance(fit, Exception):
            print(f"{name} {size} {member.name}: {fit}", flush=True)
            return
        found[task.test] = fit.predictions.reshape(len(task.test), -1)
    seconds = (time.perf_counter() - start) / N_FOLDS
    np.savez_compressed(path, oof=found, seconds=seconds, y=data.y, folds=folds)


def members_for(name: str, size: int) -> tuple[Contender, ...]:
    """Return every member that suits a problem."""
    data, _ = problem_of(name, size)
    profile = profile_of(column_kinds(data.X), data.y, n_classes=data.n_classes)
    known = portfolio(profile, 3)
    return tuple(m for m in known if m.name not in SLOW or profile.n_rows <= SMALL)


def loss_of(oof: list[np.ndarray], y: np.ndarray, folds: np.ndarray, classes: bool) -> float:
    """Return the loss of members with convex weights, those of a fold fitted on the others."""
    table = np.stack([o[np.arange(len(y)), y] if classes else o[:, 0] for o in oof], axis=1)
    table = table.astype(float)
    total = 0.0
    for fold in range(N_FOLDS):
        here, rest = folds == fold, folds != fold
        if classes:
            p = np.maximum(table, TINY)
            weights = np.full(p.shape[1], 1 / p.shape[1])
            for _ in range(EM_STEPS if p.shape[1] > 1 else 0):
                shares = p[rest] * weights
                weights = (shares / shares.sum(axis=1, keepdims=True)).mean(axis=0)
            total -= np.log(p[here] @ weights).sum()
        else:
            weights, _ = nnls(table[rest], y[rest])
            weights = weights / weights.sum() if weights.sum() > 0 else weights
            total += ((table[here] @ weights - y[here]) ** 2).sum()
    return total / len(y)


def read(folder: Path, without: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return all problems with their members' predictions and seconds."""
    problems: dict[tuple[str, str], dict[str, Any]] = {}
    for path in sorted(folder.glob("*.npz")):
        name, size, member = path.stem.split("-")
        kept = np.load(path)
        one = problems.setdefault((name, size), {"name": name, "members": {}})
        one |= {"y": kept["y"][:MOST_ROWS], "folds": kept["folds"][:MOST_ROWS]}
        one["n_rows"] = len(kept["y"])
        if member not in without and np.isfinite(kept["oof"]).all():
            one["members"][member] = (kept["oof"][:MOST_ROWS], float(kept["seconds"]))
    for one in problems.values():
        width = next(iter(one["members"].values()))[0].shape[1]
        one["classes"] = width > 1
        one["kind"] = "regression" if width == 1 else "binary" if width == 2 else "multiclass"
        one["kind"] += " small" if one["n_rows"] <= SMALL else " large"
        one["unit"] = float(np.median([seconds for _, seconds in one["members"].values()]))
    return list(problems.values())


def learned(problems: list[dict[str, Any]]) -> list[tuple[str, float, float]]:
    """Return members in order, with the mean gain and the mean relative cost of each."""
    first = "ridge" if not problems[0]["classes"] else "logistic"
    chosen = [first]
    found = [(first, 0.0, 0.0)]
    names = sorted({name for one in problems for name in one["members"]})
    while True:
        best: tuple[float, str, float, float] | None = None
        before = [_loss(one, chosen) for one in problems]
        for name in [n for n in names if n not in chosen]:
            having = [i for i, one in enumerate(problems) if name in one["members"]]
            gains = [
                np.log(before[i] / _loss(problems[i], [*chosen, name])) if i in having else 0.0
                for i in range(len(problems))
            ]
            costs = [problems[i]["members"][name][1] / problems[i]["unit"] for i in having]
            gain, cost = sum(gains) / max(len(having), 1), float(np.mean(costs))
            worth = gain / (cost + 0.3)
            if best is None or worth > best[0]:
                best = worth, name, gain, cost
        if best is None or best[2] < 1e-4:
            return found
        chosen.append(best[1])
        found.append((best[1], best[2], best[3]))


def _loss(one: dict[str, Any], names: list[str]) -> float:
    own = [one["members"][n][0] for n in names if n in one["members"]]
    return loss_of(own, one["y"], one["folds"], one["classes"])


def main() -> None:
    """Fit, or learn from what was fitted."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--sizes", nargs="+", type=int, default=[1000, 8000])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--learn", action="store_true")
    parser.add_argument("--cross", action="store_true")
    parser.add_argument("--write", type=Path, help="JSON of what each half has learned")
    parser.add_argument("--without", nargs="+", default=[], help="members to leave out")
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    if not options.learn:
        names = options.sets or list(pd.read_csv(DATA / "catalogue.csv")["name"])
        work = [
            (name, size, member)
            for size, name in itertools.product(options.sizes, names)
            for member in members_for(name, size)
        ]
        Parallel(options.jobs)(delayed(fit_member)(options.folder, *each) for each in work)
    problems = read(options.folder, options.without)
    names = sorted({one["name"] for one in problems})
    halves = [names[0::2], names[1::2]] if options.cross or options.write else [names]
    orders = []
    for half in halves:
        orders.append(order := {})
        for kind in sorted({one["kind"] for one in problems}):
            part = [one for one in problems if one["kind"] == kind and one["name"] in half]
            if not part:
                continue
            print(f"{kind}: {', '.join(sorted({one['name'] for one in part}))}")
            found = learned(part)
            for name, gain, cost in found:
                print(f"  {name:22s} gain {100 * gain:6.2f} %  cost {cost:5.2f}")
            order[kind] = " ".join(name for name, _, _ in found)
    if options.write:
        options.write.write_text(json.dumps({"halves": halves, "orders": orders}, indent=1))


if __name__ == "__main__":
    main()
