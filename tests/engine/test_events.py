import pytest

from foldwise.engine.events import Event, Stream
from foldwise.wording import memory, rough_duration


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (Event("started", "S", total=1200), "S: 1,200 fits to do"),
        (Event("planned", "S", "90 fits, about 4 min, 1.2 GB"), "S: 90 fits, about 4 min, 1.2 GB"),
        (Event("fitted", "S", "a", 5, 10, 30.0, 31.0), "S: 5/10 fits, a, 30 s, about 31 s left"),
        (Event("fitted", "S", "a", 5, 10, 30.0), "S: 5/10 fits, a, 30 s"),
        (Event("failed", "S", "a", reason="no"), "S: a failed: no"),
        (Event("dropped", "S", "a", reason="time"), "S: a dropped: time"),
        (Event("finished", "S", done=10, seconds=7300), "S: 10 fits done in 2.0 h"),
    ],
)
def test_every_event_is_one_line(event: Event, line: str) -> None:
    assert event.line == line


def test_a_stream_counts_and_tells_everybody() -> None:
    one: list[Event] = []
    two: list[Event] = []
    stream = Stream("S", 4, [one.append, two.append])
    stream.tell("started")
    stream.tell("fitted", "a", fits=3, took=1.5)
    assert one == two
    assert [(e.done, e.total) for e in one] == [(0, 4), (3, 4)]
    assert one[1].took == 1.5
    assert one[1].seconds >= one[0].seconds


def test_more_fits_than_foreseen_raise_the_total() -> None:
    stream = Stream("S", 1)
    stream.tell("fitted", fits=3)
    assert stream.total == 3


def test_words_for_time_and_memory() -> None:
    assert [rough_duration(s) for s in (0, 89, 91, 5399, 5401)] == [
        "0 s", "89 s", "2 min", "90 min", "1.5 h",
    ]  # fmt: skip
    assert memory(999e6) == "999 MB"
