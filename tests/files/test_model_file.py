"""What is loaded predicts what was saved, bit by bit."""

import inspect
import json
import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier, LGBMRegressor
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, TransformerMixin, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.isotonic import IsotonicRegression
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LogisticRegression, Ridge, SGDClassifier
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    QuantileTransformer,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, SVR
from xgboost import XGBClassifier, XGBRegressor

import foldwise
from foldwise import AutoStackRegressor, StackingClassifier, StackingRegressor, load, save
from foldwise.combine.calibration.named import METHODS
from foldwise.errors import FoldwiseWarning, UnsupportedError
from foldwise.files import read_manifest
from foldwise.stack.stackers.named import known_names
from tests.files.conftest import X, Y
from tests.files.hostile import members_of, nothing_is_run

CODES = (Y > 0).astype(int)
LABELS = np.where(Y > 0.5, "high", np.where(Y < -0.5, "low", "mid"))
MODELS = Path(__file__).parent / "models"
ESTIMATORS = [
    name
    for name in foldwise.__all__
    if name.endswith(("Regressor", "Classifier")) and not name.startswith(("Stacking", "Auto"))
    if find_spec("torch") or not name.startswith("Net")
]


def assert_same(model, path, rows=X) -> None:
    save(model, path)
    with nothing_is_run():
        again = load(path)
    assert type(again) is type(model)
    for method in ("predict", "predict_proba", "decision_function", "transform"):
        if hasattr(model, method):
            assert_array_equal(getattr(again, method)(rows), getattr(model, method)(rows))


def holds_rows(path: Path) -> bool:
    """Tell whether a row or a column of X is in the file, as bytes of numbers."""
    held = b"\0".join(members_of(path).values())
    lines = [*X, *X.astype(np.float32), *(column.copy() for column in X.T)]
    return any(line.tobytes() in held for line in lines)


def small(name: str) -> BaseEstimator:
    cls = getattr(foldwise, name)
    known = inspect.signature(cls).parameters
    wanted = {"n_estimators": 5, "random_state": 0}
    if "estimators" in known:
        learners = [("a", GaussianNB()), ("b", LogisticRegression())]
        wanted["estimators"] = (
            learners if "Classifier" in name else [("a", Ridge()), ("b", Lasso())]
        )
    if "estimator" in known and known["estimator"].default is inspect.Parameter.empty:
        wanted["estimator"] = GaussianNB()
    return cls(**{key: value for key, value in wanted.items() if key in known})


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_of_ours_comes_back_the_same(name: str, tmp_path: Path) -> None:
    model = small(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, CODES if is_classifier(model) else Y)
    assert_same(model, tmp_path / "model")
    assert read_manifest(tmp_path / "model")["training_rows"] == []
    assert not holds_rows(tmp_path / "model")


REGRESSORS = [
    ("extra trees", ExtraTreesRegressor(5)),
    ("hist", HistGradientBoostingRegressor(max_iter=5)),
    ("kd", KNeighborsRegressor(algorithm="kd_tree")),
    ("ball", KNeighborsRegressor(algorithm="ball_tree", metric="manhattan")),
    ("svr", SVR()),
    ("process", GaussianProcessRegressor(RBF() + WhiteKernel(0.1, "fixed"))),
    ("kernel", KernelRidge(kernel="rbf")),
    (
        "net",
        make_pipeline(
            StandardScaler(), MLPRegressor(hidden_layer_sizes=(4,), tol=10.0, max_iter=50)
        ),
    ),
    ("splines", make_pipeline(SplineTransformer(), Ridge())),
    ("function", make_pipeline(FunctionTransformer(np.tanh), Ridge())),
    ("best", make_pipeline(SelectKBest(f_regression, k=2), Ridge())),
    ("quantiles", make_pipeline(QuantileTransformer(n_quantiles=10), Ridge())),
    (
        "isotonic",
        make_pipeline(SelectKBest(f_regression, k=1), IsotonicRegression(out_of_bounds="clip")),
    ),
    ("search", GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=KFold(3))),
    ("light", LGBMRegressor(n_estimators=5, n_jobs=1, verbose=-1, min_child_samples=5)),
    ("xgb", XGBRegressor(n_estimators=5)),
    ("columns", Ridge(), [0, 2]),
]
CLASSIFIERS = [
    ("hist", HistGradientBoostingClassifier(max_iter=5)),
    ("boosted", GradientBoostingClassifier(n_estimators=5)),
    ("sgd", make_pipeline(StandardScaler(), SGDClassifier(loss="modified_huber"))),
    ("svc", SVC()),
    ("lda", LinearDiscriminantAnalysis()),
    ("knn", KNeighborsClassifier()),
    ("calibrated", CalibratedClassifierCV(GaussianNB(), cv=2)),
    ("light", LGBMClassifier(n_estimators=5, n_jobs=1, verbose=-1, min_child_samples=5)),
    ("xgb", XGBClassifier(n_estimators=5)),
]


@pytest.fixture(scope="module")
def zoo() -> StackingRegressor:
    return StackingRegressor(REGRESSORS, cv=3, random_state=0, on_error="raise").fit(X, Y)


def test_a_stack_of_everything_comes_back_the_same(zoo, tmp_path: Path) -> None:
    assert_same(zoo, tmp_path / "zoo")
    again = load(tmp_path / "zoo")
    pd.testing.assert_frame_equal(again.leaderboard_, zoo.leaderboard_)
    pd.testing.assert_frame_equal(again.oof_, zoo.oof_)
    assert_array_equal(again.predict_interval(X, 0.9), zoo.predict_interval(X, 0.9))
    assert again.score_ == zoo.score_
    assert_array_equal(again.restack("mean").predict(X), zoo.restack("mean").predict(X))


@pytest.mark.parametrize("y", [CODES, LABELS, CODES.astype(bool)], ids=["codes", "text", "bool"])
def test_a_stack_of_classifiers_comes_back_the_same(y, tmp_path: Path) -> None:
    picked = CLASSIFIERS if y.dtype.kind == "U" else CLASSIFIERS[:3]
    stack = StackingClassifier(picked, "mean", cv=3, random_state=0, on_error="raise").fit(X, y)
    assert_same(stack, tmp_path / "stack")


@pytest.mark.parametrize("classify", [False, True])
def test_every_named_stacker_comes_back_the_same(classify: bool, tmp_path: Path) -> None:
    learners = [("nb", GaussianNB()), ("lr", LogisticRegression())] if classify else REGRESSORS[:1]
    kind = StackingClassifier if classify else StackingRegressor
    stack = kind(learners, "mean", cv=3, random_state=0).fit(X, CODES if classify else Y)
    for name in known_names(["a", "b"] if classify else None):
        given = {"weights": [[1.0] * len(learners)]} if name == "weighted_mean" else None
        assert_same(stack.restack((name, given) if given else name), tmp_path / name)


@pytest.mark.parametrize("method", METHODS)
def test_every_calibration_comes_back_the_same(method: str, tmp_path: Path) -> None:
    stack = StackingClassifier([("nb", GaussianNB())], "mean", cv=3, calibrate=method)
    assert_same(stack.set_params(random_state=0).fit(X, CODES), tmp_path / "stack")


def test_an_auto_stack_comes_back_the_same(tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=list("abcd")).assign(
        city=LABELS, day=pd.date_range("2020-01-01", periods=60), flag=Y > 0
    )
    model = AutoStackRegressor(preset="fast", time_budget=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(frame, Y)
        assert_same(model, tmp_path / "auto", frame)


def test_frames_with_categories_keep_their_names(tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=list("abcd")).assign(city=LABELS)
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["city"]), remainder="passthrough"
    )
    numbers = make_column_selector("a|b", dtype_include=np.number)
    scale = make_column_transformer((StandardScaler(), numbers))
    learners = [("ridge", make_pipeline(encode, Ridge())), ("two", Ridge(), ["a", "b"])]
    learners.append(("numbers", make_pipeline(scale, Ridge())))
    stack = StackingRegressor(learners, cv=3, random_state=0).fit(frame, Y)
    assert_same(stack, tmp_path / "stack", frame)
    assert load(tmp_path / "stack").feature_names_in_.tolist() == list(frame.columns)
    assert read_manifest(tmp_path / "stack")["feature_names"] == list(frame.columns)


def test_repeats_layers_weights_groups_and_own_metrics_come_back(tmp_path: Path) -> None:
    layers = [[("a", Ridge()), ("b", Ridge(10.0))], [("c", Ridge())]]
    scorer = make_scorer(mean_absolute_error, greater_is_better=False)
    stack = StackingRegressor(layers, cv=4, scoring=scorer, n_repeats=2, random_state=0)
    stack.fit(X, Y, sample_weight=np.ones(60), groups=np.arange(60) // 2)
    assert_same(stack, tmp_path / "stack")


def test_a_fresh_process_predicts_the_same(zoo, tmp_path: Path) -> None:
    save(zoo, tmp_path / "zoo")
    np.save(tmp_path / "X.npy", X)
    code = (
        "import sys, numpy as np, foldwise; model = foldwise.load(sys.argv[1]); "
        "np.save(sys.argv[3], model.predict(np.load(sys.argv[2])))"
    )
    names = ["zoo", "X.npy", "out.npy"]
    subprocess.run(
        [sys.executable, "-c", code, *names],
        cwd=tmp_path,
        check=True,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(foldwise.__file__).parents[1]),
            "OMP_NUM_THREADS": "1",
        },
    )
    assert_array_equal(np.load(tmp_path / "out.npy"), zoo.predict(X))


def test_a_model_of_schema_1_still_loads_and_predicts_what_it_did() -> None:
    with warnings.catch_warnings():
        # Newer versions of scikit-learn are allowed here; the numbers are not.
        warnings.simplefilter("ignore", FoldwiseWarning)
        model = load(MODELS / "schema_1.foldwise")
    wanted = json.loads((MODELS / "schema_1.json").read_text())
    rows = np.array(wanted["rows"])
    np.testing.assert_allclose(model.predict_proba(rows), wanted["probabilities"], rtol=1e-12)
    assert model.predict(rows).tolist() == wanted["labels"]
    assert read_manifest(MODELS / "schema_1.foldwise")["schema"] == 1


def test_the_manifest_says_what_is_inside(zoo, tmp_path: Path) -> None:
    save(zoo, tmp_path / "zoo")
    manifest = read_manifest(tmp_path / "zoo")
    assert manifest["model"] == "foldwise.stack.regressor.StackingRegressor"
    assert manifest["n_features"] == 4
    assert manifest["foldwise"] == foldwise.__version__
    assert {"numpy", "scikit-learn", "xgboost"} <= set(manifest["dependencies"])
    assert manifest["training_rows"] == ["ball", "isotonic", "kd", "kernel", "process", "svr"]


def test_no_training_row_is_inside_beyond_what_a_learner_keeps(stack, tmp_path: Path) -> None:
    save(stack, tmp_path / "stack")
    assert read_manifest(tmp_path / "stack")["training_rows"] == []
    assert not holds_rows(tmp_path / "stack")
    save(KNeighborsRegressor(algorithm="brute").fit(X, Y), tmp_path / "knn")
    assert read_manifest(tmp_path / "knn")["training_rows"] == ["KNeighborsRegressor"]
    assert holds_rows(tmp_path / "knn")


def test_the_same_model_gives_the_same_bytes(tmp_path: Path) -> None:
    model = Ridge().fit(X, Y)
    save(model, tmp_path / "one")
    save(model, tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


class Doubler(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        self.factor_ = 2
        return self

    def transform(self, X):
        return self.factor_ * np.asarray(X)


def squared(X):
    return np.asarray(X) ** 2


def test_types_of_ones_own_must_be_vouched_for_twice(tmp_path: Path) -> None:
    model = make_pipeline(Doubler(), FunctionTransformer(squared), Ridge()).fit(X, Y)
    with pytest.raises(UnsupportedError) as error:
        save(model, tmp_path / "model")
    assert str(error.value) == (
        "save: model must hold only types that foldwise can load again without running their "
        f"code; got '{__name__}.Doubler'. If it is yours, give it in trusted=[...], here and to "
        "load."
    )
    save(model, tmp_path / "model", trusted=[Doubler, squared])
    with pytest.raises(ValueError, match="hold only types that foldwise allows; got"):
        load(tmp_path / "model")
    again = load(tmp_path / "model", trusted=[Doubler, squared])
    assert_array_equal(again.predict(X), model.predict(X))


def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "model"
    save(Ridge().fit(X, Y), path)
    before = path.read_bytes()
    with pytest.raises(UnsupportedError):
        save(make_pipeline(Doubler(), Ridge()).fit(X, Y), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_an_unfitted_model_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not fitted"):
        save(Ridge(), tmp_path / "model")


def test_another_scikit_learn_is_said_once(saved, tmp_path: Path) -> None:
    content = saved.read_bytes()
    members = members_of(saved)
    import sklearn

    from tests.files.hostile import forged

    old = members["model.json"].replace(sklearn.__version__.encode(), b"1.0.0")
    manifest = json.loads(members["manifest.json"])
    manifest["dependencies"]["scikit-learn"] = "1.0.0"
    members |= {"model.json": old, "manifest.json": json.dumps(manifest).encode()}
    assert content != forged(members)
    (tmp_path / "old").write_bytes(forged(members))
    with pytest.warns(FoldwiseWarning) as caught:
        load(tmp_path / "old")
    assert [str(w.message) for w in caught] == [
        f"load: the model was saved with scikit-learn 1.0.0, this is {sklearn.__version__}. "
        "Compare some predictions, or fit again."
    ]


def test_run_directories_of_this_machine_are_not_told(tmp_path: Path) -> None:
    run = tmp_path / "run of somebody"
    stack = StackingRegressor([("a", Ridge())], cv=3, run_dir=run, random_state=0).fit(X, Y)
    save(stack, tmp_path / "model")
    assert b"somebody" not in b"".join(members_of(tmp_path / "model").values())


def test_threads_that_load_at_once_leave_warnings_as_they_were(tmp_path: Path) -> None:
    save(Ridge().fit([[0.0], [1.0]], [0.0, 1.0]), tmp_path / "ridge.foldwise")
    before = list(warnings.filters), warnings._showwarnmsg_impl  # type: ignore[attr-defined]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(load, [tmp_path / "ridge.foldwise"] * 80))
    finally:
        sys.setswitchinterval(interval)
    assert (list(warnings.filters), warnings._showwarnmsg_impl) == before  # type: ignore[attr-defined]
