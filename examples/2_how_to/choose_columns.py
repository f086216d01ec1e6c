"""Which columns matter?
=====================

Three answers to one question, on the diabetes data.

Best subset: one model, and nothing about how sure it is.
Averaging CV: how often each column was chosen on ten folds.
Bayesian model averaging: the probability of each column, and intervals for new rows.

When which: few columns that matter much: best subset, or better BMA. Many that matter a
little: averaging CV or ridge regression; choosing hurts there.
"""

import argparse

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.model_selection import RepeatedKFold

from foldwise import (
    AveragedCVRegressor,
    BayesianModelAveragingRegressor,
    BestSubsetRegressor,
)
from foldwise.plot import plot_coefficients

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", help="write the figure to this file")
    save = parser.parse_args().save

    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    best = BestSubsetRegressor("bic").fit(X, y)
    print(best.best_by_size_[["size", "columns", "r2", "bic"]].round(3).to_string(index=False))

    folds = RepeatedKFold(n_splits=10, n_repeats=5, random_state=0)
    averaged = AveragedCVRegressor(folds).fit(X, y)
    bma = BayesianModelAveragingRegressor().fit(X, y)
    table = pd.DataFrame(
        {
            "best subset": best.support_,
            "share of 50 folds": averaged.selection_frequency_,
            "probability": bma.inclusion_probability_.round(3),
            "coefficient": bma.coef_.round(3),
            "sd": bma.coef_sd_.round(3),
        },
        index=X.columns,
    )
    print("\n", table, sep="")
    ends = bma.predict_interval(X, 0.9)
    inside = np.mean((ends[:, 0] <= y) & (y <= ends[:, 1]))
    print(f"\n90 % predictive intervals hold {inside:.0%} of the training targets")

    if save and plt:
        _, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
        plot_coefficients(averaged, X, ax=axes[0]).set_title("averaging cross-validation")
        plot_coefficients(bma, X, ax=axes[1]).set_title("Bayesian model averaging")
        plt.savefig(save, dpi=120)


if __name__ == "__main__":
    main()
