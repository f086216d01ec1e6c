"""A one-layer network as boosted units
====================================

A network of one hidden layer is a sum of units, each a bent line: Σ αₘ σ(wₘ·x + bₘ). Boosting
makes such sums, too, one term after the other, and never touches a term again. Here gradient
boosting gets a network of a *single* unit as its learner, against networks whose units are trained
all at once. Friedman's first function has a bend, a product and a line in it; judged on new rows.

Needs torch: ``pip install 'foldwise[neural]'``.
"""

import argparse
from importlib.util import find_spec

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.linear_model import Ridge

from foldwise import GradientBoostingRegressor, NetRegressor

parser = argparse.ArgumentParser()
parser.add_argument("--save", help="write the picture to this file")
save = parser.parse_args().save

UNITS, WIDTHS, EPOCHS = 30, [1, 2, 5, 10, 20, 30], 30
X, y = make_friedman1(500, noise=1.0, random_state=0)
X_new, y_new = make_friedman1(2000, noise=1.0, random_state=1)


def rmse(prediction):
    return np.sqrt(np.mean((prediction - y_new) ** 2))


def layer(width, epochs, rate):
    """Return a plain network of one hidden layer."""
    return NetRegressor(
        width=width, n_layers=1, n_members=1, n_frequencies=0, dropout=0.0, weight_decay=0.0,
        batch_size=64, epochs=epochs, learning_rate=rate,
    )  # fmt: skip


def main():
    boosted = GradientBoostingRegressor(
        layer(1, EPOCHS, 0.1), n_estimators=UNITS, learning_rate=0.5, random_state=0
    ).fit(X, y)
    one_by_one = [rmse(prediction) for prediction in boosted.staged_predict(X_new)]
    nets = [layer(width, 8 * EPOCHS, 0.01).set_params(random_state=0) for width in WIDTHS]
    at_once = [rmse(net.fit(X, y).predict(X_new)) for net in nets]
    line = rmse(Ridge().fit(X, y).predict(X_new))
    print(f"RMSE on new rows; a line {line:.2f}, the truth itself 1.00")
    print("units              " + "".join(f"{n:7d}" for n in WIDTHS))
    shown = [f"{one_by_one[n - 1]:7.2f}" for n in WIDTHS if n <= len(one_by_one)]
    print("boosted one by one " + "".join(shown))
    if len(one_by_one) < UNITS:
        print(f"  (after {len(one_by_one)} units a further one found nothing)")
    print("trained at once    " + "".join(f"{v:7.2f}" for v in at_once))
    if save:
        draw(one_by_one, at_once, line)


def draw(one_by_one, at_once, line):
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
    ax.plot(range(1, len(one_by_one) + 1), one_by_one, label="units boosted one by one")
    ax.plot(WIDTHS, at_once, "o", label="units trained at once")
    ax.axhline(line, color="grey", linestyle=":", label="a line")
    ax.set(xlabel="units", ylabel="RMSE on new rows", ylim=(1, None))
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(save, dpi=120)


if find_spec("torch") is None:
    print("This example needs torch: pip install 'foldwise[neural]'. Nothing was run.")
else:
    main()
