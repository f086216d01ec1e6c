import gc
import weakref

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier, LGBMRegressor
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from foldwise.learners import (
    Assignment,
    NodeTask,
    TrainingData,
    fit_at_node,
    respond,
    rows_to_stop_on,
    take_rows,
)
from foldwise.learners.general import fit_generally

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(120, 3)) + 2, RNG.normal(size=120)
TASK = NodeTask(np.arange(80), np.arange(80, 120), 3)


class Counting(TransformerMixin, BaseEstimator):
    fits = 0

    def __init__(self, power=1):
        self.power = power

    def fit(self, X, y=None):
        type(self).fits += 1
        return self

    def transform(self, X):
        return X**self.power


@pytest.fixture(autouse=True)
def _no_fits_yet():
    Counting.fits = 0


def fit_all(*learners, data=None, task=TASK, method="predict"):
    data = TrainingData(X, Y) if data is None else data
    return fit_at_node([Assignment(learner, method, task.seed) for learner in learners], data, task)


@pytest.mark.parametrize("frame", [False, True])
def test_rows_that_are_many_are_predicted_a_block_at_a_time(frame, monkeypatch):
    asked = []

    class Asked(Ridge):
        def predict(self, X):
            asked.append(len(X))
            return super().predict(X)

    table = pd.DataFrame(X) if frame else X
    learners = [
        Asked(),
        Pipeline([("scale", StandardScaler()), ("skip", None), ("ridge", Asked())]),
    ]
    for learner in learners:
        data = TrainingData(table, Y)
        (whole,) = fit_all(learner, data=data)
        monkeypatch.setattr("foldwise.learners.general.BLOCK_CELLS", 3 * 15)
        (blocks,) = fit_all(learner, data=data)
        monkeypatch.undo()
        assert asked == [40, 15, 15, 10]
        asked.clear()
        np.testing.assert_allclose(blocks.predictions, whole.predictions, rtol=1e-13)


def test_a_transformer_in_front_of_several_learners_is_fitted_once_a_node():
    learners = [make_pipeline(Counting(2), Ridge()), make_pipeline(Counting(2), LinearRegression())]
    fits = fit_all(*learners)
    assert Counting.fits == 1
    assert fits[0].model[0] is fits[1].model[0]
    for learner, fit in zip(learners, fits, strict=True):
        alone = fit_generally(learner, TrainingData(X, Y), TASK, "predict")
        np.testing.assert_array_equal(fit.predictions, alone.predictions)


def test_different_transformers_and_different_starts_are_not_shared():
    fit_all(make_pipeline(Counting(2), Ridge()), make_pipeline(Counting(3), Ridge()))
    assert Counting.fits == 2
    Counting.fits = 0
    fit_all(
        make_pipeline(Counting(2), StandardScaler(), Counting(2), Ridge()),
        make_pipeline(Counting(2), StandardScaler(), Counting(3), Ridge()),
        make_pipeline(Counting(2), Ridge()),
    )
    assert Counting.fits == 3


class TwoCalls(BaseEstimator):
    """A transformer with fit and transform only."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X**2


class Shifted(Pipeline):
    """Does more in fit than one step after the other."""

    def fit(self, X, y, **parameters):
        return super().fit(X, y + 50, **parameters)


def test_a_transformer_needs_only_fit_and_transform():
    (fit,) = fit_all(make_pipeline(TwoCalls(), Ridge()))
    np.testing.assert_array_equal(
        fit.predictions.ravel(), Ridge().fit(X[:80] ** 2, Y[:80]).predict(X[80:] ** 2)
    )


@pytest.mark.parametrize("weight", [None, np.arange(1.0, 121)])
def test_a_pipeline_class_with_its_own_fit_is_fitted_by_it(weight):
    steps = [("scale", StandardScaler()), ("ridge", Ridge())]
    (fit,) = fit_all(Shifted(steps), data=TrainingData(X, Y, weight))
    (plain,) = fit_all(Pipeline(steps), data=TrainingData(X, Y, weight))
    np.testing.assert_allclose(fit.predictions, plain.predictions + 50)


def test_a_search_over_a_forest_is_fitted_with_weights_and_the_same_for_one_seed():
    forest = RandomForestRegressor(3, max_depth=2)
    learner = GridSearchCV(forest, {"max_depth": [1, 2]}, cv=KFold(2, shuffle=True))
    fits = [fit_all(learner, data=TrainingData(X, Y, np.arange(1.0, 121)))[0] for _ in range(2)]
    np.testing.assert_array_equal(*(fit.predictions for fit in fits))
    scores = [fit.model.cv_results_["mean_test_score"] for fit in fits]
    np.testing.assert_array_equal(*scores)


def test_a_different_output_container_is_not_shared():
    plain, framed = StandardScaler(), StandardScaler().set_output(transform="pandas")
    fits = fit_all(make_pipeline(plain, Ridge()), make_pipeline(framed, Ridge()))
    assert not hasattr(fits[0].model[-1], "feature_names_in_")
    assert hasattr(fits[1].model[-1], "feature_names_in_")


def test_a_transformer_that_cannot_be_pickled_is_fitted_all_the_same():
    learner = make_pipeline(FunctionTransformer(lambda x: x * 2), Ridge())
    (fit,) = fit_all(learner)
    assert fit.predictions.shape == (40, 1)


@pytest.mark.parametrize("careless", [StandardScaler(copy=False), FunctionTransformer()])
def test_what_overwrites_its_rows_spoils_them_for_no_other(careless):
    one, other = fit_all(make_pipeline(careless, Ridge(copy_X=False)), Ridge())
    alone = fit_generally(Ridge(), TrainingData(X, Y), TASK, "predict")
    np.testing.assert_array_equal(other.predictions, alone.predictions)
    again, after = fit_all(LinearRegression(copy_X=False), Ridge())
    np.testing.assert_array_equal(after.predictions, alone.predictions)
    assert one.predictions.shape == again.predictions.shape


def test_weights_reach_the_last_step_of_a_pipeline():
    weight = np.where(np.arange(120) < 40, 0.0, 1.0)
    (fit,) = fit_all(
        make_pipeline(FunctionTransformer(), LinearRegression()),
        data=TrainingData(X, Y, weight),
    )
    expected = LinearRegression().fit(X[40:80], Y[40:80]).predict(X[80:])
    np.testing.assert_allclose(fit.predictions[:, 0], expected)


def test_a_learner_that_takes_no_weights_is_a_type_error():
    (error,) = fit_all(KNeighborsRegressor(), data=TrainingData(X, Y, np.ones(120)))
    assert isinstance(error, TypeError)


def test_seeds_fill_what_is_empty_and_the_same_seed_gives_the_same_fit():
    learner = DecisionTreeRegressor(max_features=1)
    first, second = fit_all(learner), fit_all(learner)
    assert first[0].model.random_state == 3
    np.testing.assert_array_equal(first[0].predictions, second[0].predictions)


class Watching(LGBMRegressor):
    seen = None

    def fit(self, X, y, sample_weight=None, *, eval_sample_weight=None, eval_X=None, eval_y=None):
        Watching.seen = X, y, sample_weight, eval_X, eval_y, eval_sample_weight
        return super().fit(
            X,
            y,
            sample_weight,
            eval_sample_weight=eval_sample_weight,
            eval_X=eval_X,
            eval_y=eval_y,
        )


class Older(DecisionTreeRegressor):
    """Takes the rows to stop on as XGBoost does."""

    def __init__(self, early_stopping_rounds=2, random_state=None):
        super().__init__(random_state=random_state)
        self.early_stopping_rounds = early_stopping_rounds

    def fit(self, X, y, sample_weight=None, eval_set=None, sample_weight_eval_set=None):
        Watching.seen = X, y, sample_weight, *eval_set[0], sample_weight_eval_set
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize(
    "learner", [Watching(n_estimators=5, early_stopping_rounds=2, min_child_samples=2), Older()]
)
def test_early_stopping_never_sees_a_predicted_row(learner, grouped):
    groups = np.arange(120) // 8 if grouped else None
    weight = np.arange(1.0, 121)
    (fit,) = fit_all(learner, data=TrainingData(X, Y, weight, None, groups))
    fitted_on, y, w, stopped_on, y_stop, [w_stop] = Watching.seen
    used = np.concatenate([w, w_stop]) - 1
    np.testing.assert_array_equal(np.sort(used), TASK.train)
    np.testing.assert_array_equal(np.vstack([fitted_on, stopped_on]), X[used.astype(int)])
    np.testing.assert_array_equal(np.concatenate([y, y_stop]), Y[used.astype(int)])
    if grouped:
        assert not set((w - 1) // 8) & set((w_stop - 1) // 8)
    assert fit.predictions.shape == (40, 1)


@pytest.mark.parametrize("rare", [1, 2, 12])
def test_early_stopping_copes_with_rare_and_absent_classes(rare):
    y = np.where(np.arange(120) % 2 == 0, 0, 3)
    y[:rare] = 2
    (fit,) = fit_all(
        LGBMClassifier(n_estimators=5, early_stopping_rounds=2, min_child_samples=2),
        data=TrainingData(X, y, None, 5),
        method="predict_proba",
    )
    assert fit.predictions.shape == (40, 5)


def test_rows_in_order_are_stopped_on_at_their_end():
    learner = Watching(n_estimators=5, n_iter_no_change=2, min_child_samples=2)
    fit_all(learner, task=NodeTask(TASK.train, TASK.test, 3, in_order=True))
    fitted_on, _, _, stopped_on, _, _ = Watching.seen
    np.testing.assert_array_equal(fitted_on, X[:72])
    np.testing.assert_array_equal(stopped_on, X[72:80])


def test_xgboost_prints_nothing_while_it_stops_early(capfd):
    xgboost = pytest.importorskip("xgboost")
    fit_all(xgboost.XGBRegressor(n_estimators=5, early_stopping_rounds=2, n_jobs=1))
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("", "")


def test_one_group_is_split_by_rows():
    data = TrainingData(X, Y, None, None, np.zeros(120))
    (fit,) = fit_all(LGBMRegressor(n_estimators=5, early_stopping_rounds=2), data=data)
    assert fit.predictions.shape == (40, 1)


def test_columns_stay_aligned_where_a_class_is_absent():
    y = np.where(np.arange(120) < 80, 2 * (Y > 0), 1)
    data = TrainingData(X, y, None, 3)
    for method in ("predict_proba", "decision_function"):
        (fit,) = fit_all(LogisticRegression(), data=data, method=method)
        assert fit.predictions.shape == (40, 3)
    (fit,) = fit_all(LogisticRegression(), data=data, method="predict")
    assert set(fit.predictions.ravel()) <= {0.0, 2.0}


class Broken(RegressorMixin, BaseEstimator):
    def __init__(self, fails=False):
        self.fails = fails

    def fit(self, X, y):
        if self.fails:
            rows.append(weakref.ref(X))
            raise RuntimeError("out of luck")
        return self

    def predict(self, X):
        return np.full(len(X), np.nan)


rows = []


def test_predictions_that_are_not_finite_are_an_error():
    (error,) = fit_all(Broken())
    assert isinstance(error, ValueError)
    assert str(error) == "Broken.predict returned values that are not finite"


def test_one_failing_learner_does_not_stop_the_others_and_keeps_no_rows_alive():
    error, fit = fit_all(Broken(fails=True), Ridge())
    assert str(error) == "out of luck"
    assert fit.predictions.shape == (40, 1)
    gc.collect()
    assert rows.pop()() is None
    assert "raise RuntimeError" in error.__notes__[0]


def test_models_are_kept_only_if_wanted_and_empty_tests_predict_nothing():
    nothing = np.empty(0, dtype=int)
    (fit,) = fit_all(Ridge(), task=NodeTask(TASK.train, nothing, 0, keep_model=False))
    assert fit.model is None
    assert fit.predictions.shape == (0, 0)


def test_sparse_rows_work():
    (fit,) = fit_all(Ridge(), data=TrainingData(csr_array(X), Y))
    assert fit.predictions.shape == (40, 1)


def test_a_binary_decision_is_one_column_unless_there_are_more_classes():
    y = (Y > 0).astype(int)
    model = LogisticRegression().fit(X, y)
    assert respond(model, X, "decision_function", TrainingData(X, y, None, 2), 120).shape[1] == 1
    wide = respond(model, X, "decision_function", TrainingData(X, y, None, 3), 120)
    np.testing.assert_allclose(wide[:, 0], -wide[:, 1])


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8])
@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_rows_are_copied_to_aligned_memory(dtype, order):
    table = np.arange(120).reshape(40, 3).astype(dtype)
    table = (
        np.asfortranarray(table) if order == "F" else table[::2] if order == "strided" else table
    )
    for rows in (np.array([3, 1, 7]), np.arange(20), np.empty(0, dtype=np.intp)):
        copied = take_rows(table, rows)
        np.testing.assert_array_equal(copied, table[rows])
        assert copied.dtype == dtype
        assert copied.flags.c_contiguous
        assert copied.flags.writeable
        assert copied.size == 0 or copied.ctypes.data % 64 == 0
        assert not np.shares_memory(copied, table)


def test_rows_of_targets_and_of_objects_are_copied_too():
    assert take_rows(Y, np.array([5])).ctypes.data % 64 == 0
    words = np.array(["a", "b", None], dtype=object)
    assert take_rows(words, np.array([2, 0])).tolist() == [None, "a"]


@pytest.mark.parametrize("shape", [(), (3,), (5, 1)])
def test_a_response_of_the_wrong_shape_is_an_error(shape):
    class Wrong(LinearRegression):
        def predict(self, X):
            return np.zeros(shape)

    model = Wrong().fit(X, Y)
    with pytest.raises(ValueError, match=r"^Wrong.predict returned shape .* for 4 rows$"):
        respond(model, X[:4], "predict", TrainingData(X, Y), 120)


def test_more_columns_than_targets_are_an_error():
    class Wide(LinearRegression):
        def predict(self, X):
            return np.zeros((len(X), 2))

    with pytest.raises(ValueError, match=r"^Wide.predict returned 2 columns for 1 target$"):
        respond(Wide().fit(X, Y), X, "predict", TrainingData(X, Y), 120)


@pytest.mark.parametrize("labels", [[0], [0, 1], range(9)])
def test_there_are_always_rows_to_stop_on(labels) -> None:
    codes = np.array(labels)
    data = TrainingData(np.zeros((len(codes), 1)), codes, n_classes=len(codes))
    kept, held = rows_to_stop_on(data, seed=0)
    assert len(held)
    assert set(codes[kept]) == set(codes)
