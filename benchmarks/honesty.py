"""Is `score_` honest? On pure noise nobody beats noise; on Friedman's problems fresh rows decide.

Noise: the target is independent of the features, so the best possible loss is known exactly
(predict zero; predict one half). For every combiner, number of folds and layers, over 20
seeds, the mean of (best possible loss - reported loss) must not exceed two standard errors.
The same data through the naive way, the best of a grid of stackers on plain out-of-fold
features scored on the very folds that chose it, show what is avoided.

Hits and ranks: accuracy, balanced accuracy and AUC of noise, two and three classes of 60 rows;
their mean over ten times as many seeds must not exceed chance by two standard errors.

Fresh rows: `score_` against the loss on 100,000 fresh rows, for each `predict_with`.

    python benchmarks/honesty.py [--quick] [--estimators [--first SEED] [--file LOSSES]]

Known truths: scores.py. Real tables: real_scores.py.

Each part ends with ``ratio: reported loss / true loss``, at least 1 up to noise when honest.
"""

import argparse
import itertools
import time
import warnings
from pathlib import Path

import numpy as np
from own_scores import own_scores
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foldwise import StackingClassifier, StackingRegressor

N_ROWS = 120
ALPHAS = [0.01, 1.0, 100.0, 10_000.0]

REGRESSION_TOPS = {
    "bake-off": None,
    "mean": "mean",
    "best": "best",
    "ridge": "ridge",
    "nnls": "nnls",
    "ridge, own grid": (Ridge(), {"alpha": ALPHAS}),
    "full tree": DecisionTreeRegressor(random_state=0),
    "1-NN": KNeighborsRegressor(1),
}
CLASSIFICATION_TOPS = {
    "bake-off": None,
    "mean": "mean",
    "best": "best",
    "nnls": "nnls",
    "logistic": "logistic",
    "logistic, own grid": (LogisticRegression(), {"C": [0.001, 0.1, 10.0]}),
}


def regressors(suffix=""):
    return [
        (f"tree{suffix}", DecisionTreeRegressor(random_state=0)),
        (f"nn{suffix}", KNeighborsRegressor(1)),
        (f"ridge{suffix}", Ridge()),
    ]


def classifiers(suffix=""):
    return [
        (f"tree{suffix}", DecisionTreeClassifier(random_state=0)),
        (f"nn{suffix}", KNeighborsClassifier(1)),
        (f"logistic{suffix}", LogisticRegression()),
    ]


def layered(make, n_layers):
    return make() if n_layers == 1 else [make(), make("2")]


def optimism(task, top, n_folds, n_layers, seed):
    """Return best possible loss minus reported loss, both of one draw of noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, 4))
    if task == "regression":
        y = rng.normal(size=N_ROWS)
        stack = StackingRegressor(
            layered(regressors, n_layers), top, cv=n_folds, random_state=seed
        ).fit(X, y)
        return np.mean(y**2) - stack.score_**2
    y = rng.permutation(np.arange(N_ROWS) % 2)
    stack = StackingClassifier(
        layered(classifiers, n_layers), top, cv=n_folds, random_state=seed
    ).fit(X, y)
    return np.log(2) + stack.score_


def naive_optimism(task, n_folds, n_layers, seed):
    """Return the same for the best of a grid on plain out-of-fold features, folds reused."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, 4))
    if task == "regression":
        y, make, method = rng.normal(size=N_ROWS), regressors, "predict"
        tops = [Ridge(alpha=a) for a in ALPHAS]
        tops += [KNeighborsRegressor(k) for k in (1, 5, 20)]
        tops += [DecisionTreeRegressor(max_depth=d, random_state=0) for d in (1, 3)]
    else:
        y, make, method = rng.permutation(np.arange(N_ROWS) % 2), classifiers, "predict_proba"
        tops = [LogisticRegression(C=c) for c in (0.001, 0.1, 10.0)]
        tops += [KNeighborsClassifier(k) for k in (20, 50)]
    splitter = KFold if task == "regression" else StratifiedKFold
    folds = list(splitter(n_folds, shuffle=True, random_state=seed).split(X, y))
    features = X
    for _ in range(n_layers):
        columns = [cross_val_predict(m, features, y, cv=folds, method=method) for _, m in make()]
        features = np.column_stack([c[:, 1] if c.ndim == 2 else c for c in columns])
    predictions = [cross_val_predict(top, features, y, cv=folds, method=method) for top in tops]
    if task == "regression":
        return np.mean(y**2) - min(np.mean((y - p) ** 2) for p in predictions)
    return np.log(2) - min(log_loss(y, p) for p in predictions)


def verdict(values):
    mean, error = np.mean(values), np.std(values, ddof=1) / np.sqrt(len(values))
    return mean, error, mean <= 2 * error


def noise(n_seeds):
    """Print the table; return whether all is honest, and the smallest reported / best loss."""
    all_honest, worst = True, np.inf
    best_possible = {"regression": 1.0, "classification": np.log(2)}
    print(f"pure noise, n = {N_ROWS}, {n_seeds} seeds: best possible loss - reported loss")
    for task, tops in (("regression", REGRESSION_TOPS), ("classification", CLASSIFICATION_TOPS)):
        for n_layers, n_folds in itertools.product((1, 2), (3, 5)):
            if n_folds < n_layers + 2:
                continue
            rows = {
                name: [optimism(task, top, n_folds, n_layers, s) for s in range(n_seeds)]
                for name, top in tops.items()
            }
            for name, values in rows.items():
                mean, error, honest = verdict(values)
                all_honest &= honest
                worst = min(worst, 1 - (mean - 2 * error) / best_possible[task])
                word = "honest" if honest else "OPTIMISTIC"
                print(
                    f"  {task:<15} K={n_folds} layers={n_layers} {name:<19}"
                    f"{mean:9.4f} +- {error:.4f}  {word}"
                )
            naive = [naive_optimism(task, n_folds, n_layers, s) for s in range(n_seeds)]
            mean, error, honest = verdict(naive)
            word = "honest" if honest else "optimistic"
            print(
                f"  {task:<15} K={n_folds} layers={n_layers} {'(the naive way)':<19}"
                f"{mean:9.4f} +- {error:.4f}  {word}"
            )
    return all_honest, worst


def hits_and_ranks(n_seeds):
    """Print scores of noise over chance; return whether none is better, and the least ratio."""
    all_honest, worst, n_seeds = True, np.inf, 10 * n_seeds
    print(f"pure noise, n = 60, {n_seeds} seeds: uncorrected and reported score - chance")
    hits, ranks = ("accuracy", "balanced_accuracy"), {2: "roc_auc", 3: "roc_auc_ovr"}
    for n_classes, scoring in ((c, name) for c in ranks for name in (*hits, ranks[c])):
        chance = 1 / n_classes if "accuracy" in scoring else 0.5
        found = []
        for seed in range(n_seeds):
            rng = np.random.default_rng(seed)
            X, y = rng.normal(size=(60, 6)), rng.integers(n_classes, size=60)
            stack = StackingClassifier(classifiers(), "nnls", scoring=scoring, random_state=seed)
            stack.fit(X, y)
            found.append([stack.score_uncorrected_ - chance, stack.score_ - chance])
        before, _ = np.mean(found, axis=0)
        mean, error, honest = verdict([own for _, own in found])
        all_honest, worst = all_honest and honest, min(worst, 1 - mean / (1 - chance))
        word = "honest" if honest else "OPTIMISTIC"
        print(f"  {n_classes} {scoring:<18} {before:7.4f} {mean:7.4f} +- {error:.4f}  {word}")
    return all_honest, worst


PROBLEMS = {
    "Friedman 1": (make_friedman1, 1.0),
    "Friedman 2": (make_friedman2, 125.0),
    "Friedman 3": (make_friedman3, 0.1),
}


def reported_loss(stack, make, noise, y, seed):
    """Return the reported loss, freed from the luck of the noise in the few rows at hand.

    The noise is known here, so its mean square in these rows is replaced by its expectation:
    the same mean, a smaller variance.
    """
    _, clean = make(len(y), noise=0.0, random_state=seed)
    return np.sqrt(stack.score_**2 - np.mean((y - clean) ** 2) + noise**2)


def fresh_rows(n_seeds):
    """Print reported against true loss; return whether all is honest, and the mean ratio."""
    all_good, ratios = True, []
    print(f"reported loss / loss on 100,000 fresh rows, n = 300, {n_seeds} seeds")
    for name, (make, noise) in PROBLEMS.items():
        X_new, y_new = make(100_000, noise=noise, random_state=10_000)
        for predict_with in ("folds", "refit", "pairs"):
            values = []
            for seed in range(n_seeds):
                X, y = make(300, noise=noise, random_state=seed)
                stack = StackingRegressor(
                    [
                        ("ridge", Ridge()),
                        ("tree", DecisionTreeRegressor(min_samples_leaf=5, random_state=0)),
                        ("forest", RandomForestRegressor(20, random_state=0)),
                    ],
                    predict_with=predict_with,
                    random_state=seed,
                ).fit(X, y)
                true = np.sqrt(np.mean((y_new - stack.predict(X_new)) ** 2))
                values.append(reported_loss(stack, make, noise, y, seed) / true)
            mean, error = np.mean(values), np.std(values, ddof=1) / np.sqrt(n_seeds)
            good = mean >= 1 - 2 * error and mean - 2 * error < 1.08
            all_good &= good
            ratios.append(mean)
            word = "good" if good else "BAD"
            print(f"  {name} {predict_with:<6} {mean:.4f} +- {error:.4f}  {word}")
    return all_good, float(np.mean(ratios))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer seeds")
    parser.add_argument("--seeds", type=int, help="number of seeds")
    parser.add_argument("--only", choices=["noise", "hits", "fresh"], help="one part")
    parser.add_argument("--estimators", action="store_true", help="every estimator's own score")
    parser.add_argument("--first", type=int, default=0, help="first seed, with --estimators")
    parser.add_argument("--file", type=Path, default=Path("own_scores.jsonl"), help="their losses")
    arguments = parser.parse_args()
    n_seeds = arguments.seeds or (6 if arguments.quick else 20)
    warnings.simplefilter("ignore")
    if arguments.estimators:
        end = arguments.first + (arguments.seeds or (6 if arguments.quick else 100))
        good, ratio = own_scores(range(arguments.first, end), arguments.file)
        print(f"the least of all and two standard errors  ratio: {ratio:.3f}")
        raise SystemExit(not good)
    results = {}
    for part, measure in (("noise", noise), ("hits", hits_and_ranks), ("fresh", fresh_rows)):
        if arguments.only not in (None, part):
            continue
        start = time.perf_counter()
        results[part], ratio = measure(n_seeds)
        print(f"  {time.perf_counter() - start:.0f} s")
        print(f"{part}: reported over true loss  ratio: {ratio:.3f}")
    if not all(results.values()):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
