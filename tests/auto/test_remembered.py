"""The plan of a run that is to be continued."""

from foldwise.auto.budget import Plan
from foldwise.auto.remembered import FILE, planned

FIRST = Plan(("a", "b"), 5, {"c": "time budget"})
OTHER = Plan(("a",), 3, {})


def test_a_plan_is_made_once_for_the_same_problem(tmp_path) -> None:
    assert planned(tmp_path / "run", "key", lambda: FIRST) == FIRST
    assert planned(tmp_path / "run", "key", lambda: OTHER) == FIRST


def test_another_problem_has_another_plan(tmp_path) -> None:
    planned(tmp_path, "key", lambda: FIRST)
    assert planned(tmp_path, "other", lambda: OTHER) == OTHER


def test_a_damaged_note_is_made_again(tmp_path) -> None:
    (tmp_path / FILE).write_text('{"key": "key"')
    assert planned(tmp_path, "key", lambda: OTHER) == OTHER
    (tmp_path / FILE).write_text('{"key": "key", "names": 3}')
    assert planned(tmp_path, "key", lambda: FIRST) == FIRST


def test_a_folder_that_cannot_be_written_to_is_left_to_those_who_store_fits(tmp_path) -> None:
    (tmp_path / "file").touch()
    assert planned(tmp_path / "file" / "run", "key", lambda: FIRST) == FIRST
