import warnings

import click
import pytest

from foldwise.cli.failures import Failure, Misuse, check_place, errors_as_messages
from foldwise.errors import invalid_data, invalid_parameter, warn


def raised(error):
    with pytest.raises(click.ClickException) as caught, errors_as_messages(False):
        raise error
    return caught.value


def test_a_wrong_parameter_is_misuse_in_the_words_of_the_options():
    error = invalid_parameter("AutoStack", "time_budget", must="be positive", got=0, fix="Try 9.")
    failure = raised(error)
    assert isinstance(failure, Misuse)
    assert failure.message == "--time must be positive; got 0. Try 9."
    assert failure.exit_code == 2


def test_bad_data_is_failure():
    failure = raised(invalid_data("read_table", "t.csv", must="be there", got=None, fix="Look."))
    assert type(failure) is Failure
    assert failure.message == "t.csv must be there; got None. Look."
    assert failure.exit_code == 1


def test_what_nobody_foresaw_is_one_line_with_a_remedy():
    failure = raised(ZeroDivisionError("division\nby zero"))
    assert failure.message == (
        "Something nobody foresaw: ZeroDivisionError: division. Run it again with --debug to see "
        "where, and tell us."
    )


def test_an_interrupt_and_want_of_memory_are_said():
    assert raised(KeyboardInterrupt()).message.startswith("Interrupted")
    assert raised(MemoryError()).message.startswith("The memory is used up.")


def test_a_full_disk_names_the_file():
    failure = raised(OSError(28, "No space left on device", "model.foldwise"))
    assert failure.message == "model.foldwise: no space left on device. Make room."


def test_a_full_temporary_folder_is_a_full_disk():
    failure = raised(OSError(28, "No space left on device"))
    assert failure.message == "a temporary file: no space left on device. Make room."


def test_a_path_that_cannot_be_used_is_named():
    failure = raised(PermissionError(13, "Permission denied", "out"))
    assert failure.message == "out: permission denied. Check the path and its permissions."


def test_who_stops_reading_has_had_enough():
    with pytest.raises(BrokenPipeError), errors_as_messages(False):
        raise BrokenPipeError(32, "Broken pipe")


@pytest.mark.parametrize("name", [".", "there/p.csv"])
def test_a_place_that_cannot_be_written_is_refused_before_any_work(name, tmp_path):
    with pytest.raises(Misuse, match=r"^-o must be a file in a folder that is there; got "):
        check_place(tmp_path / name, "-o")


def test_a_budget_is_told_by_its_option():
    said = "Stack: the fit ended by time_budget=3.5 and is partial; with run_dir= it continues."
    assert raised(invalid_data("Stack", "y", must="be", got=0, fix=said)).message.endswith(
        "the fit ended by --time and is partial; with --out it continues."
    )


def test_debug_lets_everything_through():
    with pytest.raises(ZeroDivisionError), errors_as_messages(True):
        raise ZeroDivisionError


def test_our_warnings_are_notes_said_once_and_others_are_silent(capsys):
    with errors_as_messages(False):
        warn("Stack: a learner was dropped.")
        warn("Stack: a learner was dropped.")
        warnings.warn("something of a library", stacklevel=1)
    assert capsys.readouterr().err == "a learner was dropped.\n"
