"""The learners that are tried."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier, is_regressor

from foldwise.auto.portfolio import members as room
from foldwise.auto.portfolio import portfolio
from foldwise.auto.portfolio.encodings import SETTINGS, encoded
from foldwise.auto.portfolio.member import TableProfile, profile_of
from foldwise.auto.portfolio.members import in_log
from foldwise.auto.portfolio.smooth import CARD_SIZES, neural, ridge
from foldwise.auto.tables import column_kinds
from foldwise.learners import prepared, weight_argument

LISTS = {
    name: getattr(room, name)
    for name in ("REGRESSORS", "CLASSIFIERS", "READABLE_REGRESSORS", "READABLE_CLASSIFIERS")
}
REGRESSION = TableProfile(600, 8, positive_skewed=True)
CLASSES = TableProfile(600, 8, n_classes=2, smallest_class=300)


@pytest.mark.parametrize("n_rows", [30, 600, 4999, 5000, 10**6])
@pytest.mark.parametrize("n_classes", [None, 2])
def test_names_are_unique_for_every_number_of_rows(n_rows, n_classes) -> None:
    facts = TableProfile(n_rows, 8, n_classes, n_rows // 3, positive_skewed=True)
    names = [member.name for member in portfolio(facts, 3)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("members", LISTS.values(), ids=LISTS)
def test_encodings_are_known(members) -> None:
    assert {member.encoding for member in members} <= set(SETTINGS)


@pytest.mark.parametrize(
    "facts", [TableProfile(2, 1), TableProfile(2, 1, n_classes=2), TableProfile(10**7, 10**5)]
)
@pytest.mark.parametrize("interpretable", [False, True])
def test_some_member_suits_every_problem(facts: TableProfile, interpretable: bool) -> None:
    assert portfolio(facts, 1, interpretable=interpretable)


def test_a_higher_tier_adds_members_and_keeps_their_order() -> None:
    for facts in (REGRESSION, CLASSES):
        # Of fewer rows the number of members has a bound, whatever the tier.
        facts = replace(facts, n_rows=6000)
        names = [[m.name for m in portfolio(facts, tier)] for tier in (1, 2, 3)]
        assert len(names[0]) < len(names[1]) < len(names[2])
        for few, more in itertools.pairwise(names):
            assert [name for name in more if name in few] == few


@pytest.mark.parametrize("n_classes", [None, 2, 4])
def test_few_rows_choose_among_few_members(n_classes) -> None:
    def tried(n_rows: int) -> list[str]:
        facts = TableProfile(n_rows, 8, n_classes, n_rows // 5, positive_skewed=True)
        return [member.name for member in portfolio(facts, 3) if member.name != "neural"]

    assert len(tried(300)) == len(tried(850)) == room.MOST_OF_FEW < len(tried(2500))


def test_slow_members_are_left_out_for_many_rows() -> None:
    many = {member.name for member in portfolio(TableProfile(10**6, 8), 3)}
    assert not many & {"gaussian_process", "support_vectors", "rules", "extra_trees", "net"}
    assert "boosted_random" in many


def test_interpretable_members_are_rules_and_linear_terms() -> None:
    for facts in (REGRESSION, CLASSES):
        names = {member.name for member in portfolio(facts, 3, interpretable=True)}
        assert names == {"linear", "rules", "short_rules", "additive_rules"}


@pytest.mark.parametrize("facts", [REGRESSION, CLASSES], ids=["regression", "classes"])
def test_every_member_is_of_the_right_kind_and_says_rightly_whether_it_takes_weights(facts) -> None:
    kinds = column_kinds(pd.DataFrame({"a": [1.0, 2.5]}))
    for member in portfolio(facts, 3):
        learner = member.build(facts)
        pipeline = encoded(learner, member.encoding, kinds, regression=facts.regression)
        assert is_regressor(pipeline) if facts.regression else is_classifier(pipeline)
        assert facts.regression or hasattr(pipeline, "predict_proba")
        assert (weight_argument(pipeline) is not None) == member.takes_weights, member.name


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_classes", [None, 2, 3])
def test_every_member_fits_a_table_with_missing_cells_and_categories(n_classes, capfd) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(260, 3)), columns=list("abc"))
    X["word"] = pd.Categorical(rng.choice(["x", "y", "z"], 260))
    y = np.exp(X["a"].to_numpy() + 0.1 * rng.normal(size=260))
    X.loc[::9, "b"] = np.nan
    if n_classes is not None:
        y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    kinds = column_kinds(X)
    facts = profile_of(kinds, y, n_classes=n_classes)
    for member in portfolio(facts, 3):
        learner = member.build(replace(facts, size=0.1))
        if hasattr(learner, "early_stopping_rounds"):
            learner.set_params(early_stopping_rounds=None)
        model = encoded(learner, member.encoding, kinds, regression=facts.regression)
        model = prepared(model, 0).fit(X, y)
        unseen = X.head(3).assign(word=pd.Categorical(["x", "new", None]))
        given = model.predict(unseen) if n_classes is None else model.predict_proba(unseen)
        assert np.isfinite(given).all(), member.name
    assert capfd.readouterr().out == ""


def test_the_logarithm_is_of_one_more_where_the_target_may_be_zero() -> None:
    y = np.array([0.0, 1.0, 3.0, 7.0])
    X = np.log1p(y)[:, None]
    model = in_log(ridge)(TableProfile(4, 1, has_zero=True))
    np.testing.assert_allclose(model.fit(X, y).predict(X), y, atol=0.2)
    assert in_log(ridge)(TableProfile(4, 1)).func is np.log


def test_splines_are_not_tried_where_they_would_fill_the_memory() -> None:
    def names(n_rows: int) -> list[str]:
        return [member.name for member in portfolio(TableProfile(n_rows, 50), 2)]

    assert "ridge_spline" in names(100_000)
    assert "ridge_spline" not in names(1_000_000)
    assert "ridge" in names(1_000_000)


def test_neighbours_are_asked_only_where_rows_and_columns_are_few() -> None:
    for width, there in ((6, True), (100, False)):
        facts = TableProfile(30_000, width, n_classes=2, smallest_class=9000)
        assert ("neighbours" in [member.name for member in portfolio(facts, 2)]) == there


def test_of_many_rows_large_trees_come_right_after_the_linear_members() -> None:
    for n_classes in (None, 2, 5):
        few, many = (
            [m.name for m in portfolio(TableProfile(n, 8, n_classes, n // 9), 2)]
            for n in (12_000, 12_001)
        )
        linear = ["logistic"] if n_classes else ["ridge", "linear"]
        assert many[: len(linear) + 1] == [*linear, "boosted_deep"]
        assert few[: len(linear)] == linear
        assert sorted(few) == sorted(many)


@pytest.mark.parametrize("card", [True, False])
def test_what_a_card_makes_quick_is_fitted_first(monkeypatch, card) -> None:
    monkeypatch.setattr(room, "has_card", lambda: card)
    monkeypatch.setattr("foldwise.auto.portfolio.member.find_spec", lambda _: True)
    found = next(m for m in portfolio(TableProfile(1000, 9), 2) if m.name == "neural")
    assert (found.early, found.least_seconds) == ((True, 20.0) if card else (False, 120.0))


@pytest.mark.parametrize(("seconds", "size"), [(30.0, 0), (10.0, 1), (1.0, 2), (np.inf, 0)])
def test_a_network_on_a_card_is_as_large_as_there_is_time_for(monkeypatch, seconds, size) -> None:
    monkeypatch.setattr("foldwise.nets.device.has_card", lambda: True)
    net = neural(TableProfile(4000, 9, seconds=seconds))
    assert net.get_params().items() >= CARD_SIZES[size][1].items()
    assert (net.n_members is None) == (size == 0)
