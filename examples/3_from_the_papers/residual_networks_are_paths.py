"""A residual network as an ensemble of paths
==========================================

A block of a residual network adds to what it is given, so n blocks are a sum over 2ⁿ paths, short
and long ones. If that sum behaves like an ensemble, paths can be taken away (Veit, Wilber and
Belongie 2016): deleting blocks *at prediction*, without training again, should cost little, and
more by and by. In a chain of the same layers there is one path, and a deleted layer breaks it.
Measured on digits.

Needs torch: ``pip install 'foldwise[neural]'``.
"""

import argparse
from copy import copy
from importlib.util import find_spec

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from foldwise import NetClassifier

parser = argparse.ArgumentParser()
parser.add_argument("--save", help="write the picture to this file")
save = parser.parse_args().save

LAYERS, EPOCHS, SUBSETS = 9, 40, 12
X, X_new, y, y_new = train_test_split(*load_digits(return_X_y=True), train_size=800, random_state=0)


def without(net, layers):
    """Return the network with some layers passing on what they are given."""
    shorter = copy(net)
    shorter.weights_ = dict(net.weights_)
    for layer in layers:
        matrix, bias = (net.weights_[f"{part}_{layer}"] for part in ("matrix", "bias"))
        # A residual block then adds nothing; a layer of a chain becomes the identity, unbent.
        same = np.zeros_like(matrix) if net.residual else np.eye(len(matrix))
        new = {"matrix": same, "bias": np.zeros_like(bias), "bend": np.zeros_like(bias)}
        shorter.weights_ |= {f"{part}_{layer}": values for part, values in new.items()}
    return shorter


def main():
    blocks = list(range(1, LAYERS))  # layer 0 reads the columns
    rng = np.random.default_rng(0)
    counts = range(len(blocks) + 1)
    subsets = [[rng.choice(blocks, n, replace=False) for _ in range(SUBSETS)] for n in counts]
    seen = {}
    for name, residual in (("residual network", True), ("chain of layers", False)):
        net = NetClassifier(
            width=64, n_layers=LAYERS, n_frequencies=0, dropout=0.0, residual=residual,
            epochs=EPOCHS, random_state=0,
        ).fit(X, y)  # fmt: skip
        one = [without(net, [block]).score(X_new, y_new) for block in blocks]
        seen[name] = [[without(net, s).score(X_new, y_new) for s in some] for some in subsets]
        print(f"{name}: accuracy {net.score(X_new, y_new):.3f}")
        print("  one block deleted    " + "".join(f"{share:7.3f}" for share in one))
        print("  1, 2, ... deleted    " + "".join(f"{np.mean(s):7.3f}" for s in seen[name][1:]))
    if save:
        draw(counts, seen)


def draw(counts, seen):
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
    for (name, shares), colour in zip(seen.items(), ("#2b6cb0", "#c05621"), strict=True):
        ax.plot(counts, np.mean(shares, axis=1), "o-", color=colour, label=name)
        ax.fill_between(counts, np.min(shares, 1), np.max(shares, 1), color=colour, alpha=0.2)
    ax.axhline(0.1, color="grey", linestyle=":", label="guessing")
    ax.set(xlabel="blocks deleted at prediction", ylabel="accuracy on new rows", ylim=(0, 1))
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(save, dpi=120)


if find_spec("torch") is None:
    print("This example needs torch: pip install 'foldwise[neural]'. Nothing was run.")
else:
    main()
