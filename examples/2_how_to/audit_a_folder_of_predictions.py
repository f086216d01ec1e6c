"""Audit files of out-of-fold predictions
======================================

How good is what a team has chosen from them?
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Lasso, Ridge
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from foldwise.diagnose import audit


def written_by_a_team(folder: Path) -> None:
    """Write what other people would have sent: the targets, and one file a model."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    y.rename("target").to_csv(folder / "targets.csv", index_label="row")
    models = {f"ridge_{a}": Ridge(a) for a in (1, 30)} | {f"lasso_{a}": Lasso(a) for a in (1, 4)}
    models |= {f"knn_{k}": KNeighborsRegressor(k) for k in (3, 10, 30)}
    models |= {"svr": SVR(C=30.0), "forest": RandomForestRegressor(30, random_state=0)}
    for name, model in models.items():
        folds = KFold(5, shuffle=True, random_state=1)
        made = cross_val_predict(make_pipeline(StandardScaler(), model), X, y, cv=folds)
        frame = pd.DataFrame({"row": X.index, "prediction": made}).sample(frac=1, random_state=0)
        frame.to_csv(folder / f"model_{name}.csv", index=False)


def three_best(predictions: np.ndarray, y: np.ndarray, _: None) -> np.ndarray:
    """The way the team has chosen: the mean of the three best."""
    best = np.argsort(np.mean((predictions - y[:, None]) ** 2, axis=0))[:3]
    return np.isin(np.arange(predictions.shape[1]), best) / 3


parser = argparse.ArgumentParser()
parser.add_argument("--save", help="write the picture to this file")
save = parser.parse_args().save

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    written_by_a_team(folder)
    y = pd.read_csv(folder / "targets.csv", index_col="row")["target"]
    files = sorted(folder.glob("model_*.csv"))
    # Files are matched by row, not by their order.
    columns = {f.stem: pd.read_csv(f, index_col="row")["prediction"].loc[y.index] for f in files}

oof, found = pd.DataFrame(columns), []
for choose in ("best", "greedy", "simplex", three_best):
    found.append(audit(oof, y, choose=choose, random_state=0, n_bootstrap=100))
    print(found[-1], end="\n\n")

if save:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6.8, 3), layout="constrained")
    names = [one.choose.strip("'") for one in found]
    for k, one in enumerate(found):
        ax.plot([-one.low, -one.high], [k, k], color="#2b6cb0")
    ax.plot([-one.score for one in found], names, "o", color="#2b6cb0", label="on other rows")
    apparent = [-one.apparent for one in found]
    ax.plot(apparent, names, "D", color="#c05621", label="on the rows it was chosen by")
    ax.set_ylim(len(found) - 0.6, -1.2)
    ax.set(
        xlabel="root mean squared error, with its 95 % interval", title="What each choice is worth"
    )
    ax.legend(frameon=False, loc="upper right", ncols=2)
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(save, dpi=120)
