"""What is known before anything is fitted."""

import numpy as np
import pandas as pd

from foldwise.auto.portfolio.member import Contender, profile_of
from foldwise.auto.tables import column_kinds


def kinds(n_rows: int = 60):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=n_rows),
            "town": pd.Categorical(rng.choice(["a", "b", "c"], n_rows)),
            "same": np.ones(n_rows),
        }
    )
    return column_kinds(frame)


def test_the_width_counts_categories_once_a_level_and_dropped_columns_not_at_all() -> None:
    assert profile_of(kinds(), np.arange(60.0)).width == 1 + 3


def test_only_a_long_upper_tail_of_a_target_without_negative_values_asks_for_logarithms() -> None:
    rng = np.random.default_rng(0)
    tail = rng.lognormal(size=60)
    assert profile_of(kinds(), tail).positive_skewed
    assert not profile_of(kinds(), -tail).positive_skewed
    assert not profile_of(kinds(), tail - 0.5).positive_skewed
    assert not profile_of(kinds(), rng.uniform(size=60)).positive_skewed
    assert not profile_of(kinds(), np.ones(60)).positive_skewed


def test_zeros_are_noticed_so_that_their_logarithm_is_not_taken() -> None:
    y = np.r_[0.0, np.random.default_rng(0).lognormal(size=59)]
    assert profile_of(kinds(), y).has_zero
    assert not profile_of(kinds(), y + 1).has_zero


def test_the_rarest_class_is_counted() -> None:
    facts = profile_of(kinds(), np.r_[np.zeros(55), np.ones(5)], n_classes=2)
    assert (facts.n_classes, facts.smallest_class, facts.regression) == (2, 5, False)


def test_a_member_for_many_levels_is_tried_where_a_category_has_them() -> None:
    town = [f"town {j}" for j in range(50)] * 2
    frame = pd.DataFrame({"town": town, "colour": list("abcde") * 20})
    profile = profile_of(column_kinds(frame), np.arange(100.0))
    assert (profile.n_categories, profile.most_levels) == (2, 50)
    assert Contender("m", "codes", lambda _: None, levels=50).suits(profile)
    assert not Contender("m", "codes", lambda _: None, levels=51).suits(profile)
