import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import foldwise
from foldwise import errors


@pytest.mark.parametrize(
    ("ours", "builtin"),
    [
        (errors.InvalidParameterError, ValueError),
        (errors.InvalidDataError, ValueError),
        (errors.UnsupportedError, TypeError),
        (errors.AllLearnersFailedError, ValueError),
        (errors.FoldwiseWarning, UserWarning),
    ],
)
def test_each_of_our_classes_is_also_a_builtin(ours: type, builtin: type) -> None:
    assert issubclass(ours, builtin)


def test_the_sentence_names_owner_parameter_rule_value_and_remedy() -> None:
    error = errors.invalid_parameter("Stack", "cv", must="be at least 2", got=1, fix="Try 5.")
    assert str(error) == "Stack: cv must be at least 2; got 1. Try 5."


def test_long_values_are_cut() -> None:
    text = errors.sentence("A", "b", must="be short", got="x" * 500, fix="Cut it.")
    assert len(text) < 130
    assert "..." in text


def test_a_warning_points_at_the_users_line() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        errors.warn("something")
    assert caught[0].filename == __file__


def test_every_public_name_can_be_imported() -> None:
    assert all(getattr(foldwise, name) is not None for name in foldwise.__all__)


@pytest.mark.parametrize("heavy", ["pandas", "matplotlib", "lightgbm", "sklearn"])
def test_importing_foldwise_stays_light(heavy: str) -> None:
    code = f"import foldwise, sys; raise SystemExit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("estimator", "said"),
    [
        (
            foldwise.AveragedCVRegressor(forced=3),
            "AveragedCVRegressor: forced must be a list of columns; got 3. Try [0].",
        ),
        (
            foldwise.BestSubsetRegressor(column_groups=[0, 1]),
            "BestSubsetRegressor: column_groups must be a list of lists of columns; got 0. "
            "Try [[0, 1]].",
        ),
        (
            foldwise.NewtonBoostingRegressor(monotonic_cst=1),
            "NewtonBoostingRegressor: monotonic_cst must be a list of -1, 0 and 1, a dict or None; "
            "got 1. Give one number a column.",
        ),
        (
            foldwise.NewtonBoostingRegressor(categorical_features=0),
            "NewtonBoostingRegressor: categorical_features must be 'from_dtype', a list of "
            "columns, a mask or None; got 0. Try 'from_dtype'.",
        ),
        (
            foldwise.NewtonBoostingRegressor(lightgbm_params=0),
            "NewtonBoostingRegressor: lightgbm_params must be a dict of LightGBM's own parameters; "
            "got 0. Try {'extra_trees': True}.",
        ),
        (
            foldwise.StackingRegressor([("ridge", Ridge())], passthrough=1),
            "StackingRegressor: passthrough must be a bool or a list of columns; got 1. Try True.",
        ),
        (
            foldwise.StackingRegressor([("ridge", Ridge())], cv=[range(10), range(10, 20)]),
            "StackingRegressor: cv must hold pairs of (train, test) if it is an iterable; got "
            "range(0, 10). Use cv=5.",
        ),
        (
            foldwise.LassoPathRegressor(cv=[1.5]),
            "LassoPathRegressor: cv must hold pairs of (train, test) if it is an iterable; got "
            "1.5. Use cv=5.",
        ),
        (
            foldwise.TableEncoder(kinds=1),
            "TableEncoder: kinds must be a dict of column to kind; got 1. "
            "Try {'town': 'category'}.",
        ),
    ],
    ids=lambda value: "" if isinstance(value, str) else type(value).__name__,
)
def test_a_number_where_a_list_a_pair_or_a_dict_belongs_is_an_error_of_ours(
    estimator: Any, said: str
) -> None:
    X = np.arange(40.0).reshape(20, 2)
    with pytest.raises(errors.InvalidParameterError) as caught:
        estimator.fit(X, X[:, 0])
    assert str(caught.value) == said


@pytest.mark.parametrize(
    "estimator",
    [
        foldwise.AutoStackRegressor("fast", n_jobs="all"),
        foldwise.BaggingRegressor(n_jobs="all"),
        foldwise.ISLERegressor(n_jobs="all"),
        foldwise.NewtonBoostingRegressor(n_jobs="all"),
        foldwise.StackingRegressor([("ridge", Ridge())], n_jobs="all"),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_jobs_that_cannot_be_counted_are_an_error_of_ours(estimator: Any) -> None:
    X = np.arange(80.0).reshape(40, 2)
    with pytest.raises(errors.InvalidParameterError) as caught:
        estimator.fit(X, X[:, 0])
    assert str(caught.value) == (
        f"{type(estimator).__name__}: n_jobs must be a whole number that is not 0, or None; "
        "got 'all'. Try -1 for all processors."
    )
