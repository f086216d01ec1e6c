"""The ways rows can be dealt: forward in time, blending, repeats, prefit."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import GroupKFold, PredefinedSplit, ShuffleSplit, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foldwise import StackingClassifier, StackingRegressor
from foldwise.errors import InvalidDataError, InvalidParameterError, NoScoreWarning

X, Y = make_regression(72, 4, noise=20, random_state=0)
XC, YC = make_classification(90, 6, n_informative=4, n_classes=3, random_state=0)
LEARNERS = [("ridge", Ridge()), ("tree", DecisionTreeRegressor(max_depth=2, random_state=0))]
CLASSIFIERS = [("nb", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2, random_state=0))]


def out_of_fold(learner: object, splits: list) -> np.ndarray:
    found = np.full(len(Y), np.nan)
    for train, test in splits:
        found[test] = clone(learner).fit(X[train], Y[train]).predict(X[test])
    return found


TIMES = {
    "expanding": TimeSeriesSplit(5),
    "rolling": TimeSeriesSplit(5, max_train_size=14),
    "gap": TimeSeriesSplit(5, gap=3),
    "rolling with a gap": TimeSeriesSplit(5, max_train_size=12, gap=2),
    "weekly": TimeSeriesSplit(6, test_size=5),
}


@pytest.mark.parametrize("time", TIMES)
def test_forward_in_time_is_the_naive_walk(time: str) -> None:
    """Fold i: a linear stacker on the earlier folds' predictions, gap kept, by hand."""
    splits = list(TIMES[time].split(X))
    features = np.column_stack([out_of_fold(learner, splits) for _, learner in LEARNERS])
    truth, predicted = [], []
    for i in range(1, len(splits)):
        train, test = splits[i]
        before = np.concatenate([t[t <= train[-1]] for _, t in splits[:i]])
        if not len(before):
            continue
        top = LinearRegression().fit(features[before], Y[before])
        truth.append(Y[test])
        predicted.append(top.predict(features[test]))
    stack = StackingRegressor(LEARNERS, LinearRegression(), cv=TIMES[time]).fit(X, Y)
    expected = root_mean_squared_error(np.concatenate(truth), np.concatenate(predicted))
    assert -stack.score_ == pytest.approx(expected, rel=1e-8)
    np.testing.assert_allclose(stack.oof_, features, rtol=1e-8)


def test_forward_in_time_new_rows_are_predicted_by_models_of_all_rows() -> None:
    stack = StackingRegressor(LEARNERS, "mean", cv=TimeSeriesSplit(4)).fit(X, Y)
    expected = np.mean([clone(m).fit(X, Y).predict(X) for _, m in LEARNERS], axis=0)
    np.testing.assert_allclose(stack.predict(X), expected)
    assert stack.unjudged_folds_ == (0,)
    assert stack.n_fits_ == 2 * (4 + 1)


@pytest.mark.parametrize("n_layers", [2, 3])
@pytest.mark.parametrize("time", ["expanding", "rolling with a gap"])
def test_layers_forward_in_time_start_later(time: str, n_layers: int) -> None:
    layers = [LEARNERS, [("a", Ridge())], [("b", LinearRegression())]][:n_layers]
    stack = StackingRegressor(layers, "mean", cv=TIMES[time], random_state=0).fit(X, Y)
    assert stack.unjudged_folds_ == tuple(range(n_layers))
    assert np.isfinite(stack.score_)
    assert len(stack.fold_scores_) == 5 - n_layers


def test_a_single_split_is_blending() -> None:
    split = next(ShuffleSplit(1, test_size=24, random_state=0).split(X))
    stack = StackingRegressor(LEARNERS, LinearRegression(), cv=[split], random_state=0).fit(X, Y)
    train, test = split
    features = np.column_stack(
        [clone(m).fit(X[train], Y[train]).predict(X[test]) for _, m in LEARNERS]
    )
    expected = LinearRegression().fit(features, Y[test])
    np.testing.assert_allclose(stack.stacker_.coef_, expected.coef_)
    assert stack.n_fits_ == 2
    assert len(stack.fold_scores_) == 5
    assert stack.oof_.notna().all(axis=1).sum() == 24


def test_blending_in_order_is_judged_in_order() -> None:
    stack = StackingRegressor(LEARNERS, "nnls", cv=[(np.arange(48), np.arange(48, 72))]).fit(X, Y)
    assert len(stack.fold_scores_) == 5
    for judgement in stack.deals_[0].reading.judgements:
        train = np.concatenate([block.rows for block in judgement.train])
        assert train.max() < judgement.test.rows.min()


@pytest.mark.parametrize("ordered", [True, False])
def test_blending_keeps_groups_together(ordered: bool) -> None:
    groups = np.arange(72) // 3
    first = groups < 12 if ordered else groups % 2 == 0
    split = (np.flatnonzero(first), np.flatnonzero(~first))
    stack = StackingRegressor(LEARNERS, "nnls", cv=[split], random_state=0)
    stack.fit(X, Y, groups=groups)
    for judgement in stack.deals_[0].reading.judgements:
        train = np.concatenate([block.rows for block in judgement.train])
        assert not set(groups[train]) & set(groups[judgement.test.rows])


def test_blending_with_a_tiny_test_part_has_no_score() -> None:
    stack = StackingRegressor(LEARNERS, "mean", cv=[(np.arange(68), np.arange(68, 72))])
    with pytest.warns(NoScoreWarning):
        stack.fit(X, Y)
    assert np.isnan(stack.score_)


def test_groups_stay_in_one_fold() -> None:
    groups = np.random.default_rng(0).integers(0, 12, 72)
    stack = StackingRegressor(LEARNERS, "mean", cv=4, random_state=0).fit(X, Y, groups=groups)
    folds = stack.deals_[0].lattice.fold_of
    assert all(len(set(folds[groups == g])) == 1 for g in set(groups))


def test_splitters_iterables_and_masks_deal_alike() -> None:
    fold = np.arange(72) % 4
    deals = [
        PredefinedSplit(fold),
        [(fold != i, fold == i) for i in range(4)],
        ((np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(4)),
    ]
    scores = {StackingRegressor(LEARNERS, "nnls", cv=cv).fit(X, Y).score_ for cv in deals}
    assert len(scores) == 1


def test_rows_that_no_split_tests_are_left_out_of_the_stacker() -> None:
    fold = np.where(np.arange(72) < 12, -1, np.arange(72) % 3)
    stack = StackingRegressor(LEARNERS, LinearRegression(), cv=PredefinedSplit(fold)).fit(X, Y)
    covered = fold >= 0
    assert stack.oof_.isna().all(axis=1).tolist() == (~covered).tolist()
    expected = LinearRegression().fit(stack.oof_[covered], Y[covered])
    np.testing.assert_allclose(stack.stacker_.coef_, expected.coef_)


def test_repeats_average_predictions_of_whole_stacks() -> None:
    stack = StackingRegressor(LEARNERS, "nnls", cv=3, n_repeats=3, random_state=0).fit(X, Y)
    assert len({d.lattice.fold_of.tobytes() for d in stack.deals_}) == 3
    each = []
    for deal in stack.deals_:
        splits = list(zip(deal.lattice.trains, deal.lattice.tests, strict=True))
        each.append(StackingRegressor(LEARNERS, "nnls", cv=splits).fit(X, Y).predict(X))
    np.testing.assert_allclose(stack.predict(X), np.mean(each, axis=0))


def test_the_model_of_all_rows_is_fitted_once_for_all_repeats() -> None:
    options = {"cv": 3, "predict_with": "refit", "random_state": 0}
    one = StackingRegressor(LEARNERS, "mean", **options).fit(X, Y)
    many = StackingRegressor(LEARNERS, "mean", n_repeats=4, **options).fit(X, Y)
    assert one.n_fits_ == 2 * (3 + 3 + 1)
    assert many.n_fits_ == 2 * (4 * (3 + 3) + 1)


def test_folds_that_are_always_the_same_cannot_be_repeated() -> None:
    with pytest.raises(InvalidParameterError, match="n_repeats must be 1 when cv deals the same"):
        StackingRegressor(LEARNERS, cv=GroupKFold(3), n_repeats=2).fit(X, Y, groups=np.arange(72))


def test_a_splitter_of_groups_asks_for_them() -> None:
    with pytest.raises(InvalidDataError) as error:
        StackingRegressor(LEARNERS, cv=GroupKFold(3)).fit(X, Y)
    assert str(error.value) == (
        "StackingRegressor: groups must be given for cv=GroupKFold; got None. "
        "Use fit(X, y, groups=...)."
    )


@pytest.mark.parametrize("labels", [[0, 1, 2], [5, 7, 11], ["a", "b", "c"]])
@pytest.mark.parametrize("method", ["auto", "predict"])
def test_learners_fitted_before_speak_any_class_names(labels: list, method: str) -> None:
    y = np.array(labels)[YC]
    fitted = [(name, clone(m).fit(XC, y)) for name, m in CLASSIFIERS]
    stack = StackingClassifier(fitted, LogisticRegression(), cv="prefit", stack_method=method)
    with pytest.warns(NoScoreWarning, match="no honest score with cv='prefit'"):
        stack.fit(XC, y)
    plain = [(name, clone(m).fit(XC, YC)) for name, m in CLASSIFIERS]
    same = StackingClassifier(plain, LogisticRegression(), cv="prefit", stack_method=method)
    with pytest.warns(NoScoreWarning):
        same.fit(XC, YC)
    assert set(stack.predict(XC)) <= set(labels)
    np.testing.assert_allclose(stack.predict_proba(XC), same.predict_proba(XC))
    assert stack.n_fits_ == 0
    assert stack.estimators_[0] is fitted[0][1]


def test_a_prefit_learner_that_is_not_fitted_is_an_error() -> None:
    stack = StackingRegressor([("ridge", Ridge())], "mean", cv="prefit")
    with pytest.warns(NoScoreWarning), pytest.raises(NotFittedError):
        stack.fit(X, Y)


def test_prefit_has_one_layer_and_no_tuning() -> None:
    layers = [[("a", Ridge().fit(X, Y))], [("b", Ridge())]]
    with pytest.raises(InvalidParameterError, match="cv must not be 'prefit' with several layers"):
        StackingRegressor(layers, cv="prefit").fit(X, Y)
    with pytest.raises(InvalidParameterError, match="partners"):
        StackingRegressor(layers[0], cv="prefit", partners=2).fit(X, Y)


def test_two_folds_fit_all_the_same_without_a_score() -> None:
    with pytest.warns(NoScoreWarning) as caught:
        stack = StackingRegressor(LEARNERS, "nnls", cv=2, random_state=0).fit(X, Y)
    assert [str(w.message) for w in caught] == [
        "StackingRegressor: no honest score, it needs at least 3 folds that leave rows to train "
        "on; got 2. Use cv=5."
    ]
    assert stack.predict(X).shape == (72,)
