import warnings

import numpy as np
import pytest
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

from foldwise.errors import FoldsWarning, InvalidParameterError
from foldwise.folds import deal

OWNER = "Stack"


def same_deal(a, b) -> bool:
    pairs = zip((*a.trains, *a.tests), (*b.trains, *b.tests), strict=True)
    return all(np.array_equal(one, other) for one, other in pairs)


def error_of(cv, n_rows=20, **arguments) -> str:
    with pytest.raises(InvalidParameterError) as caught:
        deal(cv, n_rows, owner=OWNER, **arguments)
    return str(caught.value)


def test_none_is_five_folds() -> None:
    assert deal(None, 20).n_folds == 5


def test_an_int_deals_every_row_once_into_folds_of_nearly_equal_size() -> None:
    lattice = deal(4, 23)
    assert sorted(len(test) for test in lattice.tests) == [5, 6, 6, 6]
    assert np.array_equal(np.sort(np.concatenate(lattice.tests)), np.arange(23))


def test_an_int_shuffles() -> None:
    assert not np.array_equal(deal(2, 40).tests[0], np.arange(20))


def test_one_seed_is_one_deal() -> None:
    assert same_deal(deal(5, 50, seed=3), deal(5, 50, seed=3))
    assert not same_deal(deal(5, 50, seed=3), deal(5, 50, seed=4))


def test_folds_do_not_tell_the_class_shares_of_the_fold_they_judge() -> None:
    def gain(seed: int) -> float:
        """How much more often than a fresh coin flip the commoner class of the others is right."""
        y = (np.random.default_rng(seed).random(30) < 0.5).astype(int)
        lattice = deal(5, 30, classes=y, seed=seed)
        pairs = zip(lattice.trains, lattice.tests, strict=True)
        return float(
            np.sum([(y[test] == (y[train].mean() > 0.5)).sum() for train, test in pairs]) / 30 - 0.5
        )

    gains = np.array([gain(seed) for seed in range(600)])
    assert abs(gains.mean()) < 2 * gains.std() / np.sqrt(600)


def test_no_class_is_missing_from_any_node_and_only_a_rare_one_is_spread_evenly() -> None:
    for rare in (10, 9):
        classes = np.repeat([0, 1], [60, rare])
        for seed in range(60):
            lattice = deal(5, 60 + rare, classes=classes, seed=seed, n_layers=2)
            held = np.array([classes[test].sum() for test in lattice.tests])
            assert np.count_nonzero(held) >= 4
            even = held.max() - held.min() <= 1
            assert even or rare == 10


def test_groups_with_a_common_class_are_dealt_as_groups_without() -> None:
    groups = np.repeat(np.arange(40), 3)
    classes = (np.random.default_rng(0).random(40) < 0.5).astype(int)[groups]
    assert same_deal(deal(5, 120, classes=classes, groups=groups), deal(5, 120, groups=groups))


def test_an_int_with_groups_tears_no_group_apart() -> None:
    groups = np.arange(60) % 17
    for train, test in zip(
        (lattice := deal(5, 60, groups=groups)).trains, lattice.tests, strict=True
    ):
        assert not set(groups[train]) & set(groups[test])


def test_an_int_with_classes_and_groups_does_both() -> None:
    groups = np.repeat(np.arange(20), 6)
    classes = np.tile([0, 1, 1], 40)
    lattice = deal(5, 120, classes=classes, groups=groups)
    for train, test in zip(lattice.trains, lattice.tests, strict=True):
        assert not set(groups[train]) & set(groups[test])
        assert np.bincount(classes[test]).tolist() == [8, 16]


def test_a_splitter_is_asked_as_it_is() -> None:
    lattice = deal(KFold(5), 20)
    assert np.array_equal(lattice.tests[1], [4, 5, 6, 7])


def test_a_splitter_gets_groups_and_classes() -> None:
    groups = np.arange(20) % 7
    lattice = deal(GroupKFold(3), 20, groups=groups)
    assert all(
        not set(groups[train]) & set(groups[test])
        for train, test in zip(lattice.trains, lattice.tests, strict=True)
    )
    classes = np.arange(20) % 2
    stratified = deal(StratifiedKFold(5), 20, classes=classes)
    assert all(classes[test].mean() == 0.5 for test in stratified.tests)


def test_a_splitter_is_never_changed_and_a_free_random_state_is_filled() -> None:
    splitter = KFold(4, shuffle=True)
    assert same_deal(deal(splitter, 30, seed=1), deal(splitter, 30, seed=1))
    assert not same_deal(deal(splitter, 30, seed=1), deal(splitter, 30, seed=2))
    assert splitter.random_state is None


def test_a_random_state_of_the_user_stays() -> None:
    splitter = KFold(4, shuffle=True, random_state=7)
    assert same_deal(deal(splitter, 30, seed=1), deal(splitter, 30, seed=2))


def test_an_iterable_of_splits_is_used_as_given() -> None:
    splits = ((np.arange(10, 20), np.arange(10)), (np.arange(10), np.arange(10, 20)))
    lattice = deal(iter(splits), 20)
    assert np.array_equal(lattice.trains[0], np.arange(10, 20))
    assert lattice.kind == "partition"


def test_boolean_masks_are_row_numbers_too() -> None:
    mask = np.arange(20) < 5
    lattice = deal([(~mask, mask), (mask, ~mask)], 20)
    assert np.array_equal(lattice.tests[0], np.arange(5))


def test_predefined_folds_leave_uncovered_rows_in_every_training_part() -> None:
    fold = np.array([-1, -1, *np.arange(18) % 3])
    lattice = deal(PredefinedSplit(fold), 20)
    assert lattice.fold_of.tolist() == fold.tolist()
    assert all({0, 1} <= set(lattice.rows(frozenset({i, (i + 1) % 3}))) for i in range(3))


@pytest.mark.parametrize("arguments", [{}, {"gap": 2}, {"max_train_size": 4}])
def test_time_series_splits_are_forward(arguments) -> None:
    assert deal(TimeSeriesSplit(4, **arguments), 30).kind == "forward"


def test_one_split_is_single() -> None:
    assert deal(ShuffleSplit(1, test_size=0.3), 20).kind == "single"


def test_repeats_are_different_deals_that_the_seed_fixes() -> None:
    deals = [deal(5, 50, seed=3, repeat=r) for r in range(3)]
    assert not same_deal(deals[0], deals[1])
    assert not same_deal(deals[1], deals[2])
    assert same_deal(deals[2], deal(5, 50, seed=3, repeat=2))


def test_repeats_reshuffle_a_splitter_even_one_with_a_seed() -> None:
    splitter = KFold(5, shuffle=True, random_state=0)
    assert not same_deal(deal(splitter, 50), deal(splitter, 50, repeat=1))


@pytest.mark.parametrize("cv", [KFold(3), TimeSeriesSplit(3), GroupKFold(3)])
def test_repeating_a_deal_that_is_always_the_same_is_an_error(cv) -> None:
    assert error_of(cv, repeat=1, groups=np.arange(20)) == (
        f"Stack: n_repeats must be 1 when cv deals the same folds each time; got {cv!r}. "
        "Use cv=5 or a splitter with shuffle=True."
    )


def test_repeating_an_iterable_is_an_error() -> None:
    splits = [(np.arange(10), np.arange(10, 20))]
    assert "n_repeats must be 1 when cv deals the same folds" in error_of(splits, repeat=1)


def test_leave_one_out_is_an_error_that_says_what_to_use() -> None:
    assert error_of(LeaveOneOut(), 100) == (
        "Stack: cv must need at most 500 nodes, that is fits a learner; "
        "got 100 folds, which need 5050. Use cv=10."
    )


@pytest.mark.parametrize(("cv", "n_layers"), [(31, 1), (14, 2)])
def test_the_most_folds_that_fit_in_500_nodes(cv, n_layers) -> None:
    assert deal(cv, 200, n_layers=n_layers).n_folds == cv
    assert f"{cv + 1} folds, which need" in error_of(cv + 1, 200, n_layers=n_layers)


def test_an_iterable_with_too_many_splits_is_an_error() -> None:
    splits = list(KFold(40).split(np.zeros(80)))
    assert "got 40 folds, which need 820" in error_of(splits, 80)


def test_forward_in_time_one_node_a_fold_counts() -> None:
    assert deal(TimeSeriesSplit(60), 200).n_folds == 60


@pytest.mark.parametrize("cv", [1, 0, -3])
def test_fewer_than_two_folds_is_an_error(cv) -> None:
    assert error_of(cv) == f"Stack: cv must be at least 2; got {cv}. Use 5."


@pytest.mark.parametrize("cv", ["five", 2.5, True + 0j])
def test_a_cv_of_the_wrong_kind_is_an_error(cv) -> None:
    assert error_of(cv) == (
        "Stack: cv must be an int, a splitter, an iterable of (train, test) or 'prefit'; "
        f"got {cv!r}. Use cv=5."
    )


def test_too_few_rows_lower_the_number_of_folds_with_one_warning() -> None:
    with pytest.warns(FoldsWarning) as caught:
        assert deal(5, 4, owner=OWNER).n_folds == 4
    assert [str(w.message) for w in caught] == [
        "Stack: cv=5 needs at least 5 rows; using 4 folds. Set cv=4 to silence this."
    ]


def test_too_few_groups_lower_the_number_of_folds_with_one_warning() -> None:
    with pytest.warns(FoldsWarning) as caught:
        assert deal(5, 30, groups=np.arange(30) % 3, owner=OWNER).n_folds == 3
    assert [str(w.message) for w in caught] == [
        "Stack: cv=5 needs at least 5 groups; using 3 folds. Set cv=3 to silence this."
    ]


def test_a_rare_class_lowers_the_number_of_folds_with_one_warning() -> None:
    with pytest.warns(FoldsWarning) as caught:
        lattice = deal(10, 60, classes=np.repeat([0, 1], [54, 6]), owner=OWNER)
    assert lattice.n_folds == 6
    assert [str(w.message) for w in caught] == [
        "Stack: cv=10 needs at least 10 members of the rarest class; using 6 folds. "
        "Set cv=6 to silence this."
    ]


@pytest.mark.parametrize(("n_layers", "n_folds"), [(1, 3), (2, 4)])
def test_a_very_rare_class_does_not_take_the_honest_score_away(n_layers, n_folds) -> None:
    classes = np.repeat([0, 1], [39, 1])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert deal(5, 40, classes=classes, n_layers=n_layers).n_folds == n_folds
    assert len([w for w in caught if w.category is FoldsWarning]) == 1


def test_one_row_cannot_be_dealt() -> None:
    assert error_of(5, 1) == (
        "Stack: cv must leave at least two rows to deal; got 1. Give more data."
    )


def test_one_group_cannot_be_dealt() -> None:
    assert error_of(5, 30, groups=np.zeros(30)) == (
        "Stack: cv must leave at least two groups to deal; got 1. Give more data."
    )


@pytest.mark.parametrize("cv", [KFold(3), list(KFold(3).split(range(12))), TimeSeriesSplit(3)])
def test_splits_that_tear_a_group_are_refused(cv) -> None:
    groups = np.arange(12) % 4
    with pytest.raises(ValueError, match=r"^S: cv must keep the rows of a group on one side"):
        deal(cv, 12, groups=groups, owner="S")


def test_splits_that_happen_to_keep_groups_whole_are_taken() -> None:
    lattice = deal(KFold(3), 12, groups=np.arange(12) // 4, owner="S")
    assert lattice.n_folds == 3
