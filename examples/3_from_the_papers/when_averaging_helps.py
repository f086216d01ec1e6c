"""When does averaging cross-validation help, and when does Bayesian model averaging?
==================================================================================

Jung and Hu (2015) average the models that did best on each fold. This draws many small data
sets of four kinds and measures how far the coefficients of each method are from the truth,
relative to least squares on all columns (1; less is better). Averaging CV wins where the
columns matter a little each, most clearly where many do; BMA where one matters much. Choosing
a single subset by cross-validation never wins here.
"""

import argparse

import numpy as np
from sklearn.linear_model import LinearRegression

from foldwise import (
    AveragedCVRegressor,
    BayesianModelAveragingRegressor,
    BestSubsetRegressor,
)

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

KINDS = {
    "one strong": np.eye(8)[0] * 2,
    "few weak": np.array([0.6, 0.6, 0, 0, 0, 0, 0, 0]),
    "tapering": 0.8 * 0.7 ** np.arange(8),
    "many weak": np.full(8, 0.35),
}
METHODS = {
    "best subset, CV": lambda: BestSubsetRegressor("cv", cv=10),
    "best subset, BIC": lambda: BestSubsetRegressor("bic"),
    "averaging CV": lambda: AveragedCVRegressor(cv=10),
    "BMA": lambda: BayesianModelAveragingRegressor(),
}


def distances(beta: np.ndarray, rng: np.random.Generator, n_rows: int = 50) -> list[float]:
    """Squared distance from the truth of least squares and of every method, on one data set."""
    X = rng.normal(size=(n_rows, len(beta)))
    y = X @ beta + 2 * rng.normal(size=n_rows)
    models = [LinearRegression(), *(make() for make in METHODS.values())]
    return [float(np.sum((model.fit(X, y).coef_ - beta) ** 2)) for model in models]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", help="write the figure to this file")
    parser.add_argument("--repeats", type=int, default=40)
    options = parser.parse_args()

    rng = np.random.default_rng(0)
    risk = {}
    for kind, beta in KINDS.items():
        drawn = np.mean([distances(beta, rng) for _ in range(options.repeats)], axis=0)
        risk[kind] = drawn[1:] / drawn[0]
    print(f"{'':12}" + "".join(f"{name:>18}" for name in METHODS))
    for kind, row in risk.items():
        print(f"{kind:12}" + "".join(f"{value:18.2f}" for value in row))

    if options.save and plt:
        _, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
        for name, values, marker in zip(
            METHODS, np.transpose(list(risk.values())), "sDo^", strict=True
        ):
            ax.plot(list(KINDS), values, marker=marker, label=name)
        ax.axhline(1, color="0.6", linewidth=1)
        ax.text(len(KINDS) - 0.3, 1.01, "least squares", color="0.4", ha="right", fontsize=9)
        ax.set_ylabel("squared distance from the truth,\nrelative to least squares")
        ax.set_ylim(bottom=0)
        ax.set_xlim(right=len(KINDS) - 0.3)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False)
        plt.savefig(options.save, dpi=120)


if __name__ == "__main__":
    main()
