"""Keep every finished fit
=======================

A run that was killed continues where it was.

With run_dir each fit is one file, written whole or not at all. The same call again fits what is
missing and nothing else; a changed stacker or a further learner costs only what is new. The folder
holds pickled models, so it is as private as your code: never continue a run somebody sent you.
"""

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


if len(sys.argv) > 1:
    stack(sys.argv[1], callback=kill_me_after(12)).fit(X, y)

with tempfile.TemporaryDirectory() as folder:
    run_dir = Path(folder) / "run"
    subprocess.run([sys.executable, sys.argv[0], run_dir], check=False)
    print("killed; what is done:")
    print(str(describe(run_dir)).split(": ", 1)[1])

    model = stack(run_dir).fit(X, y)
    print(f"continued: {model.run_.reused} fits reused, {model.run_.fits} done")
    whole = StackingRegressor(learners, random_state=0).fit(X, y)
    print("same predictions, bit by bit:", (model.predict(X) == whole.predict(X)).all())

    model = stack(run_dir, final_estimator="nnls").fit(X, y)
    print(f"another stacker: {model.run_.fits} fits done")
    model = stack(run_dir, [*learners, ("stiff", Ridge(1000))]).fit(X, y)
    print(f"a learner more: {model.run_.fits} fits done")
