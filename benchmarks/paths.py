"""Lasso paths with a cross-validated penalty, against scikit-learn's LassoCV and R's glmnet.

The dictionary is 1,500 rules grown by LightGBM on 2,000 rows of Friedman's first function; 100
penalties, 10 folds, the same for all. glmnet is run in both of its ways if R and r-cran-glmnet
are there, and its faster way counts. All run on one thread and are timed in seconds of
processor, so that other work on the machine matters less. Ends with the ratios of their times
to ours.
"""

import argparse
import os
import shutil
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import lightgbm as lgb
import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LassoCV
from sklearn.model_selection import PredefinedSplit
from threadpoolctl import threadpool_limits

from foldwise.paths import cross_validated_path, monotone_lasso_path, stagewise_path

GLMNET = """
suppressMessages(library(glmnet))
n <- {n}; p <- {p}
D <- matrix(readBin("{folder}/D.bin", "double", n * p), n, p)
y <- readBin("{folder}/y.bin", "double", n); fold <- readBin("{folder}/fold.bin", "double", n) + 1
for (way in c("naive", "covariance")) {{
  best <- Inf
  for (i in 1:{repeats}) {{
    t <- system.time(m <- cv.glmnet(D, y, foldid = fold, standardize = FALSE, nlambda = 100,
                                    lambda.min.ratio = 1e-3, type.gaussian = way))
    best <- min(best, t[1] + t[2])
  }}
  cat(way, best, min(m$cvm), length(m$lambda), "\\n")
}}
"""


def rule_matrix(n_rows, n_rules, seed=0):
    """Indicator columns of the nodes of boosted trees, no two alike or each other's complement."""
    X, y = make_friedman1(n_rows, 10, noise=1.0, random_state=seed)
    rng = np.random.default_rng(seed)
    n_trees = int(0.6 * n_rules)
    sizes = [int(2 + rng.exponential(2)) for _ in range(n_trees)]
    booster = lgb.train(
        {
            "learning_rate": 0.05,
            "bagging_fraction": 0.5,
            "bagging_freq": 1,
            "min_data_in_leaf": 5,
            "num_threads": 1,
            "seed": seed,
            "verbose": -1,
        },
        lgb.Dataset(X, y),
        num_boost_round=n_trees,
        callbacks=[lgb.reset_parameter(num_leaves=sizes)],
    )
    leaves = booster.predict(X, pred_leaf=True)
    columns = []
    for tree, info in enumerate(booster.dump_model()["tree_info"]):
        below(info["tree_structure"], leaves[:, tree], columns)
    D = np.array(columns).T
    D = np.unique(D ^ D[:1], axis=1)
    D = D[:, D.any(axis=0)]
    return D[:, rng.permutation(D.shape[1])[:n_rules]].astype(float), y


def below(node, leaf, columns):
    """Return the leaves below a node, adding a column for each of its children."""
    if "split_index" not in node:
        return [node.get("leaf_index", 0)]
    parts = [below(node[child], leaf, columns) for child in ("left_child", "right_child")]
    columns.extend(np.isin(leaf, part) for part in parts)
    return parts[0] + parts[1]


def fastest(call, repeats):
    times = []
    for _ in range(repeats):
        started = time.process_time()
        result = call()
        times.append(time.process_time() - started)
    return result, min(times)


def glmnet(D, y, fold, repeats):
    """Return lines of (way, seconds, least squared error), or none without R."""
    if shutil.which("Rscript") is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        for name, array in (("D", D.ravel("F")), ("y", y), ("fold", fold.astype(float))):
            np.ascontiguousarray(array).tofile(Path(folder) / f"{name}.bin")
        script = GLMNET.format(n=len(y), p=D.shape[1], folder=folder, repeats=repeats)
        done = subprocess.run(
            ["Rscript", "-e", script],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
    return [
        (way, float(seconds), float(loss))
        for way, seconds, loss, _ in map(str.split, done.stdout.splitlines())
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a quarter of the rules, once")
    quick = parser.parse_args().quick
    n_rows, n_rules, repeats = (2000, 400, 1) if quick else (2000, 1500, 2)
    with threadpool_limits(1):
        compare(n_rows, n_rules, repeats)


def compare(n_rows, n_rules, repeats):
    D, y = rule_matrix(n_rows, n_rules)
    fold = np.random.default_rng(0).permutation(n_rows) % 10
    ours, seconds = fastest(lambda: cross_validated_path(D, y, fold_of=fold), repeats)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs, sklearn_seconds = fastest(
            lambda: LassoCV(alphas=100, cv=PredefinedSplit(fold)).fit(D, y), repeats
        )
    print(f"{n_rows} x {D.shape[1]} rules, 100 penalties, 10 folds: {'s':>7s} {'mse':>8s}")
    print(f"{'foldwise':45s} {seconds:7.2f} {2 * ours.cv_loss.min():8.5f}")
    least = theirs.mse_path_.mean(axis=1).min()
    print(f"{'scikit-learn LassoCV':45s} {sklearn_seconds:7.2f} {least:8.5f}")
    peers = glmnet(D, y, fold, repeats)
    for way, peer_seconds, loss in peers:
        print(f"{'glmnet ' + way:45s} {peer_seconds:7.2f} {loss:8.5f}")
    _, whole = fastest(lambda: stagewise_path(D, y, epsilon=0.01, max_steps=100_000), 1)
    print(f"{'forward stagewise path, steps of 0.01':45s} {whole:7.2f}")
    _, limit = fastest(lambda: monotone_lasso_path(D, y, lambda_min_ratio=0.05), 1)
    print(f"{'monotone lasso path to 5 % of lambda max':45s} {limit:7.2f}")
    print(f"LassoCV over ours  ratio: {sklearn_seconds / seconds:.2f}")
    if peers:
        fastest_peer = min(peer[1] for peer in peers)
        print(f"glmnet, at its faster, over ours  ratio: {fastest_peer / seconds:.2f}")


if __name__ == "__main__":
    main()
