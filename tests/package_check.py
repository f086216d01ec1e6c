"""Used by ``make package`` where foldwise is installed from its wheel alone; typed strictly."""

import subprocess
import sys
import time
from importlib.metadata import distributions, version
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor

import foldwise
from foldwise import StackingRegressor, __version__, load, save
from foldwise.combine import simplex_weights
from foldwise.diagnose import leak_audit

if TYPE_CHECKING:
    # Were the public names of no known type, nothing would be wrong with these.
    from foldwise import StakingRegressor  # type: ignore[attr-defined]  # noqa: F401

    StackingRegressor([], folds=5)  # type: ignore[call-arg]

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


class Predicts(Protocol):
    """What every estimator of ours can do."""

    def fit(self, X: Any, y: Any) -> Any:
        """Learn."""

    def predict(self, X: Any) -> Any:
        """Tell."""


def use_every_estimator() -> int:
    """Fit every estimator, the networks but for their type; return how many there are."""
    ridge, logistic = [("ridge", Ridge())], [("logistic", LogisticRegression())]
    regressors: list[Predicts] = [
        foldwise.AutoStackRegressor("fast"),
        foldwise.AveragedCVRegressor(),
        foldwise.BaggingRegressor(n_estimators=3),
        foldwise.BayesianModelAveragingRegressor(),
        foldwise.BestSubsetRegressor(),
        foldwise.EnsembleSelectionRegressor(ridge),
        foldwise.ForwardStagewiseRegressor(),
        foldwise.GradientBoostingRegressor(n_estimators=3),
        foldwise.ISLERegressor(n_estimators=5),
        foldwise.LassoPathRegressor(),
        foldwise.NetRegressor(),
        foldwise.NewtonBoostingRegressor(n_estimators=3),
        foldwise.RuleFitRegressor(n_estimators=5),
        foldwise.StackingRegressor(ridge, "nnls"),
    ]
    classifiers: list[Predicts] = [
        foldwise.AdaBoostClassifier(n_estimators=3),
        foldwise.AutoStackClassifier("fast"),
        foldwise.AveragedCVClassifier(),
        foldwise.BaggingClassifier(n_estimators=3),
        foldwise.BayesianModelAveragingClassifier(),
        foldwise.CalibratedClassifier(LogisticRegression()),
        foldwise.EnsembleSelectionClassifier(logistic),
        foldwise.ForwardStagewiseClassifier(),
        foldwise.GradientBoostingClassifier(n_estimators=3),
        foldwise.ISLEClassifier(n_estimators=5),
        foldwise.LassoPathClassifier(),
        foldwise.NetClassifier(),
        foldwise.NewtonBoostingClassifier(n_estimators=3),
        foldwise.RuleFitClassifier(n_estimators=5),
        foldwise.StackingClassifier(logistic, "soft_vote"),
    ]
    used = {type(estimator).__name__ for estimator in regressors + classifiers}
    left_out = {n for n in foldwise.__all__ if n.endswith(("Regressor", "Classifier"))} - used
    if left_out:
        sys.exit(f"every estimator is used here, but not {left_out}")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 3)), columns=["a", "b", "c"])
    y = X["a"] + rng.normal(size=80)
    for estimators, target in ((regressors, y), (classifiers, y > 0)):
        for estimator in estimators:
            if "Net" not in type(estimator).__name__:
                estimator.fit(X, target).predict(X)
    return len(used)


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
    print(f"{use_every_estimator()} estimators used")


if __name__ == "__main__":
    main()
