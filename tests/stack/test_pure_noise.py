"""On pure noise nothing reports better than noise (the full table: benchmarks/honesty.py).

The target is independent of the features, so the best possible predictor is known: zero for
regression, one half for two classes. Predictions that saw nothing of the row they predict have
an expected loss at least as large as its. Over the seeds, the mean of (best possible loss -
reported loss) must lie below two standard errors.
"""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foldwise import StackingClassifier, StackingRegressor
from foldwise.stack.stackers.named import FOR_CLASSES, FOR_NUMBERS

N = 60
SEEDS = range(6)
ALPHAS = [1.0, 100.0, 10_000.0]
TOPS = ["mean", "nnls", (Ridge(), {"alpha": ALPHAS})]


def regressors(suffix=""):
    return [
        (f"tree{suffix}", DecisionTreeRegressor()),
        (f"nn{suffix}", KNeighborsRegressor(1)),
        (f"ridge{suffix}", Ridge()),
    ]


def classifiers(suffix=""):
    return [
        (f"tree{suffix}", DecisionTreeClassifier()),
        (f"nn{suffix}", KNeighborsClassifier(1)),
        (f"logistic{suffix}", LogisticRegression()),
    ]


def is_honest(gains) -> bool:
    return np.mean(gains) <= 2 * np.std(gains, ddof=1) / np.sqrt(len(gains))


def regression_noise(seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(N, 3)), rng.normal(size=N)


def class_noise(seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(N, 3)), rng.permutation(np.arange(N) % 2)


def fit_regressors(seed, n_layers=1, final_estimator=None, groups=None, **arguments):
    X, y = regression_noise(seed)
    layers = regressors() if n_layers == 1 else [regressors(), regressors("2")]
    stack = StackingRegressor(layers, final_estimator, random_state=seed, **arguments)
    return stack.fit(X, y, **({} if groups is None else {"groups": groups})), y


def squared_gain(stack, y):
    rows = stack.deals_[0].verdict.rows
    return np.mean(y[rows] ** 2) - stack.score_**2


def unmasked(gains) -> set:
    return {name for name, values in gains.items() if not is_honest(values)}


@pytest.mark.parametrize(("n_folds", "n_layers"), [(3, 1), (4, 2)])
def test_no_combiner_beats_noise_in_regression(n_folds, n_layers) -> None:
    grid = (Ridge(), {"alpha": ALPHAS})
    tops = {
        "mean": "mean",
        "best": "best",
        "nnls": "nnls",
        "grid": grid,
        "bake-off": ["mean", "best", "nnls", grid],
        "tree": DecisionTreeRegressor(random_state=0),
    }
    gains = {name: [] for name in tops}
    for seed in SEEDS:
        stack, y = fit_regressors(seed, n_layers, "mean", cv=n_folds)
        for name, top in tops.items():
            gains[name].append(squared_gain(stack.restack(final_estimator=top), y))
    assert unmasked(gains) == set()


@pytest.mark.parametrize(("n_folds", "n_layers"), [(3, 1), (4, 2)])
def test_no_combiner_beats_noise_in_classification(n_folds, n_layers) -> None:
    grid = (LogisticRegression(), {"C": [0.01, 10.0]})
    tops = {"mean": "mean", "best": "best", "nnls": "nnls", "bake-off": ["mean", "nnls", grid]}
    gains = {name: [] for name in tops}
    for seed in SEEDS:
        X, y = class_noise(seed)
        layers = classifiers() if n_layers == 1 else [classifiers(), classifiers("2")]
        stack = StackingClassifier(layers, "mean", cv=n_folds, random_state=seed).fit(X, y)
        for name, top in tops.items():
            gains[name].append(np.log(2) + stack.restack(final_estimator=top).score_)
    assert unmasked(gains) == set()


def test_the_default_does_not_beat_noise() -> None:
    assert is_honest([squared_gain(*fit_regressors(seed, cv=3)) for seed in SEEDS])


@pytest.mark.usefixtures("few_bags")
@pytest.mark.parametrize("task", ["numbers", "classes"])
def test_no_named_combiner_beats_noise(task) -> None:
    names = FOR_NUMBERS if task == "numbers" else FOR_CLASSES
    tops = {name: name for name in names}
    tops["weighted_mean"] = ("weighted_mean", {"weights": [[1, 1, 0], [1, 0, 1], [0, 1, 1]]})
    tops["default"] = None
    gains = {name: [] for name in tops}
    for seed in SEEDS[:4]:
        if task == "numbers":
            stack, y = fit_regressors(seed, 1, "mean", cv=3)
        else:
            X, y = class_noise(seed)
            stack = StackingClassifier(classifiers(), "mean", cv=3, random_state=seed).fit(X, y)
        for name, top in tops.items():
            again = stack.restack(final_estimator=top)
            gain = squared_gain(again, y) if task == "numbers" else np.log(2) + again.score_
            gains[name].append(gain)
    assert unmasked(gains) == set()


@pytest.mark.parametrize("predict_with", ["folds", "refit", "pairs"])
def test_tuning_does_not_beat_noise(predict_with) -> None:
    grids = {"tree": {"max_depth": [1, 3, None]}, "ridge": {"alpha": ALPHAS}}
    gains = [
        squared_gain(*fit_regressors(s, 1, "nnls", cv=3, tune=grids, predict_with=predict_with))
        for s in SEEDS
    ]
    assert is_honest(gains)


@pytest.mark.parametrize("splitter", ["groups", "time", "repeats"])
def test_no_splitter_beats_noise(splitter) -> None:
    arguments = {
        "groups": {"cv": GroupKFold(4), "groups": np.arange(N) // 3},
        "time": {"cv": TimeSeriesSplit(4)},
        "repeats": {"cv": 3, "n_repeats": 2},
    }[splitter]
    assert is_honest([squared_gain(*fit_regressors(s, 1, TOPS, **arguments)) for s in SEEDS])


def test_the_naive_way_beats_noise_on_the_same_data() -> None:
    """The best of a few stackers on plain out-of-fold features, scored on the same folds."""
    gains = []
    for seed in range(12):
        X, y = regression_noise(seed)
        folds = list(KFold(5, shuffle=True, random_state=seed).split(X))
        learners = [DecisionTreeRegressor(random_state=0), KNeighborsRegressor(1), Ridge()]
        features = np.column_stack([cross_val_predict(m, X, y, cv=folds) for m in learners])
        tops = [KNeighborsRegressor(k) for k in (5, 9, 15)]
        tops += [DecisionTreeRegressor(max_depth=d, random_state=0) for d in (1, 2)]
        tops += [Ridge(), Ridge(10_000)]
        losses = [np.mean((y - cross_val_predict(top, features, y, cv=folds)) ** 2) for top in tops]
        gains.append(np.mean(y**2) - min(losses))
    assert not is_honest(gains)


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss"])
def test_classes_by_chance_are_not_beaten_by_folds_drawn_by_chance(scoring) -> None:
    gains = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(N, 3)), rng.integers(0, 2, N)
        stack = StackingClassifier(
            [("bayes", GaussianNB()), ("lda", LinearDiscriminantAnalysis())],
            "mean",
            cv=KFold(5, shuffle=True, random_state=seed),
            scoring=scoring,
        ).fit(X, y)
        truth = 0.5 if scoring == "accuracy" else -np.log(2)
        gains.append(stack.score_ - truth)
    assert is_honest(gains)


@pytest.mark.parametrize("partners", ["all", 2, 4])
@pytest.mark.parametrize("n_folds", [6, 10])
def test_rows_in_order_of_their_targets_beat_no_noise(n_folds, partners) -> None:
    """Folds of rows that follow each other are alike; what judges one must not live on that."""
    gains = {"numbers": [], "classes": []}
    for seed in SEEDS:
        X, y = regression_noise(seed)
        how = {"cv": KFold(n_folds), "partners": partners, "random_state": seed}
        numbers = StackingRegressor([("ridge", Ridge())], Ridge(), **how).fit(X, np.sort(y))
        classes = StackingClassifier([("nb", GaussianNB())], LogisticRegression(), **how)
        gains["numbers"].append(np.var(y) - numbers.score_**2)
        gains["classes"].append(np.log(2) + classes.fit(X, np.arange(N) * 2 // N).score_)
    assert not unmasked(gains)
