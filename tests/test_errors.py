import subprocess
import sys
import warnings

import pytest

import foldwise
from foldwise import errors


@pytest.mark.parametrize(
    ("ours", "builtin"),
    [
        (errors.InvalidParameterError, ValueError),
        (errors.InvalidDataError, ValueError),
        (errors.UnsupportedError, TypeError),
        (errors.AllLearnersFailedError, ValueError),
        (errors.FoldwiseWarning, UserWarning),
    ],
)
def test_each_of_our_classes_is_also_a_builtin(ours: type, builtin: type) -> None:
    assert issubclass(ours, builtin)


def test_the_sentence_names_owner_parameter_rule_value_and_remedy() -> None:
    error = errors.invalid_parameter("Stack", "cv", must="be at least 2", got=1, fix="Try 5.")
    assert str(error) == "Stack: cv must be at least 2; got 1. Try 5."


def test_long_values_are_cut() -> None:
    text = errors.sentence("A", "b", must="be short", got="x" * 500, fix="Cut it.")
    assert len(text) < 130
    assert "..." in text


def test_a_warning_points_at_the_users_line() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        errors.warn("something")
    assert caught[0].filename == __file__


def test_every_public_name_can_be_imported() -> None:
    assert all(getattr(foldwise, name) is not None for name in foldwise.__all__)


@pytest.mark.parametrize("heavy", ["pandas", "matplotlib", "lightgbm", "sklearn"])
def test_importing_foldwise_stays_light(heavy: str) -> None:
    code = f"import foldwise, sys; raise SystemExit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
