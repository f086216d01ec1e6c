import copy
import dataclasses
import functools
import importlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from lightgbm import LGBMRegressor
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from xgboost import XGBRegressor

from foldwise import NewtonBoostingRegressor, StackingRegressor
from foldwise.engine.fingerprint import fingerprint
from foldwise.errors import UnsupportedError

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(6, 3))


def halved(values):
    return values / DIVISOR


DIVISOR = 2


class OwnLearner(RegressorMixin, BaseEstimator):
    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))


def pipeline(alpha=1.0):
    columns = ColumnTransformer([("n", StandardScaler(), [0, 1]), ("c", OneHotEncoder(), [2])])
    return make_pipeline(columns, FunctionTransformer(halved), Ridge(alpha=alpha))


def forest():
    return RandomForestRegressor(2, random_state=0)


THINGS = {
    "none": lambda: None,
    "int": lambda: 1,
    "true": lambda: True,
    "float": lambda: 1.0,
    "nan": lambda: float("nan"),
    "numpy int": lambda: np.int64(1),
    "numpy short": lambda: np.int16(1),
    "text": lambda: "1",
    "bytes": lambda: b"1",
    "list": lambda: [1],
    "tuple": lambda: (1,),
    "nested": lambda: [[1], []],
    "nested otherwise": lambda: [[], [1]],
    "set": lambda: {"b", "a", "c"},
    "frozenset": lambda: frozenset("abc"),
    "dict": lambda: {"a": 1, "b": 2},
    "dict in another order": lambda: {"b": 2, "a": 1},
    "array": lambda: X.copy(),
    "array by columns": lambda: np.asfortranarray(X),
    "symmetric": lambda: np.eye(3),
    "symmetric by columns": lambda: np.asfortranarray(np.eye(3)),
    "transposed": lambda: X.T.copy(),
    "reshaped": lambda: X.reshape(3, 6).copy(),
    "array of float32": lambda: X.astype(np.float32),
    "big-endian array": lambda: X.astype(">f8"),
    "masked array": lambda: np.ma.MaskedArray(X, X > 0),
    "strings": lambda: np.array(["a", "bc"], dtype=object),
    "strings cut elsewhere": lambda: np.array(["ab", "c"], dtype=object),
    "fixed strings": lambda: np.array(["a", "bc"]),
    "objects": lambda: np.array(["a", None, 1.5], dtype=object),
    "records": lambda: np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
    "dates": lambda: np.array(["2020-01-01"], dtype="M8[D]"),
    "csr": lambda: sparse.csr_array(X),
    "csr matrix": lambda: sparse.csr_matrix(X),
    "csc": lambda: sparse.csc_array(X),
    "coo": lambda: sparse.coo_array(X),
    "frame": lambda: pd.DataFrame(X, columns=list("abc")),
    "frame of other names": lambda: pd.DataFrame(X, columns=list("abd")),
    "frame of other rows": lambda: pd.DataFrame(X, columns=list("abc"), index=range(1, 7)),
    "series": lambda: pd.Series([1.0, 2.0], name="a"),
    "category": lambda: pd.Series(["a", "b"], dtype="category"),
    "category of three": lambda: pd.Series(pd.Categorical(["a", "b"], ["a", "b", "c"])),
    "ordered category": lambda: pd.Series(pd.Categorical(["a", "b"], ordered=True)),
    "text column": lambda: pd.Series(["a", None, "c"], dtype="str"),
    "nullable": lambda: pd.Series([1, None, 3], dtype="Int64"),
    "zoned time": lambda: pd.Series(pd.to_datetime(["2020-01-01"]).tz_localize("UTC")),
    "period": lambda: pd.Series(pd.period_range("2020-01", periods=2, freq="M")),
    "two-level index": lambda: pd.MultiIndex.from_product([["a", "b"], [1, 2]]),
    "polars": lambda: pl.DataFrame({"a": [1, None], "b": ["x", "y"]}),
    "polars of other names": lambda: pl.DataFrame({"a": [1, None], "d": ["x", "y"]}),
    "polars category": lambda: pl.Series(["a", "b"], dtype=pl.Categorical),
    "polars enum": lambda: pl.Series(["a", "b"], dtype=pl.Enum(["a", "b", "c"])),
    "ridge": lambda: Ridge(),
    "ridge of two": lambda: Ridge(alpha=2),
    "pipeline": lambda: pipeline(),
    "pipeline with another end": lambda: pipeline(2.0),
    "forest": lambda: RandomForestRegressor(random_state=np.random.RandomState(3)),
    "other forest": lambda: RandomForestRegressor(random_state=np.random.RandomState(4)),
    "lightgbm": lambda: LGBMRegressor(num_leaves=3, verbose=-1),
    "xgboost": lambda: XGBRegressor(max_depth=3),
    "kernel": lambda: GaussianProcessRegressor(RBF(0.5) + WhiteKernel()),
    "kernel of another width": lambda: GaussianProcessRegressor(RBF(0.6) + WhiteKernel()),
    "search": lambda: GridSearchCV(Ridge(), {"alpha": [1, 2]}, cv=KFold(3)),
    "search over other folds": lambda: GridSearchCV(Ridge(), {"alpha": [1, 2]}, cv=KFold(4)),
    "own learner": lambda: OwnLearner(),
    "own function": lambda: halved,
    "ufunc": lambda: np.log1p,
    "numpy function": lambda: np.mean,
    "builtin": lambda: len,
    "partial": lambda: functools.partial(halved, values=3),
    "generator": lambda: np.random.default_rng(1),
    "other generator": lambda: np.random.default_rng(2),
    "frozen": lambda: FrozenEstimator(Ridge().fit(X, X[:, 0])),
    "frozen otherwise": lambda: FrozenEstimator(Ridge().fit(X, X[:, 1])),
    "frozen forest": lambda: FrozenEstimator(forest().fit(X, X[:, 0])),
    "class": lambda: Ridge,
    "path": lambda: Path("a"),
}  # fmt: skip


def test_what_differs_has_another_key() -> None:
    keys = {name: fingerprint(make()) for name, make in THINGS.items()}
    groups = pd.Series(keys).groupby(keys).groups
    assert [list(names) for names in groups.values() if len(names) > 1] == []
    assert {len(key) for key in keys.values()} == {40}


@pytest.mark.parametrize("name", THINGS)
def test_what_is_made_again_has_the_same_key(name: str) -> None:
    assert fingerprint(THINGS[name]()) == fingerprint(THINGS[name]())


def test_keys_are_the_same_in_another_process() -> None:
    # Hashes of strings, and with them the order of sets, differ between processes.
    code = (
        "from tests.engine import test_fingerprint as t\n"
        "print({name: t.fingerprint(make()) for name, make in t.THINGS.items()})"
    )
    other = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    said = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": "src", "PYTHONHASHSEED": other},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert said == f"{ {name: fingerprint(make()) for name, make in THINGS.items()} }\n"


@given(hnp.arrays(np.float64, hnp.array_shapes(max_dims=2, max_side=5)), st.data())
def test_any_changed_bit_changes_the_key_of_an_array(
    array: np.ndarray, data: st.DataObject
) -> None:
    changed = array.copy()
    byte = data.draw(st.integers(0, array.nbytes - 1))
    changed.reshape(-1).view(np.uint8)[byte] ^= 1 << data.draw(st.integers(0, 7))
    assert fingerprint(array) != fingerprint(changed)
    assert fingerprint(array) == fingerprint(array.copy())


def test_views_and_memory_maps_have_the_key_of_their_values(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", X)
    wide = np.hstack([X, X])
    key = fingerprint(X)
    assert fingerprint(np.load(tmp_path / "X.npy", mmap_mode="r")) == key
    assert fingerprint(wide[:, :3]) == key
    assert fingerprint(np.asfortranarray(wide)[:, :3]) == fingerprint(np.asfortranarray(X)) != key
    assert fingerprint(np.repeat(X, 2, axis=0)[::2]) == key


def test_a_large_array_is_read_in_blocks_to_its_end() -> None:
    large = np.zeros(3 << 22)
    changed = large.copy()
    changed[-1] = 1
    assert fingerprint(large) != fingerprint(changed)


def test_what_an_estimator_has_learnt_does_not_count_unless_it_is_frozen() -> None:
    ridge = Ridge()
    key = fingerprint(ridge)
    assert fingerprint(ridge.fit(X, X[:, 0])) == key == fingerprint(clone(ridge))


def test_how_a_nested_stack_is_run_does_not_count() -> None:
    key = fingerprint(StackingRegressor([("r", Ridge())]))
    run = StackingRegressor([("r", Ridge())], n_jobs=2, verbose=1, executor=threading.Lock())
    assert fingerprint(run) == key == fingerprint(clone(run))
    assert fingerprint(StackingRegressor([("r", Ridge())], cv=3)) != key


def test_an_estimator_that_is_a_dataclass_counts_as_an_estimator() -> None:
    class Own(NewtonBoostingRegressor):
        def __init__(self, own: int = 0) -> None:
            super().__init__()
            self.own = own

    key = fingerprint(NewtonBoostingRegressor())
    assert fingerprint(NewtonBoostingRegressor(n_jobs=2, verbose=1)) == key
    assert fingerprint(NewtonBoostingRegressor(gamma=1.0)) != key
    assert fingerprint(Own(1)) != fingerprint(Own(2))


def test_fields_that_are_not_compared_do_not_count() -> None:
    @dataclasses.dataclass
    class Data:
        X: list[int]
        cache: dict[str, int] = dataclasses.field(default_factory=dict, compare=False)

    assert fingerprint(Data([1], {"a": 1})) == fingerprint(Data([1]))
    assert fingerprint(Data([2])) != fingerprint(Data([1]))


def own(body: str, **names: object):
    space = {"__name__": "__main__", **names}
    exec(f"def own(x):\n    {body}", space)
    return space["own"]


def test_a_function_counts_by_its_code_and_not_by_where_it_stands() -> None:
    assert fingerprint(own("return x + 1")) == fingerprint(own("\n\n    return x + 1"))
    assert fingerprint(own("return x + 1")) != fingerprint(own("return x + 2"))
    assert fingerprint(own("return x + 1")) != fingerprint(own("return x - 1"))


def test_a_function_counts_by_what_it_uses() -> None:
    body = "return helper(x)"
    one, two = own("return x * 1.5"), own("return x * 2.5")
    assert fingerprint(own(body, helper=one)) != fingerprint(own(body, helper=two))
    assert fingerprint(own("return C", C=1)) != fingerprint(own("return C", C=2))


def test_a_function_counts_by_the_values_it_uses_and_not_by_attributes_of_their_names() -> None:
    def keys(body, values):
        return {fingerprint(own(body, C=value)) for value in values}

    assert len(keys("return C", [[1], [2], {"a": 1}, np.ones(2), np.zeros(2)])) == 5
    assert len(keys("return x.C", [1, 2])) == 1
    assert len(keys("return C", [threading.Lock(), threading.Lock()])) == 1


HELPERS = """
from own_deeper import factor
import own_helpers
__version__ = "1.0"
OFFSET = 1
calls = 0
def value(x):
    return x * factor() + OFFSET
class Model:
    def fit(self):
        return value(1)
"""
USES = {
    "global": "import own_helpers\ndef own(x):\n    return own_helpers.value(x)",
    "local": "def own(x):\n    import own_helpers\n    return own_helpers.value(x)",
    "from": "def own(x):\n    from own_helpers import value\n    return value(x)",
    "closure": "def make():\n    import own_helpers as h\n    return lambda x: h.value(x)\n"
    "own = make()",
    "class": "import own_helpers\nclass own(own_helpers.Model):\n    pass",
}


@pytest.mark.parametrize("use", USES)
def test_a_module_of_ones_own_counts_by_the_code_that_is_used(
    use: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def key(helpers: str = HELPERS, deeper: str = "def factor():\n    return 2") -> str:
        (tmp_path / "own_helpers.py").write_text(helpers)
        (tmp_path / "own_deeper.py").write_text(deeper)
        importlib.invalidate_caches()
        space = {"__name__": "__main__"}
        exec(USES[use], space)
        found = fingerprint(space["own"])
        for name in ("own_helpers", "own_deeper"):
            sys.modules.pop(name, None)
        return found

    before = key()
    assert key() == before
    assert key(HELPERS.replace("calls = 0", "calls = 1  # what nobody uses")) == before
    assert key(HELPERS.replace("OFFSET = 1", "OFFSET = 2")) != before
    assert key(HELPERS.replace("* factor()", "/ factor()")) != before
    assert key(deeper="def factor():\n    return 3") != before


def test_what_set_output_was_told_counts() -> None:
    keys = {
        fingerprint(make_pipeline(scaler, Ridge()))
        for scaler in (StandardScaler(), StandardScaler().set_output(transform="pandas"))
    }
    assert len(keys) == 2


@functools.cache
def remembered(x):
    return x + DIVISOR


def test_a_cached_function_counts_by_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint(remembered)
    monkeypatch.setattr(sys.modules[__name__], "DIVISOR", 3)
    assert fingerprint(remembered) != before


def test_closures_and_defaults_count() -> None:
    def adder(n):
        return lambda x: x + n

    assert fingerprint(adder(1)) == fingerprint(adder(1)) != fingerprint(adder(2))


def test_changing_the_code_of_an_own_learner_changes_its_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = fingerprint(OwnLearner())
    monkeypatch.setattr(OwnLearner, "predict", lambda _, X: np.ones(len(X)))
    assert fingerprint(OwnLearner()) != before


def test_attributes_of_an_own_class_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OwnLearner, "sizes", [10, 10], raising=False)
    before = fingerprint(OwnLearner())
    monkeypatch.setattr(OwnLearner, "sizes", [10, 20])
    assert fingerprint(OwnLearner()) != before
    monkeypatch.setattr(OwnLearner, "registry", {"own": OwnLearner}, raising=False)
    monkeypatch.setattr(OwnLearner, "lock", threading.Lock(), raising=False)
    assert fingerprint(OwnLearner()) == fingerprint(OwnLearner())


def test_another_version_of_a_package_changes_the_keys_of_its_learners(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = fingerprint(LGBMRegressor()), fingerprint(Ridge())
    monkeypatch.setattr("lightgbm.__version__", "0.0")
    assert fingerprint(LGBMRegressor()) != before[0]
    assert fingerprint(Ridge()) == before[1]


def test_something_that_holds_itself_has_a_key() -> None:
    loop: list[object] = [1]
    loop.append(loop)
    assert fingerprint(loop) == fingerprint(loop) != fingerprint([1, [1]])


def test_what_means_nothing_elsewhere_is_refused_with_its_place() -> None:
    lock = threading.Lock()
    with pytest.raises(UnsupportedError) as caught:
        fingerprint({"a": [make_pipeline(FunctionTransformer(kw_args={"lock": lock}), Ridge())]})
    assert str(caught.value) == (
        "fingerprint: obj['a'][0].steps[0][1].kw_args['lock'] must have a content that means the "
        f"same in another process; got {lock!r}. Use something that can be pickled."
    )


def test_pickling_an_own_learner_does_not_change_its_key() -> None:
    class Own(Ridge):
        pass

    before = fingerprint(Own())
    copy.copy(Own())
    assert "__slotnames__" in vars(Own)
    assert fingerprint(Own()) == before
