import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import KFold, PredefinedSplit, StratifiedKFold, TimeSeriesSplit

from foldwise.errors import InvalidParameterError
from foldwise.paths.dealing import deal_folds


def deal(cv, y, classify=False, groups=None, kept=None):
    of = {"classify": classify, "groups": groups, "kept": kept}
    return deal_folds("Owner", cv, np.asarray(y), rng=np.random.default_rng(0), **of)


def test_folds_are_as_even_as_can_be():
    assert sorted(np.bincount(deal(5, np.arange(23.0)))) == [4, 4, 5, 5, 5]


def test_a_rare_class_is_dealt_evenly():
    y = np.r_[np.zeros(20), np.ones(4)]
    folds = deal(4, y, classify=True)
    assert_array_equal(np.bincount(folds[y == 0], minlength=4), [5, 5, 5, 5])
    assert np.bincount(folds[y == 1]).max() == 1


@pytest.mark.parametrize("classify", [False, True])
def test_groups_stay_together(classify):
    groups = np.repeat(np.arange(10), 4)
    folds = deal(5, np.tile([0, 1], 20), classify=classify, groups=groups)
    assert all(len(set(folds[groups == g])) == 1 for g in range(10))
    assert len(set(folds)) == 5


def test_splitters_are_followed():
    y = np.arange(12)
    folds = deal(KFold(3), y)
    assert_array_equal(folds, np.repeat([0, 1, 2], 4))
    assert len(set(deal(StratifiedKFold(2), y % 2, classify=True))) == 2


GAPPED = [(np.arange(5, 12), np.arange(4)), (np.arange(4), np.arange(4, 12))]


@pytest.mark.parametrize("cv", [TimeSeriesSplit(3), GAPPED])
def test_splits_that_leave_rows_out_are_refused(cv):
    with pytest.raises(InvalidParameterError, match="Owner: cv must test every row exactly once"):
        deal(cv, np.arange(12))


def test_splits_are_renumbered_where_rows_weigh_nothing():
    kept = np.array([True, False, True, True, False, True])
    fold = np.array([1, 0, 0, 0, 1, 1])
    masks = [(fold != f, fold == f) for f in (0, 1)]
    for cv in (PredefinedSplit(fold), masks):
        assert_array_equal(deal(cv, np.arange(4.0), kept=kept), [1, 0, 0, 1])
