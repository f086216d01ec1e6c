import json
import os

import numpy as np
import pytest
import skops.io
from sklearn.base import BaseEstimator
from sklearn.linear_model import Ridge
from sklearn.metrics import log_loss

from foldwise.errors import InvalidDataError
from foldwise.files import trusted_types
from foldwise.files.allowed import class_named, function_name, function_named, is_allowed


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "builtins.eval",
        "subprocess.Popen",
        "sklearn.utils._testing.TempMemmap",
        "sklearn.externals._packaging.version.Version",
        "sklearn.os",
        "sklearn..os.system",
        "sklearn.linear_model._ridge.np",
        "sklearn.linear_model._ridge.Ridge.fit",
        "sklearn.linear_model.Ridge",
        "sklearn.no.such.Thing",
        "foldwise.cli.main",
        "foldwise.errors.FoldwiseError",
        "foldwise.engine.store.RunStore",
        "foldwise.files.encode.Encoder",
        "sklearn",
        "",
        7,
        None,
        ["sklearn.linear_model._ridge.Ridge"],
    ],
)
def test_nothing_else_can_be_named(name) -> None:
    with pytest.raises(InvalidDataError, match="hold only types that foldwise allows; got"):
        class_named(name)


def test_estimators_and_our_parts_can() -> None:
    assert class_named("sklearn.linear_model._ridge.Ridge") is Ridge
    assert class_named("foldwise.stack.table.read.NodeTable").__name__ == "NodeTable"


def test_the_name_is_in_the_sentence() -> None:
    with pytest.raises(InvalidDataError) as error:
        class_named("posix.system")
    assert str(error.value) == (
        "load: file must hold only types that foldwise allows; got 'posix.system'. If it is a "
        "class of yours, give it in trusted=[...]; else do not load this file."
    )


def test_a_missing_library_is_named(monkeypatch) -> None:
    import foldwise.files.allowed as module

    def missing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}", name="xgboost")

    monkeypatch.setattr(module, "import_module", missing)
    with pytest.raises(InvalidDataError) as error:
        class_named("xgboost.sklearn.XGBRegressor")
    assert str(error.value) == (
        "load: file must find the library it needs; got 'xgboost'. Install it and load again."
    )


class Mine(BaseEstimator):
    pass


def test_ones_own_classes_need_a_word() -> None:
    assert not is_allowed(Mine)
    assert is_allowed(Mine, [Mine])
    assert class_named(f"{__name__}.Mine", [Mine]) is Mine


@pytest.mark.parametrize("function", [np.log1p, log_loss])
def test_functions_that_only_count_are_allowed(function) -> None:
    name = function_name(function)
    assert function_named(name) is function


@pytest.mark.parametrize(
    "name",
    ["os.system", "numpy.load", "numpy.fromfile", "sklearn.metrics.np", "builtins.exec",
     "sklearn.metrics._scorer.make_scorer", "numpy.random.seed", "log", "", None],
)  # fmt: skip
def test_other_functions_are_not(name) -> None:
    with pytest.raises(InvalidDataError, match="hold only functions that foldwise allows"):
        function_named(name)
    assert function_name(os.system) is None
    assert function_name(json.loads) is None


def test_trusted_types_are_names_that_skops_takes() -> None:
    names = trusted_types()
    assert names == sorted(set(names))
    assert "foldwise.rules.rule.Rule" in names
    assert not [name for name in names if name.startswith("foldwise.engine.store")]
    model = Ridge().fit([[1.0], [2.0]], [1.0, 2.0])
    assert skops.io.loads(skops.io.dumps(model), trusted=names).predict([[1.0]]) > 0
