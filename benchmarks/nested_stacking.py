"""An honest score of a stack: foldwise's one fit against scikit-learn doing the same job.

scikit-learn's way to a score of the stack is ``cross_val_predict`` of its stack on the same
folds, plus the fit that is deployed. Same learners, same folds, one process, one thread, same run;
times are seconds of processor.

    python benchmarks/nested_stacking.py [--quick] [--only mixed|linear|memory]
"""

import argparse
import resource
import subprocess
import sys
import time

import numpy as np
from lightgbm import LGBMRegressor
from sklearn import ensemble
from sklearn.datasets import make_classification, make_regression
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeCV
from sklearn.metrics import log_loss, root_mean_squared_error
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from foldwise import StackingClassifier, StackingRegressor


def timed(work):
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def mixed(quick: bool) -> None:
    n = 4_000 if quick else 20_000
    X, y = make_regression(n, 30, n_informative=15, noise=20.0, random_state=0)
    y = y + 40 * np.sin(X[:, 0] * 3) * X[:, 1]
    learners = [
        ("ridge", Ridge()),
        ("knn", KNeighborsRegressor(10)),
        ("forest", RandomForestRegressor(100, random_state=0)),
        ("gbm", LGBMRegressor(n_estimators=200, random_state=0, verbosity=-1, n_jobs=1)),
    ]
    folds = KFold(5, shuffle=True, random_state=0)

    def ours(**how):
        return StackingRegressor(learners, cv=folds, random_state=0, **how).fit(X, y)

    def theirs():
        return ensemble.StackingRegressor(learners, RidgeCV(), cv=folds)

    folds_s, stack = timed(ours)
    pairs_s, pairs = timed(lambda: ours(predict_with="pairs"))
    plain_s, _ = timed(lambda: theirs().fit(X, y))
    nested_s, held = timed(lambda: cross_val_predict(theirs(), X, y, cv=folds))
    nested_s += plain_s
    print(f"ridge + kNN + forest(100) + LightGBM(200), n = {n}, p = 30, K = 5")
    print(f"{'':34s}{'seconds':>9s}{'RMSE':>9s}")
    print(f"{'foldwise':34s}{folds_s:9.1f}{-stack.score_:9.3f}")
    print(f"{'foldwise, pairs':34s}{pairs_s:9.1f}{-pairs.score_:9.3f}")
    print(
        f"{'scikit-learn, nested and fit':34s}{nested_s:9.1f}"
        f"{root_mean_squared_error(y, held):9.3f}"
    )
    print(f"{'scikit-learn, fit without a score':34s}{plain_s:9.1f}")
    print(f"folds against nested (goal 2.4)  ratio: {nested_s / folds_s:.2f}")
    print(f"pairs against nested (goal 3.6)  ratio: {nested_s / pairs_s:.2f}")
    print(f"folds against the plain fit (goal 1/2.2 = 0.45)  ratio: {plain_s / folds_s:.2f}")
    print(f"pairs against the plain fit (goal 1/1.5 = 0.67)  ratio: {plain_s / pairs_s:.2f}")


def linear(quick: bool) -> None:
    n = 20_000 if quick else 100_000
    X, y = make_regression(n, 100, n_informative=40, noise=50.0, random_state=0)
    learners = [
        ("ols", LinearRegression()),
        ("ridge", Ridge(100.0)),
        ("scaled", make_pipeline(StandardScaler(), Ridge(1000.0))),
    ]
    folds = KFold(5, shuffle=True, random_state=0)
    ours_s, stack = timed(
        lambda: StackingRegressor(learners, RidgeCV(), cv=folds, random_state=0).fit(X, y)
    )
    theirs = ensemble.StackingRegressor(learners, RidgeCV(), cv=folds)
    theirs_s, held = timed(lambda: cross_val_predict(theirs, X, y, cv=folds))
    theirs_s += timed(lambda: theirs.fit(X, y))[0]
    print(f"\nlinear learners, n = {n}, p = 100, K = 5")
    print(f"{'foldwise':34s}{ours_s:9.1f}{-stack.score_:9.3f}")
    print(
        f"{'scikit-learn, nested and fit':34s}{theirs_s:9.1f}"
        f"{root_mean_squared_error(y, held):9.3f}"
    )
    print(f"linear learners (goal 20)  ratio: {theirs_s / ours_s:.1f}")

    X, c = make_classification(n, 100, n_informative=30, n_redundant=0, random_state=0)
    learners = [
        ("lda", LinearDiscriminantAnalysis()),
        ("qda", QuadraticDiscriminantAnalysis()),
        ("bayes", GaussianNB()),
    ]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    ours_s, stack = timed(
        lambda: StackingClassifier(learners, LogisticRegression(), cv=folds, random_state=0).fit(
            X, c
        )
    )
    theirs = ensemble.StackingClassifier(learners, LogisticRegression(), cv=folds)
    theirs_s, held = timed(
        lambda: cross_val_predict(theirs, X, c, cv=folds, method="predict_proba")
    )
    theirs_s += timed(lambda: theirs.fit(X, c))[0]
    print(f"\nGaussian learners, n = {n}, p = 100, K = 5")
    print(f"{'foldwise':34s}{ours_s:9.1f}{-stack.score_:9.4f}")
    print(f"{'scikit-learn, nested and fit':34s}{theirs_s:9.1f}{log_loss(c, held):9.4f}")
    print(f"Gaussian learners (goal 20)  ratio: {theirs_s / ours_s:.1f}")


def memory(quick: bool) -> None:
    """Run in a process of its own, so that the peak is this fit's."""
    n = 200_000 if quick else 1_000_000
    command = [sys.executable, __file__, "--measure-memory", str(n)]
    print(subprocess.run(command, check=True, capture_output=True, text=True).stdout, end="")


def measure_memory(n: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 50))
    y = X[:, 0] + np.sin(3 * X[:, 1]) + rng.standard_normal(n)
    learners = [
        ("ridge", Ridge()),
        ("gbm", LGBMRegressor(n_estimators=20, verbosity=-1, n_jobs=2)),
    ]
    StackingRegressor(learners, cv=3, random_state=0).fit(X[:1000], y[:1000])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    StackingRegressor(learners, cv=5, random_state=0).fit(X, y)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    used = (peak - before) / X.nbytes
    print(f"\npeak memory over the baseline, n = {n}, p = 50, ridge and LightGBM: {used:.2f} × X")
    print(f"against the allowed 2.5 × X  ratio: {2.5 / used:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=["mixed", "linear", "memory"])
    parser.add_argument("--measure-memory", type=int)
    arguments = parser.parse_args()
    if arguments.measure_memory:
        measure_memory(arguments.measure_memory)
        raise SystemExit
    with threadpool_limits(1):
        for name, part in {"mixed": mixed, "linear": linear, "memory": memory}.items():
            if arguments.only in (None, name):
                part(arguments.quick)
