"""Is `score_` right on average, does its interval hold the truth, do those said to be best?

Problems of known truth (known_truth.py), one fit for two ways to predict: means of fold models and
models of all rows; then means of the pairs' models. Each fit is a line in a file, so that there is
a table at any moment, and a run that was stopped goes on where it was. 200 seeds give 1,000 fits
for each task, size and way.

    python benchmarks/scores.py [--seeds 0 200] [--rows 100 400] [--file scores.jsonl] [--table]
                                [--pairs]

Printed against its bars: reported over true loss before and after the correction, the luck of the
noise in the rows at hand taken out; how often the 95 % interval of `score_` holds the true loss of
what is deployed, and that of the judged rows alone; how wide it is; how often few heavy rows are
named; how often the truly best row of the leaderboard may be best, and the share that may; on
noise, how often the stack is called better than a constant (by more than 1.645 paired standard
errors). Cells beside the main ones: four folds, boosting, over-confident learners under log-loss,
and score_se="nested".

Ends with ``ratio: coverage / 0.95`` over all problems but the heavy-tailed.
"""

import argparse
import json
import time
import warnings
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
from known_truth import PROBLEMS, Problem, friedman1
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from foldwise import StackingClassifier
from foldwise.engine import Clock
from foldwise.scores.metric import Evaluation
from foldwise.stack.fit import fit_stacks
from foldwise.stack.problem import TITLES
from foldwise.stack.stackers.candidates import Candidate, respond
from foldwise.stack.stackers.means import WeightedMean

FRESH = 8_000
WAYS = ("folds", "refit")
PAIRS = ("pairs",)
SURE = Problem("over-confident", lambda X: (friedman1(X) - 14) / 2.5, classify=True)
BIAS = {100: (0.96, 1.06), 400: (0.98, 1.03)}
LEAST_PAIRS = 0.98
STRINGS = ("cell", "problem", "n", "way", "seed", "task", "heavy")
COVERAGE, LEAST, LEAST_HEAVY, LEAST_BEST, MOST_SIGNAL = (0.92, 0.98), 0.88, 0.85, 0.93, 0.05


def jobs(first, last, sizes, every):
    """Yield what is fitted: (cell, problem, its number, rows, seed, ways)."""
    for ways in every:
        for seed in range(first, last):
            for n in sizes:
                for k, problem in enumerate(PROBLEMS):
                    # Three problems of classes, six of numbers.
                    for s in (2 * seed, 2 * seed + 1) if problem.classify else (seed,):
                        yield "main", problem, k, n, s, ways
                if ways == WAYS:
                    yield from ((*job, n, seed, ways) for job in others(seed))


def others(seed):
    """Yield the cells beside the main ones: (cell, problem, its number)."""
    if seed % 2 == 0:
        yield "sure", SURE, 20
        yield from (("nested", PROBLEMS[k], k) for k in (0, 1, 2, 6))
    if seed % 4 == 1:
        yield from (("K = 4", PROBLEMS[k], k) for k in (0, 3, 7))
    if seed % 4 == 3:
        yield from (("boosting", PROBLEMS[k], k) for k in (0, 7))


def stack_of(cell, problem, seed, way):
    """Return the stack of a cell; one in four chooses its top, which is dear."""
    options = {"predict_with": way, "random_state": seed}
    if cell == "sure":
        learners = [
            ("tree", DecisionTreeClassifier(max_depth=6, random_state=0)),
            ("2-NN", KNeighborsClassifier(2)),
            ("nb", GaussianNB()),
        ]
        return StackingClassifier(learners, "mean", **options)
    stack = problem.stack(**options)
    stack.set_params(final_estimator=None if seed % 4 == 0 else "nnls")
    if cell == "K = 4":
        stack.set_params(cv=4)
    if cell == "nested":
        stack.set_params(score_se="nested")
    if cell == "boosting":
        kind = GradientBoostingClassifier if problem.classify else GradientBoostingRegressor
        stack.set_params(tree=kind(n_estimators=30, max_depth=2, random_state=0))
    return stack


def other_way(stack, X, way):
    """Return the stack with another predict_with; only what it does not have is fitted."""
    new, (old,) = stack._copy(predict_with=way), stack.deals_
    problem = replace(old.problem, data=replace(old.problem.data, X=X))
    options = replace(new._options(), seed=old.judge.seed)
    layers = new._layers(problem)
    stacks, run = fit_stacks(problem, layers, old.judge.contest, options, Clock(None), stack.deals_)
    return new._settle(stacks, run, stack.oof_.index)


def true_losses(problem, stack, X, known):
    """Return the true loss of every row of the leaderboard, by its name."""
    (deal,) = stack.deals_
    features = deal.fresh(X, deal.reading.deployed)
    answers = {TITLES[0]: deal.verdict.respond(features)}
    answers |= {entry.name: features.alone(m) for m, entry in enumerate(deal.top.entries)}
    for title, rule in zip(TITLES[1:], ("best", "mean"), strict=True):
        top = Candidate(rule, WeightedMean(rule, deal.metric, deal.problem.labels))
        (stacker,) = deal.judge._fit_all((top,), deal.reading.final).values()
        answers[title] = respond(stacker, features)
    tiny = np.finfo(float).eps
    losses = {}
    for title, answer in answers.items():
        values = answer.values[:, -1]
        values = np.clip(values, tiny, 1 - tiny) if problem.classify else values
        losses[title] = float(problem.losses(values, known).mean())
    return losses


def beats_a_constant(problem, stack):
    """Tell whether the stack is called better than the mean of the other folds."""
    target, own = stack.deals_[0].verdict.target, stack.deals_[0].verdict.evaluation
    y, fold = np.asarray(target.y, dtype=float), target.fold
    others = np.array([y[fold != k].mean() for k in range(fold.max() + 1)])[fold]
    loss = (y - others) ** 2
    if problem.classify:
        loss = -np.log(np.where(y == 1, others, 1 - others))
    constant = Evaluation(-loss.mean(), -(loss - loss.mean()) / len(y))
    return stack.score_ - constant.score > 1.645 * own.error_of_difference(constant)


def measured(cell, problem, k, n, seed, ways):
    """Fit once; return a record for each way."""
    rng = np.random.default_rng([seed, n, k])
    X, y, known = problem.rows(n, rng)
    X_new, _, known_new = problem.rows(FRESH, rng)
    luck, stack = float(problem.luck(y, known)), stack_of(cell, problem, seed, ways[0]).fit(X, y)
    for way in ways:
        stack = stack if way == ways[0] else other_way(stack, X, way)
        losses = true_losses(problem, stack, X_new, known_new)
        truth, board = losses[TITLES[0]], stack.leaderboard_.set_index("model")
        plain, (low, high) = stack.deals_[0].verdict.evaluation, stack.score_interval_
        best = [name for name, loss in losses.items() if loss <= min(losses.values())]
        yield {
            "cell": cell, "problem": problem.name, "n": n, "way": way, "seed": seed,
            "task": "classes" if problem.classify else "numbers", "heavy": problem.heavy,
            "uncorrected": -stack.score_uncorrected_ - luck, "score": -stack.score_ - luck,
            "truth": truth, "inside": bool(low <= -truth <= high), "width": (high - low) / truth,
            "rows_inside": bool(abs(-plain.score - truth) <= 1.96 * plain.standard_error),
            "said": bool(stack.score_note_), "signal": bool(beats_a_constant(problem, stack)),
            "best_in": bool(board.loc[best, "may_be_best"].any()),
            "may": float(board["may_be_best"].mean()),
        }  # fmt: skip


def fit_all(path, *wanted):
    """Append what is not in the file yet."""
    done = {(r["cell"], r["problem"], r["n"], r["seed"], r["way"]) for r in records(path)}
    every = jobs(*wanted)
    todo = [j for j in every if (j[0], j[1].name, *j[3:5], j[5][-1]) not in done]
    start = time.perf_counter()
    with path.open("a") as file:
        for number, job in enumerate(todo, 1):
            file.writelines(json.dumps(record) + "\n" for record in list(measured(*job)))
            file.flush()
            if number % 100 == 0:
                spent = time.perf_counter() - start
                print(f"{number} of {len(todo)} fits, {spent:.0f} s", flush=True)


def records(path):
    """Return what was measured so far."""
    return [json.loads(line) for line in path.open()] if path.exists() else []


def table(found):
    """Print each problem, then everything pooled, against the bars; return the coverage."""
    print("reported / true loss: uncorrected, corrected; coverage: rows alone, interval, its width")
    groups, pooled = defaultdict(list), defaultdict(list)
    for r in found:
        groups[r["cell"], r["n"], r["way"], r["problem"]].append(r)
        if r["cell"] == "main" and not r["heavy"]:
            pooled[r["task"], r["n"], r["way"]].append(r)
    for (cell, n, way, name), each in sorted(groups.items()):
        mean = {key: np.mean([r[key] for r in each]) for key in each[0] if key not in STRINGS}
        gaps = [r["score"] - r["truth"] for r in each]
        error = np.std(gaps, ddof=1) / np.sqrt(len(each)) / mean["truth"] if len(each) > 1 else 0.0
        ratio, (low, high) = mean["score"] / mean["truth"], BIAS.get(n, (0.0, np.inf))
        if way == "pairs":
            low, high = LEAST_PAIRS, np.inf
        least = LEAST_HEAVY if each[0]["heavy"] else LEAST
        missed = []
        if not (low - 2 * error <= ratio <= high + 2 * error) and not each[0]["heavy"]:
            missed.append("BIAS")
        if mean["inside"] < least - 2 * np.sqrt(least * (1 - least) / len(each)):
            missed.append("COVERAGE")
        print(
            f"{cell:<9}n={n:<4}{way:<6}{name:<21}{len(each):5d} "
            f"{mean['uncorrected'] / mean['truth']:6.3f} {ratio:.3f} +- {error:.3f}  "
            f"{mean['rows_inside']:6.3f} {mean['inside']:.3f} {mean['width']:.2f}  "
            f"named {mean['said']:.2f}  best {mean['best_in']:.3f} of {mean['may']:.2f} "
            f"{' '.join(missed)}"
        )
    noise = [r["signal"] for r in found if "noise" in r["problem"]]
    share = np.mean(noise) if noise else float("nan")
    print(f"called signal on noise: {share:.3f} of {len(noise)} {_good(share <= MOST_SIGNAL)}")
    for key, each in sorted(pooled.items()):
        rows, inside, best = (
            np.mean([r[name] for r in each]) for name in ("rows_inside", "inside", "best_in")
        )
        held = _good(COVERAGE[0] <= inside <= COVERAGE[1])
        print(
            f"pooled {key[0]} n={key[1]} {key[2]:<6}{len(each):6d}: rows alone {rows:.3f}, "
            f"interval {inside:.3f} {held}; best {best:.3f} {_good(best >= LEAST_BEST)}"
        )
    return float(np.mean([r["inside"] for each in pooled.values() for r in each]))


def _good(held):
    return "good" if held else "BAD"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs=2, default=[0, 200])
    parser.add_argument("--rows", type=int, nargs="+", default=[100, 400])
    parser.add_argument("--file", type=Path, default=Path("scores.jsonl"))
    parser.add_argument("--table", action="store_true", help="only print what is in the file")
    parser.add_argument("--pairs", action="store_true", help="only means of the pairs' models")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if not arguments.table:
        every = (PAIRS,) if arguments.pairs else (WAYS, PAIRS)
        fit_all(arguments.file, *arguments.seeds, arguments.rows, every)
    print(f"ratio: {table(records(arguments.file)) / 0.95:.3f}")
