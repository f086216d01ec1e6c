"""Searches over all subsets of columns, beside mlxtend, the averaging-CV note's R code and leaps.

Peers that are not there are skipped, and say so. ``--quick`` takes smaller problems; otherwise
mlxtend, the note and leaps take minutes each (``--only`` runs one of them).
Run with one thread: OMP_NUM_THREADS=1 python benchmarks/subsets.py
"""

import argparse
import importlib.util
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold

from foldwise import AveragedCVRegressor, BestSubsetRegressor

NOTE = r"""
cv.function <- function(x, y, k.fold = 10) {
  p <- ncol(x); av.mse <- rep(0, 2^p - 1); a <- 0
  cv.t <- matrix(0, (2^p - 1) * (p + 1), p + 1)
  for (i in 1:p) for (j in 1:ncol(combn(p, i))) {
    beta.l <- matrix(NA, p + 1, k.fold); mse <- rep(NA, k.fold)
    for (c in 1:k.fold) {
      test <- (((c-1)*length(y)/k.fold)+1):(c*length(y)/k.fold)
      x.test <- x[test,]; y.test <- y[test]; x.train <- x[(-test),]; y.train <- y[(-test)]
      t <- matrix(0, p + 1, i + 1); t[1, 1] <- 1
      for (k in 1:length(combn(p, i)[, j])) t[combn(p, i)[k, j] + 1, k + 1] <- 1
      beta.l[, c] <- crossprod(t(t), lm(y.train ~ x.train[, combn(p, i)[, j]])$coef)
      mse[c] <- sum((y.test - cbind(rep(1, (length(y)/k.fold)), x.test) %*% beta.l[, c])^2)
    }
    a <- a + cumsum(length(j)); av.mse[a] <- mean(mse)
    cv.t[((a-1)*(p+1)+1):(a*(p+1)), 1:(i+1)] <- t
  }
  which.min(av.mse)
}
acv.function <- function(x, y, k.fold = 10) {
  p <- ncol(x); cv.min.beta <- matrix(NA, p + 1, k.fold)
  for (c in 1:k.fold) {
    mse <- rep(0, 2^p - 1); beta.l <- matrix(0, p + 1, 2^p - 1); a <- 0
    test <- (((c-1)*length(y)/k.fold)+1):(c*length(y)/k.fold)
    x.test <- x[test,]; y.test <- y[test]; x.train <- x[(-test),]; y.train <- y[(-test)]
    for (i in 1:p) for (j in 1:ncol(combn(p, i))) {
      t <- matrix(0, p + 1, i + 1); t[1, 1] <- 1
      for (k in 1:length(combn(p, i)[, j])) t[combn(p, i)[k, j] + 1, k + 1] <- 1
      a <- a + cumsum(length(j))
      beta.l[, a] <- crossprod(t(t), lm(y.train ~ x.train[, combn(p, i)[, j]])$coef)
      mse[a] <- sum((y.test - cbind(rep(1, (length(y)/k.fold)), x.test) %*% beta.l[, a])^2)
    }
    cv.min.beta[, c] <- beta.l[, which.min(mse)]
  }
  apply(cv.min.beta, 1, mean)
}
d <- as.matrix(read.csv(commandArgs(TRUE)[1])); p <- ncol(d) - 1
once <- function() system.time(found <<- acv.function(d[, 1:p], d[, p + 1]))[["elapsed"]]
seconds <- if (p < 10) min(replicate(3, once())) else once()
cat(seconds, sprintf("%.12g", found), "\n")
"""

LEAPS = r"""
library(leaps)
d <- as.matrix(read.csv(commandArgs(TRUE)[1])); p <- ncol(d) - 1
seconds <- system.time(
  r <- regsubsets(d[, 1:p], d[, p + 1], nvmax = p, method = "exhaustive", really.big = TRUE)
)[["elapsed"]]
cat(seconds, sprintf("%.12g", summary(r)$rss), "\n")
"""


def draw(p: int, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Half of the columns have coefficient 1, the others 0; unit noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    beta = np.zeros(p)
    beta[rng.permutation(p)[: p // 2]] = 1
    return X, 1 + X @ beta + rng.normal(size=n)


def timed(work, repeats: int = 3):
    """The best of a few runs, and the result."""
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
        if best > 5:
            break
    return best, result


def in_r(script: str, X: np.ndarray, y: np.ndarray) -> np.ndarray | None:
    """Run an R script on the data; it prints its own seconds, then numbers."""
    if shutil.which("Rscript") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        table, code = Path(folder) / "data.csv", Path(folder) / "code.R"
        names = ",".join(f"x{j}" for j in range(X.shape[1] + 1))
        np.savetxt(table, np.column_stack([X, y]), delimiter=",", header=names, comments="")
        code.write_text(script)
        done = subprocess.run(
            ["Rscript", str(code), str(table)], capture_output=True, text=True, check=False
        )
    return np.array(done.stdout.split(), dtype=float) if done.returncode == 0 else None


def speed(quick: bool) -> None:
    p = 16 if quick else 20
    X, y = draw(p, 500)
    seconds, _ = timed(lambda: BestSubsetRegressor("cv", cv=10, time_limit=None).fit(X, y))
    rate = 2**p * 10 / seconds
    print(f"all subsets, p = {p}, 10 folds: {seconds:.2f} s, {rate / 1e6:.1f} M fold-models/s")
    print(f"all subsets over 10 million fold-models a second  ratio: {rate / 1e7:.2f}\n")


def against_mlxtend(quick: bool) -> None:
    if importlib.util.find_spec("mlxtend") is None:
        print("mlxtend is not installed: skipped\n")
        return
    from mlxtend.feature_selection import ExhaustiveFeatureSelector

    p = 6 if quick else 14
    X, y = draw(p, 500)
    theirs, selector = timed(
        lambda: ExhaustiveFeatureSelector(
            LinearRegression(),
            min_features=1,
            max_features=p,
            scoring="neg_mean_squared_error",
            cv=KFold(10),
            print_progress=False,
        ).fit(X, y),
        repeats=1,
    )
    ours, best = timed(lambda: BestSubsetRegressor("cv", cv=10, empty_model=False).fit(X, y))
    assert tuple(selector.best_idx_) == tuple(np.flatnonzero(best.support_))
    print(f"p = {p}: mlxtend {theirs:.2f} s, foldwise {ours * 1e3:.2f} ms, the same subset")
    print(f"best subset, p = {p}, mlxtend over ours  ratio: {theirs / ours:.0f}")
    p_large = 16 if quick else 20
    X, y = draw(p_large, 500)
    ours, _ = timed(lambda: BestSubsetRegressor("cv", cv=10, time_limit=None).fit(X, y))
    per_model = theirs / ((2**p - 1) * 10)
    print(
        f"a fold-model: mlxtend {per_model * 1e6:.0f} us at p = {p}, "
        f"foldwise {ours / 2**p_large / 10 * 1e9:.0f} ns at p = {p_large}"
    )
    ratio = per_model / (ours / 2**p_large / 10)
    print(f"a fold-model, mlxtend over ours  ratio: {ratio:.0f}\n")


def against_the_note(quick: bool) -> None:
    for p in (7,) if quick else (7, 12):
        X, y = draw(p, 100)
        theirs = in_r(NOTE, X, y)
        if theirs is None:
            print("Rscript is not installed: the note's code is skipped\n")
            return
        model = AveragedCVRegressor(KFold(10), refit=False, empty_model=False)
        ours, _ = timed(lambda model=model, X=X, y=y: model.fit(X, y), repeats=30)
        np.testing.assert_allclose([model.intercept_, *model.coef_], theirs[1:], rtol=1e-8)
        print(
            f"averaging CV, p = {p}: the note's R code {theirs[0]:.2f} s, "
            f"foldwise {ours * 1e3:.2f} ms, the same coefficients"
        )
        print(f"averaging CV, p = {p}, R over ours  ratio: {theirs[0] / ours:.0f}\n")


def against_leaps(quick: bool) -> None:
    p = 30 if quick else 40
    X, y = draw(p, 1000)
    ours, best = timed(lambda: BestSubsetRegressor(each_size=True).fit(X, y), repeats=1)
    alone, _ = timed(lambda: BestSubsetRegressor(each_size=False).fit(X, y))
    print(f"best by BIC alone, p = {p}: foldwise {alone * 1e3:.1f} ms")
    theirs = in_r(LEAPS, X, y)
    if theirs is None:
        print(f"leaps is not installed: skipped; foldwise {ours:.2f} s for each size\n")
        return
    np.testing.assert_allclose(best.best_by_size_["rss"][1:], theirs[1:], rtol=1e-8)
    print(
        f"best of each size, p = {p}, n = 1000: leaps {theirs[0]:.2f} s, foldwise {ours:.2f} s, "
        "the same"
    )
    print(f"best of each size, p = {p}, leaps over ours  ratio: {theirs[0] / ours:.1f}\n")


PARTS = {
    "speed": speed,
    "mlxtend": against_mlxtend,
    "note": against_the_note,
    "leaps": against_leaps,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller problems, seconds in all")
    parser.add_argument("--only", choices=PARTS, help="one part of it")
    options = parser.parse_args()
    for name, part in PARTS.items():
        if options.only in (None, name):
            part(options.quick)


if __name__ == "__main__":
    main()
