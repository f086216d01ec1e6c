"""Save a stack, see what is in the file, load it, and watch a damaged copy being refused
======================================================================================
"""

import argparse
import tempfile
from collections import Counter
from pathlib import Path

from lightgbm import LGBMRegressor
from sklearn.datasets import load_diabetes
from sklearn.linear_model import RidgeCV
from sklearn.neighbors import KNeighborsRegressor

from foldwise import StackingRegressor, load, save
from foldwise.errors import FoldwiseError
from foldwise.files import read_manifest

parser = argparse.ArgumentParser()
parser.add_argument("--save", help="write the picture to this file")
save_to = parser.parse_args().save

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

if save_to:
    import matplotlib.pyplot as plt

    sizes = Counter()
    for name, member in manifest["members"].items():
        folder, slash, file = name.partition("/")
        sizes[f"{folder}/*{Path(file).suffix}" if slash else name] += member["size"] / 1000
    figure, ax = plt.subplots(figsize=(6.4, 2), layout="constrained")
    ax.barh(list(sizes), list(sizes.values()), color="#2b6cb0")
    ax.invert_yaxis()
    ax.set(xlabel="kB before packing", title="What the file holds: text and numbers, no code")
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(save_to, dpi=120)
