import pytest

from foldwise.engine.in_process import InProcess


def test_nothing_is_done_before_it_is_waited_for() -> None:
    seen: list[int] = []
    executor = InProcess()
    executor.place(lambda _shared, job: seen.append(job), None)
    executor.submit(0, 1)
    executor.submit(1, 2)
    assert seen == []
    executor.wait(0.0)
    assert seen == [1]
    assert executor.running() == {}


def test_ctrl_c_goes_through() -> None:
    def work(_shared: object, _job: object) -> None:
        raise KeyboardInterrupt

    executor = InProcess()
    executor.place(work, None)
    executor.submit(0, 1)
    with pytest.raises(KeyboardInterrupt):
        executor.wait(None)
