import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldwise.wording import (
    article,
    clean,
    counted,
    decimals_for,
    direction,
    duration,
    enumerated,
    metric_name,
    number,
    percent,
    shortened,
    verdict,
    with_error,
)

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=40)


@given(ANY_TEXT)
def test_clean_text_can_be_encoded_and_holds_nothing_invisible(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode("utf-8")
    assert not [
        c for c in cleaned if unicodedata.category(c) in ("Cc", "Cs") or c in "\u202e\u2066"
    ]
    assert clean(cleaned) == cleaned


def test_letters_emoji_and_joiners_stay() -> None:
    for text in ("naïve", "الاسم", "👩‍🔬", "a<b>&'\"", "可以"):
        assert clean(text) == text


def test_overriding_the_reading_direction_is_taken_out() -> None:
    assert clean("gnp\u202egpj.exe\u2069") == "gnpgpj.exe"


@given(ANY_TEXT, st.integers(3, 30))
def test_a_shortened_name_is_never_longer_and_never_empty(text: str, longest: int) -> None:
    cut = shortened(text, longest)
    assert 0 < len(cut) <= max(longest, len("(no name)"))


def test_a_short_name_is_left_as_it_is() -> None:
    assert shortened("ridge", 5) == "ridge"
    assert shortened("ridges", 5) == "ri…es"


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [
        (54.973, 1.72, "55.0 ± 1.7"),
        (28973.4, 812.0, "28,970 ± 810"),
        (0.07698, 0.0113, "0.077 ± 0.011"),
        (-0.0349, 0.02, "−0.035 ± 0.020"),
        (1.5, 0.0, "1.50"),
        (1.5, float("nan"), "1.50"),
        (float("nan"), 1.0, "–"),
    ],
)
def test_a_number_is_rounded_by_its_error(value: float, error: float, shown: str) -> None:
    assert with_error(value, error) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (12, "12"), (-0.0, "0"), (1e15, "1e+15"), (-3e-7, "−3e-07"), (float("inf"), "∞"),
     (0.5, "0.500"), (1234567.0, "1,234,567"),
        (15363022.4, "15.4M"),
        (3.2e9 + 0.5, "3.20G"), (None, "–")],
)  # fmt: skip
def test_numbers_read_well_at_any_size(value: float, shown: str) -> None:
    assert number(value) == shown


def test_what_is_rounded_away_is_a_zero_without_a_sign() -> None:
    assert [number(-0.001, 1), number(5e-9, -6), number(-1e-9, 0)] == ["0.0", "0", "0"]


def test_millions_are_written_as_such_where_their_error_is_large() -> None:
    assert with_error(14_290_000.0, 990_000.0) == "14.29M ± 0.99M"
    assert with_error(142_900.0, 9_900.0) == "142,900 ± 9,900"


def test_shares_times_and_counts() -> None:
    assert [percent(1.0), percent(0.9049, 1), percent(-0.02)] == ["100 %", "90.5 %", "−2 %"]
    assert [duration(0.0004), duration(99.9), duration(100)] == ["0 ms", "99.9 s", "1 min 40 s"]
    assert counted(0, "row") == "0 rows"
    assert enumerated(["a", "b"]) == "a and b"


@given(st.floats(1e-8, 1e8))
def test_two_digits_of_an_error_are_shown(error: float) -> None:
    decimals = decimals_for(error)
    assert decimals is not None
    assert abs(round(error, decimals) - error) <= 0.051 * error


@pytest.mark.parametrize(
    ("gain", "error", "said"),
    [
        (2.0, 1.0, "clearly better than"),
        (1.5, 1.0, "probably better than"),
        (0.5, 1.0, "about as good as"),
        (-0.5, 1.0, "about as good as"),
        (-1.5, 1.0, "probably worse than"),
        (-9.0, 1.0, "clearly worse than"),
        (0.0, 0.0, "exactly as good as"),
        (1.0, 0.0, "clearly better than"),
        (1.0, float("nan"), "better than"),
        (-1.0, float("nan"), "worse than"),
        (float("nan"), 1.0, "not comparable with"),
    ],
)
def test_words_follow_the_number_of_standard_errors(gain: float, error: float, said: str) -> None:
    assert verdict(gain, error) == said


def test_metrics_have_the_names_people_write() -> None:
    assert [article(metric_name(m)) for m in ("root_mean_squared_error", "roc_auc", "my_own")] == [
        "an RMSE",
        "an ROC AUC",
        "a my own",
    ]
    assert direction(1) == "higher is better"
