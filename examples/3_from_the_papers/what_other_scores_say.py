"""What other scores say about the same stack
==========================================

Targets of pure noise: no stack can be better than the constant, and most are worse.
The same fits are judged four ways, and on fresh rows; each number is the mean squared error over
that of the constant.

The learners are as many as a search would try (20 times neighbours on random columns), so that
there is much to find in noise, and least squares on top finds it all.
"""

import argparse

import numpy as np
from sklearn.neighbors import KNeighborsRegressor

from foldwise import StackingRegressor
from foldwise.diagnose import leak_audit

parser = argparse.ArgumentParser()
parser.add_argument("--save", help="write the picture to this file")
save = parser.parse_args().save

N_ROWS, N_LEARNERS, REPEATS = 100, 20, 8
found: dict[str, list[float]] = {}
for repeat in range(REPEATS):
    rng = np.random.default_rng(repeat)
    X, y = rng.normal(size=(N_ROWS, 40)), rng.normal(size=N_ROWS)
    learners = [
        (f"{m}", KNeighborsRegressor(5), [int(c) for c in rng.choice(40, 4, replace=False)])
        for m in range(N_LEARNERS)
    ]
    stack = StackingRegressor(
        learners, "least_squares", scoring="neg_mean_squared_error", random_state=repeat
    ).fit(X, y)
    for judged, score in leak_audit(stack).to_frame()[["judged", "score"]].itertuples(index=False):
        found.setdefault(judged, []).append(-score / y.var())
    new = rng.normal(size=(2000, 40))
    # The mean square of fresh noise is one, and independent of what is predicted.
    found.setdefault("on fresh rows", []).append(1 + np.mean(stack.predict(new) ** 2))

means = {judged: np.mean(values) for judged, values in found.items()}
errors = {judged: np.std(values) / REPEATS**0.5 for judged, values in found.items()}
print("loss over that of the constant, mean of", REPEATS, "samples")
for judged, mean in means.items():
    print(f"{judged:15s} {mean:.2f} ± {errors[judged]:.2f}")

if save:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6.4, 2.6), layout="constrained")
    ax.barh(list(means), list(means.values()), xerr=list(errors.values()), color="#2b6cb0")
    ax.axvline(means["on fresh rows"], color="#c05621", linewidth=2)
    ax.invert_yaxis()
    ax.set_xlabel("loss over that of the constant")
    ax.set_title("Pure noise: left of the line is optimism")
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(save, dpi=120)
