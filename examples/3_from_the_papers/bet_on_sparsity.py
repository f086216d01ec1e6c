"""The "bet on sparsity"
=====================

Lasso against ridge on sparse and dense truths.

The Elements of Statistical Learning, section 16.2.2: 50 rows, 300 columns. The truth has Gaussian
coefficients on 10, 30 or all 300 columns; the noise is loud or quiet. The lasso wins where the
truth is sparse. Where it is dense both do badly, so betting on sparsity loses little.

    python bet_on_sparsity.py --save bet.png
"""

import argparse

import numpy as np

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

from foldwise.paths import cross_validated_path, lasso_path, ridge_path

N_ROWS, N_COLUMNS, REPEATS = 50, 300, 8


def explained(path, fresh, truth):
    """The share of the signal's variance that the best point of a path explains."""
    errors = ((truth - path.predictor(fresh)) ** 2).mean(axis=1)
    return 1 - errors.min() / truth.var()


def simulate(n_used, signal_to_noise, rng):
    beta = np.zeros(N_COLUMNS)
    beta[rng.permutation(N_COLUMNS)[:n_used]] = rng.normal(size=n_used)
    D, fresh = rng.normal(size=(N_ROWS, N_COLUMNS)), rng.normal(size=(1000, N_COLUMNS))
    noise = np.sqrt(beta @ beta / signal_to_noise)
    return D, D @ beta + noise * rng.normal(size=N_ROWS), fresh, fresh @ beta


def run():
    """Return explained shares, shape (sparse or dense, noise, method, repeats)."""
    shares = np.zeros((3, 2, 2, REPEATS))
    for i, n_used in enumerate((10, 30, N_COLUMNS)):
        for j, ratio in enumerate((0.5, 5.0)):
            for r in range(REPEATS):
                D, y, fresh, truth = simulate(n_used, ratio, np.random.default_rng(100 * i + r))
                for k, path in enumerate((lasso_path, ridge_path)):
                    fitted = path(D, y, n_lambdas=25)
                    shares[i, j, k, r] = explained(fitted, fresh, truth)
    return shares


def draw(shares, file):
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
    for j, (ax, noise) in enumerate(zip(axes, ("loud noise", "quiet noise"), strict=True)):
        for k, (name, colour) in enumerate((("lasso", "tab:blue"), ("ridge", "tab:orange"))):
            places = np.arange(3) + 0.34 * k - 0.17
            boxes = ax.boxplot(list(shares[:, j, k]), positions=places, widths=0.28)
            for part in boxes["boxes"] + boxes["medians"] + boxes["whiskers"] + boxes["caps"]:
                part.set_color(colour)
            ax.plot([], [], color=colour, label=name)
        ax.set_xticks(range(3), ["10 of 300", "30 of 300", "all 300"])
        ax.set(title=noise, xlabel="columns in the truth")
    axes[0].set_ylabel("share of the signal explained")
    axes[0].legend(frameon=False)
    figure.savefig(file, dpi=120)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--save", metavar="FILE", help="write the picture here")
    file = parser.parse_args().save
    shares = run()
    print("share of the signal explained, mean of", REPEATS, "samples")
    print("truth        noise    lasso  ridge")
    for i, truth in enumerate(("10 of 300", "30 of 300", "all 300")):
        for j, noise in enumerate(("loud", "quiet")):
            lasso, ridge = shares[i, j].mean(axis=1)
            print(f"{truth:12s} {noise:7s} {lasso:6.2f} {ridge:6.2f}")
    D, y, *_ = simulate(10, 5.0, np.random.default_rng(0))
    path = cross_validated_path(D, y, fold_of=np.arange(N_ROWS) % 5)
    used = np.count_nonzero(path.coefs[path.index_min])
    print(f"\nchosen by five folds on one sparse sample: {used} of {N_COLUMNS} columns")
    if file and plt is not None:
        draw(shares, file)


if __name__ == "__main__":
    main()
