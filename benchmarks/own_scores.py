"""Every estimator that reports a score of its own, against fresh rows: noise and two signals.

The rows' noise is known, so its luck in the few rows at hand is taken out of the reported loss:
the same mean, a smaller variance. Part of ``python benchmarks/honesty.py --estimators``.
"""

import json
from itertools import product

import numpy as np
from scipy.special import expit
from sklearn.datasets import make_friedman1
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import foldwise as fw

N_ROWS, N_FRESH = 100, 4000
TREES = {"n_estimators": 50}
PROBLEMS = ("noise", 1.0, 7.0)
"""Pure noise, and Friedman's first function with so much noise added to numbers or logits."""

REGRESSORS = {
    "RuleFit": fw.RuleFitRegressor(**TREES),
    "ISLE": fw.ISLERegressor(**TREES),
    "ISLE, stagewise": fw.ISLERegressor(**TREES, post="stagewise"),
    "ISLE, shrink": fw.ISLERegressor(**TREES, post="shrink"),
    "bagged trees": fw.BaggingRegressor(DecisionTreeRegressor(), 50, oob_score=True),
    "stack": fw.StackingRegressor(
        [("ridge", Ridge()), ("tree", DecisionTreeRegressor(max_depth=4))]
    ),
    "selection": fw.EnsembleSelectionRegressor(
        [("ridge", Ridge()), ("tree", DecisionTreeRegressor(max_depth=4))]
    ),
}
CLASSIFIERS = {
    "RuleFit": fw.RuleFitClassifier(**TREES),
    "ISLE": fw.ISLEClassifier(**TREES),
    "ISLE, shrink": fw.ISLEClassifier(**TREES, post="shrink"),
    "bagged trees": fw.BaggingClassifier(DecisionTreeClassifier(max_depth=5), 50, oob_score=True),
    "stack": fw.StackingClassifier(
        [("logistic", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=4))]
    ),
    "selection": fw.EnsembleSelectionClassifier(
        [("logistic", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=4))]
    ),
    "calibrated": fw.CalibratedClassifier(DecisionTreeClassifier(max_depth=4)),
}


def rows(problem, seed, n, classify):
    """Return features, targets, and the mean (or the probability) that they were drawn from."""
    rng = np.random.default_rng(seed)
    X, f = make_friedman1(n, random_state=int(rng.integers(2**31)))
    if problem == "noise":
        f = np.zeros(n)
    if not classify:
        return X, f + (1.0 if problem == "noise" else problem) * rng.normal(size=n), f
    p = expit(f if problem == "noise" else (f - 14.4) / problem)
    return X, (rng.random(n) < p).astype(int), p


def compared(model, problem, seed, classify):
    """Return the reported loss, freed from luck, the loss of fresh rows, and the constant's."""
    X, y, known = rows(problem, seed, N_ROWS, classify)
    X_new, _, truth = rows(problem, 10_000 + seed, N_FRESH, classify)
    model.set_params(random_state=seed).fit(X, y)
    share = np.full(N_FRESH, y.mean())
    if not classify:
        variance = 1.0 if problem == "noise" else problem**2
        own = own_loss(model, y) - np.mean((y - known) ** 2) + variance
        fresh = np.mean((truth - model.predict(X_new)) ** 2) + variance
        return own, fresh, np.mean((truth - share) ** 2) + variance
    if hasattr(model, "oob_score_"):
        right = np.where(model.predict(X_new) == 1, truth, 1 - truth).mean()
        return 1 - model.oob_score_, 1 - right, np.where(y.mean() > 0.5, 1 - truth, truth).mean()
    luck = log_loss(y, known, labels=[0, 1]) - _entropy(known, known)
    fresh = _entropy(truth, np.clip(model.predict_proba(X_new)[:, 1], 1e-15, 1 - 1e-15))
    return -model.score_ - luck, fresh, _entropy(truth, share)


def own_loss(model, y):
    """Return the squared error a regressor reports about itself."""
    if hasattr(model, "oob_score_"):
        return (1 - model.oob_score_) * y.var()
    # Stacks report the root of it.
    return model.score_**2 if hasattr(model, "score_uncorrected_") else -model.score_


def _entropy(truth, p):
    return -np.mean(truth * np.log(p) + (1 - truth) * np.log1p(-p))


def own_scores(seeds, file):
    """Print own against fresh losses; return whether none is optimistic, and the least ratio.

    Losses are kept in ``file`` as they come, seed by seed, and only those not there are measured.
    """
    cells = [
        ("classes" if classify else "numbers", name, problem)
        for classify, models in ((False, REGRESSORS), (True, CLASSIFIERS))
        for name, problem in product(models, PROBLEMS)
    ]
    for seed in seeds:
        there = {tuple(line[:4]) for line in kept(file)}
        for task, name, problem in cells:
            if (task, name, problem, seed) not in there:
                models = CLASSIFIERS if task == "classes" else REGRESSORS
                found = compared(models[name], problem, seed, task == "classes")
                with file.open("a") as lines:
                    print(json.dumps([task, name, problem, seed, *map(float, found)]), file=lines)
    return printed(cells, [line for line in kept(file) if line[3] in seeds])


def kept(file):
    """Return the results there are: task, estimator, problem, seed, own, fresh, constant."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def printed(cells, results):
    """Print a line a cell; return whether none is optimistic, and the least ratio."""
    print(f"own loss / loss of fresh rows, n = {N_ROWS}; constant / fresh; seeds")
    all_good, worst, least = True, np.inf, {}
    for cell in cells:
        found = np.array([line[4:] for line in results if tuple(line[:3]) == cell])
        own, fresh, constant = found.T
        error = (own - fresh).std(ddof=1) / np.sqrt(len(found)) / fresh.mean()
        ratio = own.mean() / fresh.mean()
        good = ratio >= 0.98 - 2 * error
        all_good, worst = all_good and good, min(worst, ratio + 2 * error)
        least[cell[:2]] = min(ratio, least.get(cell[:2], np.inf))
        print(
            f"  {cell[0]} {cell[1]:<16} {cell[2]!s:<6} {ratio:.3f} +- {error:.3f}  "
            f"{'honest' if good else 'OPTIMISTIC'}   {constant.mean() / fresh.mean():.3f}  "
            f"{len(found)}"
        )
    for (task, name), ratio in least.items():
        print(f"{name}, {task}: own over fresh loss, the least  ratio: {ratio:.3f}")
    return all_good, float(worst)
