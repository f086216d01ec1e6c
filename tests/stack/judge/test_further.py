import pickle
import time
import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import foldwise
from foldwise import StackingClassifier, StackingRegressor
from foldwise.errors import InvalidParameterError
from foldwise.stack import problem as problem_module
from foldwise.stack.judge.further import further_verdict
from foldwise.stack.judge.in_time import further_seconds
from foldwise.stack.judge.judge import OutOfTimeError
from foldwise.stack.stackers import further
from foldwise.stack.stackers.further import FurtherStacker

N = 400
SPLITS = list(KFold(4, shuffle=True, random_state=0).split(np.zeros(N)))


@pytest.fixture(autouse=True)
def few_rows_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problem_module, "FURTHER_ROWS", (20, 100_000))


class Half(RegressorMixin, BaseEstimator):
    """Knows the target where the first column has a sign, and nothing elsewhere."""

    def __init__(self, sign: int = 1) -> None:
        self.sign = sign

    def fit(self, X, y):
        self.mean_ = np.mean(y)
        return self

    def predict(self, X):
        return np.where(self.sign * X[:, 0] > 0, 3 * X[:, 1], 0.0)


class HalfOfClasses(ClassifierMixin, Half):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        raw = np.where(self.sign * X[:, 0] > 0, 3 * X[:, 1], 0.0)
        positive = 1 / (1 + np.exp(-raw))
        each = [1 - positive, positive] + [0.3 + 0 * positive] * (len(self.classes_) - 2)
        return np.column_stack(each) / np.sum(each, axis=0)[:, None]

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def rows(n=N, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 3))


def target(X, n_classes, seed=1):
    raw = 3 * X[:, 1] + np.random.default_rng(seed).normal(size=len(X))
    return raw if n_classes is None else np.digitize(raw, [0.0, 3.0][: n_classes - 1])


def stacked(X, y, n_classes=None, further=True, halves=True, **parameters):
    """Return a stack; with halves, no weights are right for all rows."""
    kind, half = (
        (StackingRegressor, Half) if n_classes is None else (StackingClassifier, HalfOfClasses)
    )
    learners = [("right", half(1)), ("left", half(-1))]
    if not halves:
        trees = DecisionTreeRegressor if n_classes is None else DecisionTreeClassifier
        line = Ridge() if n_classes is None else LogisticRegression()
        learners = [("tree", trees(max_depth=3)), ("line", line)]
    stack = kind(
        learners,
        parameters.pop("top", "log_score"),
        cv=parameters.pop("cv", SPLITS),
        random_state=0,
        **parameters,
    )
    stack._encoder = StandardScaler() if further else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return stack.fit(X, y)


@pytest.mark.parametrize("n_classes", [None, 2, 3])
def test_where_weights_should_differ_by_row_it_is_better_and_says_how_good_it_is(n_classes) -> None:
    X, y = rows(), target(rows(), n_classes)
    plain, more = (stacked(X, y, n_classes, further) for further in (False, True))
    fresh = rows(20_000, 2)
    new = [
        own._metric.evaluate(mean_of(own, fresh), target_of(own, fresh, n_classes))
        for own in (plain, more)
    ]
    assert isinstance(more.stacker_, FurtherStacker)
    assert new[1].score > new[0].score + 0.03 * abs(new[0].score)
    assert abs(more.score_ - new[1].score) < 3 * more.score_se_


def mean_of(stack, X):
    return stack.deals_[0].respond(X)


def target_of(stack, X, n_classes):
    y = target(X, n_classes, 3)
    return replace(
        stack.deals_[0].verdict.target, y=y, weight=None, fold=np.zeros(len(y), np.intp), unit=None
    )


@pytest.mark.parametrize("n_classes", [None, 2])
def test_nothing_by_which_a_fold_is_predicted_knows_its_targets(n_classes) -> None:
    X, y = rows(), target(rows(), n_classes)
    top = ["log_score", "ridge" if n_classes is None else "pool"]
    test = SPLITS[1][1]
    other = y.copy()
    other[test] = (
        np.random.default_rng(5).permutation(y[test]) if n_classes is None else 1 - y[test]
    )
    calibrate = {} if n_classes is None else {"calibrate": "auto"}
    first, second = (stacked(X, own, n_classes, top=top, **calibrate) for own in (y, other))
    folds = [own.deals_[0].verdict.folds[1] for own in (first, second)]
    assert folds[0].option == folds[1].option
    told = [
        own.deals_[0].verdict.response.values[np.isin(own.deals_[0].verdict.rows, test)]
        for own in (first, second)
    ]
    assert_array_equal(told[0], told[1])
    # And what is told of other folds does change: the test can fail.
    assert not np.array_equal(first.predict(X), second.predict(X))


@pytest.mark.parametrize("n_classes", [None, 2, 3])
def test_the_judged_predictions_are_those_of_the_judged_stacks(n_classes) -> None:
    X, y = rows(), target(rows(), n_classes)
    deal = stacked(X, y, n_classes).deals_[0].with_rows(X)
    problem = deal.problem
    assert problem.numbers is not None
    for judgement, judged in zip(deal.reading.judgements, deal.verdict.folds, strict=True):
        told = judged.respond(deal.top.features((judgement.test,))).values
        here = np.isin(deal.verdict.rows, judgement.test.rows)
        assert_allclose(told, deal.verdict.response.values[here], rtol=1e-12)


def test_noise_costs_little_and_does_not_look_like_a_signal() -> None:
    own, fresh, plain = [], [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(N, 3)), rng.normal(size=N)
        new, told = rng.normal(size=(2000, 3)), rng.normal(size=2000)
        more, without = (stacked(X, y, further=f, halves=False) for f in (True, False))
        own.append(more.score_uncorrected_**2)
        fresh.append(np.mean((more.predict(new) - told) ** 2))
        plain.append(np.mean((without.predict(new) - told) ** 2))
    assert np.mean(own) > 0.98 * np.mean(fresh)
    assert np.mean(fresh) < 1.02 * np.mean(plain)


def test_one_and_two_threads_give_the_same_bits() -> None:
    X, y = rows(), target(rows(), None)
    one, two = (stacked(X, y, n_jobs=n) for n in (1, 2))
    assert_array_equal(one.predict(X), two.predict(X))
    assert one.score_ == two.score_


def test_files_and_pickles_predict_the_same(tmp_path) -> None:
    X = rows()
    # What neither a line nor small trees can tell.
    bent = X * np.sign(X[:, [0]])
    for n_classes in (None, 2, 3):
        stack = stacked(X, target(bent, n_classes), n_classes, halves=False)
        assert isinstance(stack.stacker_, FurtherStacker)
        foldwise.save(stack, tmp_path / f"model{n_classes}")
        loaded = foldwise.load(tmp_path / f"model{n_classes}")
        for again in (loaded, pickle.loads(pickle.dumps(stack))):
            assert_array_equal(again.predict(X), stack.predict(X))
            assert again.deals_[0].problem.numbers is None
            every = tuple(range(len(stack.estimators)))
            expected = stack.out_of_fold_table().score_of(every)
            assert again.out_of_fold_table().score_of(every) == pytest.approx(expected, rel=1e-12)
            assert again.out_of_fold_table().claims is None
            with pytest.raises(InvalidParameterError, match="X must be given after unpickling"):
                again.compact()
            assert again.compact(X=X).score_ == pytest.approx(stack.compact().score_, rel=1e-12)


def test_another_top_has_no_boosting_and_a_smaller_stack_has() -> None:
    X, y = rows(), target(rows(), None)
    stack = stacked(X, y)
    assert isinstance(stack.restack(scoring="neg_mean_absolute_error").stacker_, FurtherStacker)
    assert not isinstance(stack.restack("nnls").stacker_, FurtherStacker)
    assert isinstance(stack.compact().stacker_, FurtherStacker)


def test_values_of_learners_add_up_to_the_score() -> None:
    X, y = rows(), target(rows(), None)
    stack = stacked(X, y)
    table = stack.out_of_fold_table()
    assert table.score_of((0, 1)) == pytest.approx(stack.score_uncorrected_, rel=1e-9)
    claims = {claim.name: claim.gap for claim in table.claims()}
    assert set(claims) == {"choice seen", "features seen", "fit seen"}


def test_when_time_is_up_the_stacker_stays() -> None:
    X, y = rows(), target(rows(), None)
    deal = stacked(X, y, further=False).deals_[0]
    problem = deal.problem.with_rows(X).encoded(StandardScaler())
    layer = replace(deal.top, problem=problem)
    judge = replace(deal.judge, layer=layer, contest=replace(deal.judge.contest, further=1))
    with pytest.raises(OutOfTimeError):
        further_verdict(replace(judge, until=time.monotonic()), deal.verdict)
    assert isinstance(further_verdict(judge, deal.verdict).stacker, FurtherStacker)
    assert further_seconds(problem, 2, 2) > 0
    assert further_seconds(deal.problem, 2, 2) == 0


def test_rows_of_weight_zero_change_nothing() -> None:
    X, y = rows(), target(rows(), None)
    weight = np.ones(N)
    far = np.vstack([X, np.full((9, 3), 1e6)])
    more, zero = np.append(y, np.full(9, 1e6)), np.append(weight, np.zeros(9))
    parts = [("right", Half(1)), ("left", Half(-1))]
    found = []
    for rows_, y_, weight_ in ((X, y, weight), (far, more, zero)):
        stack = StackingRegressor(parts, "log_score", cv=4, random_state=0, on_error="raise")
        stack._encoder = StandardScaler()
        stack.estimators = [("line", Ridge()), ("tree", DecisionTreeRegressor(max_depth=3))]
        found.append(stack.fit(rows_, y_, weight_).predict(X))
    assert_array_equal(found[0], found[1])


def test_of_few_rows_several_targets_or_many_cells_nothing_is_encoded(monkeypatch) -> None:
    X, y = rows(), target(rows(), None)
    assert stacked(X, y).deals_[0].problem.encoder is not None
    monkeypatch.setattr(problem_module, "FURTHER_CELLS", 100)
    assert stacked(X, y).deals_[0].problem.encoder is None
    monkeypatch.setattr(problem_module, "FURTHER_CELLS", 10_000)
    monkeypatch.setattr(problem_module, "FURTHER_ROWS", (500, 1000))
    assert stacked(X, y).deals_[0].problem.encoder is None


def test_few_rows_held_out_by_a_single_split_get_the_fewest_rounds(monkeypatch) -> None:
    monkeypatch.setattr(further, "ROUNDS", ((100, 5), (np.inf, 9)))
    X = rows()
    (train, test) = SPLITS[0]
    for cv, rounds in ((SPLITS, 9), ([(train, test)], 5)):
        stack = stacked(X, target(X, None), cv=cv)
        assert stack.stacker_.model.rounds == rounds
