"""How much the learner shortcuts save: all nodes of a K = 5 lattice against one fit a node.

Both sides fit on the same rows and predict the same rows with one BLAS thread; "one by one"
is scikit-learn's own fit and predict on slices of X. Prints a table, the largest relative
difference between the two, and one ``ratio:`` line a row (time one by one / time of the
shortcut), then the peak memory of a ridge fit at n = 1,000,000, p = 50 beyond X itself.

Run with ``--quick`` for a tenth of the rows and no memory test.
"""

import argparse
import subprocess
import sys
import time
import tracemalloc
from itertools import combinations

import numpy as np
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge, RidgeCV
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from foldwise.learners import NodeTask, TrainingData, fit_nodes, shortcut_for


def lattice(n_rows, keep_model=True):
    """Return the singles and pairs of a shuffled 5-fold lattice."""
    tests = [t for _, t in KFold(5, shuffle=True, random_state=0).split(np.zeros(n_rows))]
    tasks = []
    for left_out in [*combinations(range(5), 1), *combinations(range(5), 2)]:
        test = np.sort(np.concatenate([tests[i] for i in left_out]))
        train = np.setdiff1d(np.arange(n_rows), test)
        tasks.append(NodeTask(train, test, 0, keep_model and len(left_out) == 1))
    return tasks


def problem(n_rows, n_features, n_classes=None):
    """Return data with some signal."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    signal = X @ rng.normal(size=n_features) / np.sqrt(n_features)
    y = signal + rng.normal(size=n_rows)
    if n_classes is None:
        return TrainingData(X, y)
    codes = np.searchsorted(np.quantile(y, np.linspace(0, 1, n_classes + 1)[1:-1]), y)
    return TrainingData(X, codes, None, n_classes)


def one_by_one(learner, data, tasks, method):
    """Return the predictions of scikit-learn, fitted node by node, where there are rows to."""
    from sklearn.base import clone

    responses = []
    for task in tasks:
        model = clone(learner).fit(data.X[task.train], data.y[task.train])
        if len(task.test):
            responses.append(getattr(model, method)(data.X[task.test]))
    return responses


def timed(function, repeats):
    """Return the shortest of some times, and what the function returned."""
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - start)
    return best, result


def compare(name, learner, data, method="predict", repeats=3):
    """Time both ways, print a row and return the ratio."""
    tasks = lattice(len(data.y))
    if name.endswith("fits alone"):
        tasks = [NodeTask(task.train, task.test[:0], 0) for task in tasks]
    if shortcut_for(learner, data)(learner, data, tasks, method) is None:
        print(f"{name:32s} falls back to the general way")
        return None
    ours, fits = timed(lambda: fit_nodes(learner, data, tasks, method), repeats)
    theirs, responses = timed(lambda: one_by_one(learner, data, tasks, method), min(repeats, 2))
    apart = (
        max(
            np.abs(fit.predictions - np.reshape(response, fit.predictions.shape)).max()
            / np.abs(response).max()
            for fit, response in zip(fits, responses, strict=False)
        )
        if responses
        else 0.0
    )
    n, p = data.X.shape
    print(
        f"{name:32s} {n:>8d} {p:>4d} {theirs:>11.3f} {ours:>9.3f} {theirs / ours:>7.1f} {apart:.1e}"
    )
    return theirs / ours


def memory():
    """Return the peak memory of a ridge fit at all nodes beyond X and the tasks, over X."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000_000, 50))
    data = TrainingData(X, X[:, 0] + rng.normal(size=len(X)))
    tasks = lattice(len(X))
    tracemalloc.start()
    fit_nodes(Ridge(), data, tasks)
    return tracemalloc.get_traced_memory()[1] / X.nbytes


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--memory", action="store_true", help="only the memory, of this process")
    arguments = parser.parse_args()
    if arguments.memory:
        print(memory())
        return
    share = 10 if arguments.quick else 1
    wide, wide3 = problem(100_000 // share, 100), problem(100_000 // share, 100, 3)
    near, near3 = problem(20_000 // share, 30), problem(20_000 // share, 30, 3)
    low, small = problem(20_000 // share, 5), problem(3_000 // share, 10)
    rows = [
        ("Ridge", Ridge(), wide),
        ("Ridge, fits alone", Ridge(), wide),
        ("StandardScaler, Ridge", make_pipeline(StandardScaler(), Ridge()), wide),
        ("LinearRegression", LinearRegression(), wide),
        ("RidgeCV, 7 penalties", RidgeCV(np.logspace(-3, 3, 7)), wide),
        ("LDA", LinearDiscriminantAnalysis(), wide3, "predict_proba"),
        ("QDA", QuadraticDiscriminantAnalysis(), wide3, "predict_proba"),
        ("GaussianNB", GaussianNB(), wide3, "predict_proba"),
        ("KNeighborsRegressor", KNeighborsRegressor(), near),
        ("KNeighborsClassifier", KNeighborsClassifier(), near3, "predict_proba"),
        ("KNeighborsRegressor, tree", KNeighborsRegressor(), low),
        ("KernelRidge, rbf", KernelRidge(kernel="rbf"), small),
        ("Gaussian process", GaussianProcessRegressor(alpha=0.1, optimizer=None), small),
    ]
    heads = ("n", 8), ("p", 4), ("one by one", 11), ("shortcut", 9), ("ratio", 7), ("apart", 7)
    print(f"{'learner, 15 nodes':32s}", *(f"{head:>{width}s}" for head, width in heads))
    with threadpool_limits(1):
        ratios = {row[0]: compare(*row, repeats=3 if row[0] in FAST else 1) for row in rows}
    for name, ratio in ratios.items():
        if ratio is not None:
            print(f"{name}, one by one over the shortcut  ratio: {ratio:.1f}")
    if not arguments.quick:
        run = subprocess.run(
            [sys.executable, __file__, "--memory"], capture_output=True, text=True, check=True
        )
        share_of_x = float(run.stdout)
        print(f"peak memory of Ridge at n = 1,000,000, p = 50: {share_of_x:.2f} times X over it")
        print(f"memory of Ridge, X over what it takes  ratio: {1 / share_of_x:.2f}")


FAST = {
    "Ridge",
    "Ridge, fits alone",
    "StandardScaler, Ridge",
    "LinearRegression",
    "GaussianNB",
    "LDA",
}

if __name__ == "__main__":
    main()
