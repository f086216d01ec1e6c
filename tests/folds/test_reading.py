from math import comb

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, TimeSeriesSplit

from foldwise.errors import InvalidParameterError
from foldwise.folds import Lattice, deal, read_lattice
from foldwise.folds.reading import needs_of, partners_of, upper_blocks

SEVERAL = settings(max_examples=60, deadline=None, derandomize=True)


def plain(n_folds, n_rows=None) -> Lattice:
    n_rows = n_rows or 3 * n_folds
    return Lattice.from_splits(KFold(n_folds).split(np.zeros(n_rows)), n_rows)


def forward(n_folds, n_rows=40, **arguments) -> Lattice:
    return Lattice.from_splits(
        TimeSeriesSplit(n_folds, **arguments).split(np.zeros(n_rows)), n_rows
    )


def purged(n_folds, n_rows, width) -> list:
    """Contiguous test blocks; training rows nearer than `width` to the block are left out."""
    splits = []
    for _, test in KFold(n_folds).split(np.zeros(n_rows)):
        rows = np.arange(n_rows)
        near = (rows >= test[0] - width) & (rows <= test[-1] + width)
        splits.append((rows[~near], test))
    return splits


@st.composite
def lattices(draw) -> Lattice:
    """A lattice of any kind with more than one split."""
    seed = draw(st.integers(0, 1000))
    n_folds = draw(st.integers(3, 6))
    n_rows = draw(st.integers(8 * n_folds, 60))
    kind = draw(st.sampled_from(["plain", "group", "predefined", "purged", "forward"]))
    if kind == "plain":
        return deal(n_folds, n_rows, seed=seed)
    if kind == "group":
        groups = np.random.default_rng(seed).integers(0, 3 * n_folds, n_rows)
        groups[: 3 * n_folds] = np.arange(3 * n_folds)
        return deal(GroupKFold(n_folds), n_rows, groups=groups)
    if kind == "predefined":
        fold = np.random.default_rng(seed).integers(-1, n_folds, n_rows)
        fold[:n_folds] = np.arange(n_folds)
        return deal(PredefinedSplit(fold), n_rows)
    if kind == "purged":
        return deal(purged(n_folds, n_rows, draw(st.integers(1, 5))), n_rows)
    gap, window = draw(st.integers(0, 3)), draw(st.sampled_from([None, 6]))
    return forward(n_folds, n_rows, gap=gap, max_train_size=window)


@st.composite
def modes(draw, lattice, n_layers=1) -> dict:
    has_pairs = lattice.kind == "partition" and lattice.n_folds >= n_layers + 2
    offered = ["folds", "refit"] + (["pairs"] if has_pairs else [])
    predict_with = draw(st.sampled_from(offered))
    hold_outs = ["auto"] if lattice.kind == "forward" or predict_with == "pairs" else None
    hold_out = draw(st.sampled_from(hold_outs or ["auto", "node", "mean"]))
    return {"predict_with": predict_with, "hold_out": hold_out}


def read_in_some_mode(data, lattice, n_layers=1):
    """Read the lattice; purged folds whose nodes leave no rows are refused, rightly."""
    mode = data.draw(modes(lattice, n_layers))
    try:
        return read_lattice(lattice, n_layers=n_layers, **mode)
    except InvalidParameterError:
        reject()


def everything_behind(lattice, refs, n_layers) -> list:
    """(rows trained on, nodes read) of all layers behind some models of the top layer."""
    found, nodes = [], {ref.node for ref in refs}
    for first in range(n_layers - 2, -1, -1):
        blocks = [block for node in nodes for block in upper_blocks(lattice, node, first)]
        found += [block.rows for block in blocks]
        nodes |= {ref.node for block in blocks for ref in block.refs}
    return found + [lattice.rows(node) for node in nodes]


@SEVERAL
@given(st.data(), lattices(), st.sampled_from([1, 2]))
def test_nothing_read_for_judging_a_fold_saw_one_of_its_rows(data, lattice, n_layers) -> None:
    reading = read_in_some_mode(data, lattice, n_layers)
    for judgement in reading.judgements:
        refs = [ref for b in (*judgement.train, judgement.test) for ref in b.refs]
        seen = [b.rows for b in judgement.train]
        seen += everything_behind(lattice, [*refs, *judgement.fresh], n_layers)
        allowed = np.zeros(lattice.n_rows, dtype=bool)
        if lattice.kind == "forward":
            allowed[: lattice.trains[judgement.fold][-1] + 1] = True
        else:
            allowed[lattice.trains[judgement.fold]] = True
        assert allowed[np.concatenate(seen)].all()


@SEVERAL
@given(st.data(), lattices(), st.sampled_from([1, 2]))
def test_no_row_is_predicted_by_a_model_that_saw_it(data, lattice, n_layers) -> None:
    reading = read_in_some_mode(data, lattice, n_layers)
    for block in reading.blocks:
        for ref in block.refs:
            for seen in everything_behind(lattice, [ref], n_layers):
                assert not np.intersect1d(seen, block.rows).size
    for needs in needs_of(reading, lattice, n_layers):
        for node in needs.rows:
            assert not np.intersect1d(needs.of(node), lattice.rows(node)).size


@SEVERAL
@given(st.data(), lattices(), st.sampled_from([1, 2]))
def test_uncovered_rows_reach_no_stacker_and_no_upper_learner(data, lattice, n_layers) -> None:
    reading = read_in_some_mode(data, lattice, n_layers)
    uncovered = np.flatnonzero(lattice.fold_of < 0)
    given_rows = [block.rows for block in reading.blocks]
    for needs in needs_of(reading, lattice, n_layers):
        given_rows += [needs.of(node) for node in needs.rows]
    assert not np.intersect1d(np.concatenate(given_rows), uncovered).size


@SEVERAL
@given(st.data(), lattices(), st.sampled_from([1, 2]))
def test_every_node_that_is_read_leaves_rows_to_train_on(data, lattice, n_layers) -> None:
    reading = read_in_some_mode(data, lattice, n_layers)
    layers = needs_of(reading, lattice, n_layers)
    assert all(len(lattice.rows(node)) for needs in layers for node in needs.rows)
    upper = (node for needs in layers[1:] for node in needs.rows)
    assert all(len(upper_blocks(lattice, node, 0)) for node in upper)


@SEVERAL
@given(st.data(), lattices())
def test_the_final_stacker_reads_every_covered_row_once(data, lattice) -> None:
    reading = read_in_some_mode(data, lattice)
    times = np.zeros(lattice.n_rows)
    for block in reading.final:
        times[block.rows] += 1
    np.testing.assert_array_equal(times, lattice.fold_of >= 0)


@pytest.mark.parametrize("n_folds", [3, 5, 10])
def test_the_table_of_reads_is_the_one_of_the_design(n_folds) -> None:
    lattice = plain(n_folds)
    for hold_out in ("node", "mean"):
        reading = read_lattice(lattice, predict_with="folds", hold_out=hold_out)
        for i, judgement in enumerate(reading.judgements):
            others = [j for j in range(n_folds) if j != i]
            assert judgement.fold == i
            for j, block in zip(others, judgement.train, strict=True):
                assert [ref.node for ref in block.refs] == [frozenset({i, j})]
                assert np.array_equal(block.rows, lattice.tests[j])
            pairs = [frozenset({i, j}) for j in others]
            held = [ref.node for ref in judgement.test.refs]
            assert held == (pairs if hold_out == "mean" else [frozenset({i})])
        for j, block in enumerate(reading.final):
            assert [ref.node for ref in block.refs] == [frozenset({j})]
        assert {ref.node for ref in reading.deployed} == {frozenset({j}) for j in range(n_folds)}


def test_refit_deploys_the_empty_node_and_is_judged_by_single_nodes() -> None:
    reading = read_lattice(plain(4), predict_with="refit")
    assert [ref.node for ref in reading.deployed] == [frozenset()]
    assert reading.hold_out == "node"
    assert all(j.test.refs[0].node == {j.fold} for j in reading.judgements)


def test_pairs_train_the_final_stacker_on_each_row_once_by_the_mean_of_its_pairs() -> None:
    lattice = plain(4)
    reading = read_lattice(lattice, predict_with="pairs")
    assert reading.hold_out == "mean"
    assert len(reading.final) == 4
    for j, block in enumerate(reading.final):
        assert block.rows is lattice.tests[j]
        assert [ref.node for ref in block.refs] == [{i, j} for i in range(4) if i != j]


@pytest.mark.parametrize("n_folds", [3, 4, 5, 10])
@pytest.mark.parametrize("hold_out", ["node", "mean"])
def test_one_layer_is_fitted_at_pairs_and_singles(n_folds, hold_out) -> None:
    lattice = plain(n_folds)
    counts = {}
    for predict_with in ("folds", "refit"):
        reading = read_lattice(lattice, predict_with=predict_with, hold_out=hold_out)
        (needs,) = needs_of(reading, lattice)
        counts[predict_with] = len(needs.rows)
    folds = comb(n_folds, 2) + n_folds
    assert counts == {"folds": folds, "refit": folds + 1}


@pytest.mark.parametrize("n_folds", [3, 5, 10])
def test_pairs_alone_are_fitted_with_predict_with_pairs(n_folds) -> None:
    lattice = plain(n_folds, 30)
    (needs,) = needs_of(read_lattice(lattice, predict_with="pairs"), lattice)
    assert len(needs.rows) == (3 if n_folds == 3 else comb(n_folds, 2))


@pytest.mark.parametrize("n_folds", [4, 5])
def test_two_layers_add_triples_to_the_lower_one_only(n_folds) -> None:
    lattice = plain(n_folds)
    lower, upper = needs_of(read_lattice(lattice, n_layers=2), lattice, 2)
    sizes = [sorted(len(node) for node in needs.rows) for needs in (lower, upper)]
    singles_and_pairs = [1] * n_folds + [2] * comb(n_folds, 2)
    assert sizes[1] == singles_and_pairs
    assert sizes[0] == singles_and_pairs + [3] * comb(n_folds, 3)


def test_two_layers_of_pairs_need_pairs_and_triples() -> None:
    lattice = plain(5)
    reading = read_lattice(lattice, n_layers=2, predict_with="pairs")
    lower, upper = needs_of(reading, lattice, 2)
    assert (len(lower.rows), len(upper.rows)) == (20, 10)


@pytest.mark.parametrize("predict_with", ["auto", "folds"])
@pytest.mark.parametrize("arguments", [{}, {"gap": 2}, {"max_train_size": 6}])
def test_forward_in_time_needs_one_node_a_fold(predict_with, arguments) -> None:
    lattice = forward(5, **arguments)
    reading = read_lattice(lattice, predict_with=predict_with)
    (needs,) = needs_of(reading, lattice)
    nodes = {frozenset({i}) for i in range(5)}
    assert set(needs.rows) == nodes | ({frozenset()} if predict_with == "auto" else set())


@pytest.mark.parametrize("n_layers", [1, 2])
def test_forward_in_time_the_first_folds_cannot_be_judged_and_are_listed(n_layers) -> None:
    reading = read_lattice(forward(5), n_layers=n_layers)
    assert reading.unjudged == tuple(range(n_layers))
    assert [j.fold for j in reading.judgements] == list(range(n_layers, 5))
    assert reading.in_order


def test_forward_in_time_a_judged_fold_reads_earlier_folds_by_their_own_nodes() -> None:
    lattice = forward(4)
    for judgement in read_lattice(lattice).judgements:
        nodes = [block.refs[0].node for block in judgement.train]
        assert nodes == [frozenset({j}) for j in range(judgement.fold)]


def test_forward_in_time_a_gap_stays_a_gap_for_the_stacker() -> None:
    lattice = forward(4, gap=3)
    for judgement in read_lattice(lattice).judgements:
        last_allowed = lattice.tests[judgement.fold][0] - 4
        assert max(block.rows.max() for block in judgement.train) <= last_allowed


def test_a_gap_longer_than_a_fold_leaves_more_folds_unjudged() -> None:
    lattice = forward(5, 60, test_size=4, gap=5)
    reading = read_lattice(lattice)
    assert reading.unjudged == (0, 1)
    lower, upper = needs_of(read_lattice(lattice, n_layers=2), lattice, 2)
    assert all(len(upper_blocks(lattice, node, 0)) for node in upper.rows)
    assert len(lower.rows)


def test_pairs_are_refused_forward_in_time() -> None:
    with pytest.raises(InvalidParameterError) as caught:
        read_lattice(forward(4), predict_with="pairs", owner="Stack")
    assert str(caught.value) == (
        "Stack: predict_with must not be 'pairs' forward in time or with a single split, "
        "which have no pairs; got 'pairs'. Use 'refit' or 'folds'."
    )


@pytest.mark.parametrize(("n_folds", "n_layers"), [(2, 1), (3, 2)])
def test_too_few_folds_to_judge_still_give_a_model(n_folds, n_layers) -> None:
    reading = read_lattice(plain(n_folds), n_layers=n_layers)
    assert reading.judgements == ()
    assert len(reading.final) == n_folds


@pytest.mark.parametrize(
    ("n_folds", "n_layers", "predict_with"), [(2, 2, "folds"), (2, 1, "pairs"), (3, 2, "pairs")]
)
def test_too_few_folds_to_fit_is_an_error(n_folds, n_layers, predict_with) -> None:
    fewest = n_layers + (2 if predict_with == "pairs" else 1)
    with pytest.raises(InvalidParameterError) as caught:
        read_lattice(plain(n_folds), n_layers=n_layers, predict_with=predict_with, owner="Stack")
    assert str(caught.value) == (
        f"Stack: cv must give at least {fewest} folds for {n_layers} layer(s) with "
        f"predict_with={predict_with!r}; got {n_folds}. Use cv=5."
    )


def test_purged_folds_whose_pairs_leave_no_rows_are_not_judged() -> None:
    lattice = Lattice.from_splits(purged(3, 9, 2), 9)
    assert all(len(train) for train in lattice.trains)
    assert read_lattice(lattice).judgements == ()


@pytest.mark.parametrize(("n_layers", "predict_with"), [(1, "pairs"), (2, "folds")])
def test_purged_folds_whose_pairs_leave_no_rows_are_an_error_where_pairs_are_fitted(
    n_layers, predict_with
) -> None:
    lattice = Lattice.from_splits(purged(3, 9, 2), 9)
    with pytest.raises(InvalidParameterError, match="Stack: cv must"):
        read_lattice(lattice, n_layers=n_layers, predict_with=predict_with, owner="Stack")


def test_purged_folds_keep_the_stacker_away_from_the_gap() -> None:
    lattice = Lattice.from_splits(purged(5, 50, 3), 50)
    for judgement in read_lattice(lattice).judgements:
        rows = np.concatenate([block.rows for block in judgement.train])
        distance = np.abs(rows[:, None] - judgement.test.rows).min()
        assert distance > 3


def test_a_single_split_is_judged_by_folds_inside_its_test_part() -> None:
    lattice = Lattice.from_splits([(np.arange(12), np.arange(12, 24))], 24)
    inner = plain(3, 12)
    reading = read_lattice(lattice, inner=inner)
    assert [tuple(j.test.rows) for j in reading.judgements] == [
        tuple(12 + test) for test in inner.tests
    ]
    for judgement in reading.judgements:
        rows = np.concatenate([block.rows for block in judgement.train])
        assert not np.intersect1d(rows, judgement.test.rows).size
        assert rows.min() >= 12
    (needs,) = needs_of(reading, lattice)
    assert set(needs.rows) == {frozenset({0})}


def test_a_single_split_forward_inside_is_judged_in_order() -> None:
    lattice = Lattice.from_splits([(np.arange(12), np.arange(12, 24))], 24)
    inner = forward(3, 12)
    reading = read_lattice(lattice, inner=inner)
    assert reading.in_order
    assert reading.unjudged == ()
    for judgement, train in zip(reading.judgements, inner.trains, strict=True):
        rows = np.concatenate([block.rows for block in judgement.train])
        assert np.array_equal(np.sort(rows), 12 + train)
        assert rows.max() < judgement.test.rows.min()


def test_a_single_split_has_one_layer_only() -> None:
    lattice = Lattice.from_splits([(np.arange(12), np.arange(12, 24))], 24)
    with pytest.raises(InvalidParameterError, match="at least 3 folds for 2 layer"):
        read_lattice(lattice, n_layers=2)


def test_the_models_kept_are_those_that_prediction_and_intervals_need() -> None:
    lattice = plain(5)
    singles = {frozenset({i}) for i in range(5)}
    assert read_lattice(lattice, predict_with="folds").kept == singles
    assert read_lattice(lattice, predict_with="refit").kept == singles | {frozenset()}
    assert len(read_lattice(lattice, predict_with="pairs").kept) == 10


@pytest.mark.parametrize("n_folds", range(4, 12))
def test_partners_are_partners_of_each_other_and_dealt_far_away(n_folds) -> None:
    for partners in range(2, n_folds - 1, 2):
        ring = {i: partners_of(i, n_folds, partners) for i in range(n_folds)}
        assert all(len(set(own) - {i}) == partners for i, own in ring.items())
        assert all(i in ring[j] for i, own in ring.items() for j in own)
        away = {min((i - j) % n_folds, (j - i) % n_folds) for i in ring for j in ring[i]}
        assert min(away) == (n_folds - 1) // 2 - partners // 2 + 1
    assert partners_of(2, n_folds, None) == [0, 1, *range(3, n_folds)]


def test_a_gap_as_long_as_a_fold_leaves_a_ring_its_stackers() -> None:
    lattice = deal(purged(10, 60, 6), 60)
    reading = read_lattice(lattice, partners=2)
    assert not reading.unjudged
    assert all(len(judgement.pairs) == 2 for judgement in reading.judgements)


def test_a_fold_that_no_other_may_train_for_is_not_judged() -> None:
    tested = [np.arange(i, i + 4) for i in range(0, 12, 4)]
    alone = (np.arange(12, 20), tested[2])
    lattice = deal([*[(np.setdiff1d(np.arange(20), t), t) for t in tested[:2]], alone], 20)
    reading = read_lattice(lattice)
    assert reading.unjudged == (2,)
    assert [judgement.fold for judgement in reading.judgements] == [0, 1]
    assert not any(judgement.pairs for judgement in reading.judgements)
    nobody = deal([(np.arange(12, 20), test) for test in tested], 20)
    assert read_lattice(nobody).judgements == ()
