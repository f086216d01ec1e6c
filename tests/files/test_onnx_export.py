"""What ONNX Runtime says to the file against what the model says, on the same 32-bit numbers."""

import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from lightgbm import LGBMClassifier, LGBMRegressor
from numpy.testing import assert_allclose
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor
from xgboost import XGBClassifier, XGBRegressor

from foldwise import BaggingRegressor, StackingClassifier, StackingRegressor
from foldwise.errors import InvalidDataError, InvalidParameterError, UnsupportedError
from foldwise.files import export_onnx
from foldwise.files import onnx_export as module

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4)).astype(np.float32).astype(np.float64)
Y = X[:, 0] + np.sin(2 * X[:, 1]) + 0.1 * RNG.normal(size=150)
LABELS = np.where(Y > 0.6, "high", np.where(Y < -0.6, "low", "mid"))
NUMBERS = [
    ("ridge", Ridge()),
    ("forest", RandomForestRegressor(5, max_depth=4)),
    ("boosted", GradientBoostingRegressor(n_estimators=5)),
    ("near", make_pipeline(StandardScaler(), KNeighborsRegressor())),
    ("light", LGBMRegressor(n_estimators=5, n_jobs=1, verbose=-1)),
    ("xgb", XGBRegressor(n_estimators=5)),
    ("two", LinearRegression(), [0, 2]),
]
CLASSES = [
    ("nb", GaussianNB()),
    ("forest", RandomForestClassifier(5, max_depth=4)),
    ("near", KNeighborsClassifier()),
    ("light", LGBMClassifier(n_estimators=5, n_jobs=1, verbose=-1)),
    ("xgb", XGBClassifier(n_estimators=5)),
]


def run(path: Path, rows=X):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(None, {"X": np.asarray(rows, dtype=np.float32)})


@pytest.mark.parametrize("top", ["mean", "best", "nnls", "ridge", "lasso", LinearRegression()])
def test_regressors_predict_the_same(top, tmp_path: Path) -> None:
    picked = NUMBERS if top == "ridge" else NUMBERS[:2]
    stack = StackingRegressor(picked, top, cv=3, random_state=0).fit(X, Y)
    assert export_onnx(stack, tmp_path / "model.onnx", X) < 1e-5
    (found,) = run(tmp_path / "model.onnx")
    assert_allclose(found, stack.predict(X), atol=1e-5)


@pytest.mark.parametrize("top", ["mean", "nnls", "logistic"])
@pytest.mark.parametrize("y", [LABELS, (Y > 0).astype(int)], ids=["three texts", "two numbers"])
def test_classifiers_say_the_same(top, y, tmp_path: Path) -> None:
    picked = CLASSES if top == "logistic" else CLASSES[:2]
    stack = StackingClassifier(picked, top, cv=3, random_state=0).fit(X, y)
    assert export_onnx(stack, tmp_path / "model.onnx", X) < 1e-5
    labels, probabilities = run(tmp_path / "model.onnx")
    assert_allclose(probabilities, stack.predict_proba(X), atol=1e-5)
    assert labels.tolist() == stack.predict(X).tolist()


@pytest.mark.parametrize("predict_with", ["refit", "pairs"])
def test_all_ways_to_predict_and_repeats(predict_with: str, tmp_path: Path) -> None:
    stack = StackingRegressor(
        NUMBERS[:2], "nnls", cv=3, predict_with=predict_with, n_repeats=2, random_state=0
    ).fit(X, Y)
    assert export_onnx(stack, tmp_path / "model.onnx", X) < 1e-5


def test_frames_with_picked_columns(tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    learners = [("ridge", Ridge(), ["a", "c"]), ("tree", DecisionTreeRegressor(max_depth=2))]
    stack = StackingRegressor(learners, "nnls", cv=3, random_state=0).fit(frame, Y)
    assert export_onnx(stack, tmp_path / "model.onnx", frame) < 1e-5


def test_single_models_too(tmp_path: Path) -> None:
    assert export_onnx(RandomForestRegressor(5).fit(X, Y), tmp_path / "model.onnx", X) < 1e-5
    model = LogisticRegression().fit(X, LABELS)
    assert export_onnx(model, tmp_path / "model.onnx", X) < 1e-5
    assert run(tmp_path / "model.onnx")[0].tolist() == model.predict(X).tolist()


def refusal(model, tmp_path: Path) -> str:
    with pytest.raises(UnsupportedError) as error:
        export_onnx(model, tmp_path / "model.onnx", X)
    assert not (tmp_path / "model.onnx").exists()
    return str(error.value)


def test_what_cannot_be_exported_is_named(tmp_path: Path) -> None:
    stack = StackingRegressor([("hist", HistGradientBoostingRegressor(max_iter=2))], cv=3)
    assert refusal(stack.fit(X, Y), tmp_path) == (
        "export_onnx: model must hold only learners that skl2onnx and onnxmltools can convert; "
        "got 'hist', a HistGradientBoostingRegressor. Leave it out, or use foldwise.save."
    )
    bag = BaggingRegressor(Ridge(), n_estimators=2).fit(X, Y)
    assert "got 'BaggingRegressor', a BaggingRegressor" in refusal(bag, tmp_path)
    stack = StackingRegressor(NUMBERS[:2], "median", cv=3).fit(X, Y)
    assert refusal(stack, tmp_path).endswith(
        "got AverageStacker. Use restack('nnls'), or foldwise.save."
    )
    stack = StackingRegressor(NUMBERS[:1], passthrough=True, cv=3).fit(X, Y)
    assert "must have one layer, nothing passed through" in refusal(stack, tmp_path)
    stack = StackingRegressor(NUMBERS[:1], cv=3).fit(X, np.column_stack([Y, Y]))
    assert "must have one target; got 2." in refusal(stack, tmp_path)
    stack = StackingClassifier([("svc", SVC())], cv=3).fit(X, LABELS)
    assert "got 'svc', which gives a decision." in refusal(stack, tmp_path)
    stack = StackingClassifier(CLASSES[:1], "mean", calibrate="temperature", cv=3).fit(X, Y > 0)
    assert "no calibration" in refusal(stack, tmp_path)


def test_an_export_that_differs_is_not_written(tmp_path: Path) -> None:
    stack = StackingRegressor(NUMBERS[:2], "nnls", cv=3, random_state=0).fit(X, Y)
    with pytest.raises(UnsupportedError) as error:
        export_onnx(stack, tmp_path / "model.onnx", X, tolerance=0.0)
    assert str(error.value).startswith(
        "export_onnx: model must predict the same in ONNX Runtime, to 0; got a difference of "
    )
    assert not (tmp_path / "model.onnx").exists()


def test_rows_must_be_numbers(tmp_path: Path) -> None:
    model = Ridge().fit(X, Y)
    with pytest.raises(InvalidDataError, match="export_onnx: X must hold numbers only; got "):
        export_onnx(model, tmp_path / "m", [["a", "b", "c", "d"]])
    with pytest.raises(InvalidDataError, match="export_onnx: X must be a table with rows; got "):
        export_onnx(model, tmp_path / "m", X[:0])


def test_missing_packages_are_named(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None if name == "skl2onnx" else name)
    with pytest.raises(InvalidParameterError) as error:
        export_onnx(Ridge().fit(X, Y), tmp_path / "m", X)
    assert str(error.value) == (
        "export_onnx: packages must be installed: onnx, skl2onnx, onnxmltools, onnxruntime; "
        "got no skl2onnx. Run pip install 'foldwise[onnx]'."
    )


def test_xgboost_need_not_be_installed(monkeypatch, tmp_path: Path) -> None:
    for name in [n for n in sys.modules if n.startswith("onnxmltools.convert.xgboost")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "xgboost", None)
    assert export_onnx(Ridge().fit(X, Y), tmp_path / "m", X) < 1e-5
