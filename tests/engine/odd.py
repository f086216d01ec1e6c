"""Learners that misbehave, each in its own way."""

import os
import signal
import threading
import time
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin


class StaysHere:
    """Can be copied, but not pickled."""

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __reduce__(self) -> Any:
        raise TypeError("it stays here")


class Odd(RegressorMixin, BaseEstimator):
    """Predicts the mean, after something odd."""

    def __init__(self, how: str = "", seconds: float = 0.0, rows: int = 0) -> None:
        self.how, self.seconds, self.rows = how, seconds, rows

    def fit(self, X: Any, y: Any) -> Self:
        time.sleep(self.seconds)
        if not self.rows or len(y) == self.rows:
            getattr(self, f"_{self.how}", lambda: None)()
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X: Any) -> Any:
        match self.how:
            case "nan":
                return np.full(len(X), np.nan)
            case "shape":
                return np.zeros(len(X) + 1)
            case "wide":
                return np.zeros((len(X), 3))
        return np.full(len(X), self.mean_)

    def _raises(self) -> None:
        raise RuntimeError("as told")

    def _hangs(self) -> None:
        time.sleep(1000)

    def _prints(self) -> None:
        os.write(1, b"printed by C\n")
        print("printed by Python", flush=True)  # noqa: T201

    def _forks(self) -> None:
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)

    def _dies(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def _exits(self) -> None:
        os._exit(3)

    def _locks(self) -> None:
        self.lock_ = threading.Lock()

    def _memory(self) -> None:
        raise MemoryError("no room")
