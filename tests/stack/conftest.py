import pytest

from foldwise.stack.stackers import named
from foldwise.stack.stackers.greedy import GreedyStacker


@pytest.fixture
def few_bags(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the bagged greedy selection, slower than all others together, draw three bags."""

    def bagged(metric: object, labels: object) -> tuple[object, dict]:
        return GreedyStacker(metric, labels, n_bags=3), {"shrinkage": named.SHRINKAGES}

    for names in (named.FOR_NUMBERS, named.FOR_CLASSES):
        monkeypatch.setitem(names, "bagged_greedy", bagged)
