import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from foldwise import AdaBoostClassifier
from foldwise.boost.stumps import SortedColumns, is_plain_stump


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), n_classes=st.integers(2, 4))
def test_the_stump_is_scikit_learns(seed, n_classes) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3)).astype(np.float32)
    codes, weight = rng.integers(n_classes, size=40), rng.random(40)
    codes[:n_classes] = np.arange(n_classes)
    theirs = DecisionTreeClassifier(max_depth=1, random_state=0)
    theirs.fit(X, codes, sample_weight=weight)
    learner = DecisionTreeClassifier(max_depth=1)
    ours = SortedColumns(X, codes, n_classes).best_stump(weight, learner)
    assert ours.tree_.threshold[0] == theirs.tree_.threshold[0]
    np.testing.assert_array_equal(ours.tree_.feature, theirs.tree_.feature)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)
    np.testing.assert_allclose(ours.tree_.impurity, theirs.tree_.impurity, atol=1e-9)
    np.testing.assert_array_equal(ours.feature_importances_, theirs.feature_importances_)


def test_values_that_are_alike_are_not_split() -> None:
    X, codes = np.zeros((4, 2), dtype=np.float32), np.array([0, 0, 1, 1])
    learner = DecisionTreeClassifier(max_depth=1)
    assert SortedColumns(X, codes, 2).best_stump(np.ones(4), learner) is None
    X[:, 1] = [0, 1, 1, 1]
    stump = SortedColumns(X, codes, 2).best_stump(np.ones(4), learner)
    assert (stump.tree_.feature[0], stump.tree_.threshold[0]) == (1, 0.5)
    assert stump.tree_.value[1].tolist() == [[1.0, 0.0]]
    assert stump.tree_.weighted_n_node_samples.tolist() == [4.0, 1.0, 3.0]


def test_only_plain_stumps_take_the_shortcut() -> None:
    assert is_plain_stump(DecisionTreeClassifier(max_depth=1))
    assert not is_plain_stump(DecisionTreeClassifier(max_depth=2))
    assert not is_plain_stump(DecisionTreeClassifier(max_depth=1, class_weight="balanced"))
    assert not is_plain_stump(AdaBoostClassifier())


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_shortcut_gives_what_the_general_way_gives(n_classes) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    y = np.digitize(X[:, 0] + X[:, 1] + rng.normal(size=150), np.linspace(-1, 1, n_classes - 1))
    quick = AdaBoostClassifier(n_estimators=30, random_state=0).fit(X, y)
    # A limit that changes nothing keeps the learner off the shortcut.
    plain = DecisionTreeClassifier(max_depth=1, min_samples_split=3, random_state=0)
    general = AdaBoostClassifier(plain, n_estimators=30).fit(X, y)
    np.testing.assert_allclose(quick.predict_proba(X), general.predict_proba(X), rtol=1e-8)
