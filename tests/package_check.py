"""Used by ``make package`` where foldwise is installed from its wheel alone; typed strictly."""

import subprocess
import sys
import time
from importlib.metadata import distributions, version

import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

from foldwise import StackingRegressor, __version__, load, save
from foldwise.combine import simplex_weights
from foldwise.diagnose import leak_audit

MOST_PACKAGES = 20
TOOLS = {"pip", "setuptools", "wheel"}
OURS = "from foldwise import StackingRegressor"
THEIRS = "import sklearn.ensemble, pandas"


def seconds_of(code: str) -> float:
    """Return how long a new process takes to run some code, the best of five."""
    found = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        found.append(time.perf_counter() - start)
    return min(found)


def fit_and_predict() -> float:
    """Fit, judge, save, load and predict; return the honest score."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 3)), columns=["a", "b", "c"])
    y = X["a"] - X["b"] + rng.normal(scale=0.1, size=120)
    stack: StackingRegressor = StackingRegressor(
        [("ridge", Ridge()), ("knn", KNeighborsRegressor())], random_state=0
    ).fit(X, y)
    save(stack, "stack.foldwise")
    again = load("stack.foldwise")
    if not np.array_equal(again.predict(X), stack.predict(X)):
        sys.exit("a loaded model must predict as the saved one")
    lower, upper = stack.predict_interval(X, 0.9)
    weights = simplex_weights(stack.oof_.to_numpy(), y.to_numpy())
    board: pd.DataFrame = stack.leaderboard_
    print(leak_audit(stack))
    print(board.round(2).to_string(index=False), weights.round(2), float((upper - lower).mean()))
    return float(stack.score_)


def main() -> None:
    """Check versions, the number of packages and the time to import, then use the package."""
    if version("foldwise") != __version__:
        sys.exit(f"one version, not {version('foldwise')} and {__version__}")
    names = sorted({found.name.lower() for found in distributions()} - TOOLS)
    print(f"{len(names)} packages: {', '.join(names)}")
    if len(names) > MOST_PACKAGES:
        sys.exit(f"at most {MOST_PACKAGES} packages")
    times = seconds_of(OURS) / seconds_of(THEIRS)
    print(f"import: {times:.2f} times as long as {THEIRS!r} (goal 1.3)")
    print(f"honest score {fit_and_predict():.3f}")


if __name__ == "__main__":
    main()
