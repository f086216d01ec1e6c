"""A stack with a network that is killed and fitted again: the same bits."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.linear_model import Ridge

from foldwise import NetRegressor, StackingRegressor

pytest.importorskip("torch")

ROOT = Path(__file__).parents[2]
X, Y = make_friedman1(120, random_state=0)


def stack(run_dir: Path | None = None, **options) -> StackingRegressor:
    net = NetRegressor(width=8, n_frequencies=4, epochs=6, device="cpu")
    learners = [("net", net), ("ridge", Ridge())]
    return StackingRegressor(learners, cv=4, random_state=3, run_dir=run_dir, **options)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_itself(run_dir: str, when: str) -> None:
    """Fit a stack and be killed: while the networks train, or once they are kept."""
    from foldwise.nets import train

    look = train._Best.look

    def die_in_training(self, epoch, *given):
        return die() if epoch == 3 else look(self, epoch, *given)

    if when == "training":
        train._Best.look = die_in_training
    stack(
        Path(run_dir),
        callback=lambda event: event.kind == "fitted" and "net" in event.what and die(),
    ).fit(X, Y)


@pytest.mark.parametrize(("when", "kept"), [("training", 0), ("kept", 10)])
def test_killed_and_fitted_again_a_network_has_the_same_bits(tmp_path, when, kept) -> None:
    script = f"""
        from tests.nets.test_survival import kill_itself
        kill_itself({str(tmp_path)!r}, {when!r})
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == -signal.SIGKILL
    again, never = stack(tmp_path).fit(X, Y), stack().fit(X, Y)
    assert again.run_.reused == kept
    assert again.predict(X).tobytes() == never.predict(X).tobytes()
    assert np.asarray(again.oof_).tobytes() == np.asarray(never.oof_).tobytes()
    assert again.score_ == never.score_
