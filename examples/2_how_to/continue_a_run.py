"""Keep every finished fit
=======================

A run that was killed continues where it was.

With run_dir each fit is one file, written whole or not at all. The same call again fits what is
missing and nothing else; a changed stacker or a further learner costs only what is new. The folder
holds pickled models, so it is as private as your code: never continue a run somebody sent you.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from sklearn.datasets import make_friedman1
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.linear_model import Ridge

from foldwise import StackingRegressor
from foldwise.engine import describe

X, y = make_friedman1(300, random_state=0)
learners = [
    ("ridge", Ridge()),
    ("forest", RandomForestRegressor(10)),
    ("trees", ExtraTreesRegressor(10)),
]


def stack(run_dir, estimators=learners, **options):
    return StackingRegressor(estimators, random_state=0, run_dir=run_dir, **options)


def kill_me_after(n_fits):
    """Return a callback that ends this process at once, as a power cut would."""
    seen = []

    def called(event):
        seen.append(event.kind == "fitted")
        if sum(seen) == n_fits:
            os._exit(1)

    return called


parser = argparse.ArgumentParser()
parser.add_argument("--die-in", help="begin a run in this folder and die")
parser.add_argument("--save", help="write the picture to this file")
options = parser.parse_args()
if options.die_in:
    stack(options.die_in, callback=kill_me_after(12)).fit(X, y)

with tempfile.TemporaryDirectory() as folder:
    run_dir = Path(folder) / "run"
    subprocess.run([sys.executable, sys.argv[0], "--die-in", run_dir], check=False)
    print("killed; what is done:")
    print(str(describe(run_dir)).split(": ", 1)[1])

    model = stack(run_dir).fit(X, y)
    whole = StackingRegressor(learners, random_state=0).fit(X, y)
    print("continued; same predictions, bit by bit:", (model.predict(X) == whole.predict(X)).all())
    runs = {"the same call again": model.run_}
    runs["another stacker"] = stack(run_dir, final_estimator="nnls").fit(X, y).run_
    more = [*learners, ("stiff", Ridge(1000))]
    runs["a learner more"] = stack(run_dir, more).fit(X, y).run_

for name, run in runs.items():
    print(f"{name}: {run.reused} fits reused, {run.fits} done")

if options.save:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6.4, 2.4), layout="constrained")
    reused, done = zip(*[(run.reused, run.fits) for run in runs.values()], strict=True)
    ax.barh(list(runs), reused, color="0.8", label="read from the folder")
    ax.barh(list(runs), done, left=reused, color="#2b6cb0", label="fitted")
    ax.invert_yaxis()
    ax.set(xlabel="fits", title="After a kill in the middle of 45 fits")
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(options.save, dpi=120)
