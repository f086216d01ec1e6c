import numpy as np
import pytest
from sklearn.model_selection import KFold, PredefinedSplit

from foldwise.boost.early_stopping import inner_splits, stop_early
from foldwise.errors import InvalidDataError, InvalidParameterError
from foldwise.learners.watched import Patience, scaled_rounds


class Model:
    """Remembers how it was made."""

    def __init__(self, rows, apart, rounds):
        self.rows, self.apart, self.rounds = rows, apart, rounds
        self.best_round = 10

    def first(self, rounds):
        return Model(self.rows, self.apart, rounds)


def splits_of(validation, y=None, classes=False, groups=None):
    y = np.arange(100.0) if y is None else y
    return inner_splits("Owner", validation, y, classes=classes, groups=groups, seed=0)


def test_rounds_grow_with_the_rows() -> None:
    assert scaled_rounds([10], [90], 100) == 11
    assert scaled_rounds([10, 20], [50, 50], 100) == 30
    assert scaled_rounds([0], [50], 100) == 1


def test_the_refit_sees_all_rows_for_scaled_rounds() -> None:
    model = stop_early(Model, splits_of(0.5), 100, 30, "scaled")
    assert len(model.rows) == 100
    assert model.apart is None
    assert model.rounds == 20


def test_the_refit_may_keep_the_rounds() -> None:
    assert stop_early(Model, splits_of(0.5), 100, 30, "same").rounds == 10


def test_without_a_refit_the_model_is_cut_at_its_best_round() -> None:
    model = stop_early(Model, splits_of(0.5), 100, 30, None)
    assert len(model.rows) == 50
    assert model.rounds == 10


def test_folds_are_averaged() -> None:
    splits = splits_of(5)
    assert len(splits) == 5
    assert stop_early(Model, splits, 100, 30, "scaled").rounds == 13  # 10 · 100 / 80 = 12.5


def test_classes_are_dealt_in_proportion() -> None:
    y = np.repeat([0, 1], [90, 10])
    ((_, test),) = splits_of(0.2, y, classes=True)
    assert y[test].sum() == 2


def test_a_class_with_one_member_does_not_stop_the_split() -> None:
    y = np.r_[np.zeros(9), 1.0]
    assert len(splits_of(0.2, y, classes=True)) == 1


@pytest.mark.parametrize("validation", [0.3, 4])
def test_groups_stay_together(validation) -> None:
    groups = np.arange(100) // 5
    for train, test in splits_of(validation, groups=groups):
        assert not set(groups[train]) & set(groups[test])


def test_a_splitter_is_taken_as_it_is() -> None:
    ((_, test),) = splits_of(PredefinedSplit(np.where(np.arange(100) < 7, 0, -1)))
    assert test.tolist() == list(range(7))


@pytest.mark.parametrize("bad", [1, 1.5, "half", None, True])
def test_a_bad_validation_is_refused(bad) -> None:
    with pytest.raises(InvalidParameterError, match="validation must be a share between 0 and 1"):
        splits_of(bad)


def test_too_few_rows_are_refused() -> None:
    with pytest.raises(InvalidDataError, match=r"n_samples=1; got 0\.1\. Set early_stopping=False"):
        splits_of(0.1, np.zeros(1))


def test_patience_counts_from_the_lowest_loss() -> None:
    patience = Patience(3)
    heard = [patience.exhausted(loss) for loss in [5, 4, 4.5, 3, 3, 3.1, 3.2]]
    assert heard == [False] * 6 + [True]
    assert patience.exhausted(1)
    assert patience.best_round == 4


def test_the_refit_never_takes_more_rounds_than_asked_for() -> None:
    assert stop_early(Model, splits_of(0.5), 100, 15, "scaled").rounds == 15


@pytest.mark.parametrize("torn", [KFold(4), [(np.arange(52), np.arange(52, 100))]])
def test_splits_that_tear_groups_are_refused(torn) -> None:
    with pytest.raises(InvalidParameterError, match="keep the rows of a group on one side"):
        splits_of(torn, groups=np.arange(100) // 7)
