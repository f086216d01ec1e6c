"""Save a stack, see what is in the file, load it, and watch a damaged copy being refused
======================================================================================
"""

import tempfile
from pathlib import Path

from lightgbm import LGBMRegressor
from sklearn.datasets import load_diabetes
from sklearn.linear_model import RidgeCV
from sklearn.neighbors import KNeighborsRegressor

from foldwise import StackingRegressor, load, save
from foldwise.errors import FoldwiseError
from foldwise.files import read_manifest

X, y = load_diabetes(return_X_y=True)
learners = [
    ("ridge", RidgeCV()),
    ("neighbours", KNeighborsRegressor(20)),
    ("gbm", LGBMRegressor(n_estimators=30, verbose=-1)),
]
stack = StackingRegressor(learners, random_state=0).fit(X, y)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "diabetes.foldwise"
    save(stack, path)
    manifest = read_manifest(path)
    print(f"{manifest['model']}, {path.stat().st_size:,} bytes, {len(manifest['members'])} members")
    print("learners that keep training rows:", manifest["training_rows"])
    again = load(path)  # runs nothing the file says; types not on foldwise's list are refused
    print("same predictions:", bool((again.predict(X) == stack.predict(X)).all()))
    print("same score:", again.score_ == stack.score_)

    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    try:
        load(path)
    except FoldwiseError as error:
        print(error)
