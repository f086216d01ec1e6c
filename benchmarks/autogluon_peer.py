"""Runs AutoGluon for ``accuracy.py``, in AutoGluon's own environment (no foldwise here)."""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from autogluon.tabular import TabularPredictor

folder = Path(sys.argv[1])
order = json.loads((folder / "order.json").read_text())


def read(name: str) -> pd.DataFrame:
    frame = pd.read_csv(folder / name)
    for column, kind in order["kinds"].items():
        if kind == "category":
            frame[column] = frame[column].astype("category")
    return frame


train, test = read("train.csv"), read("test.csv")
metric = {"rmse": "root_mean_squared_error"}.get(order["metric"], order["metric"])
start = time.perf_counter()
predictor = TabularPredictor(
    label="target",
    eval_metric=metric,
    problem_type=order["task"],
    path=str(folder / "models"),
    verbosity=0,
).fit(
    train,
    presets="best_quality",
    time_limit=order["budget"],
    num_cpus=order["jobs"],
    num_gpus=0,
)
seconds = time.perf_counter() - start
score = float(predictor.leaderboard()["score_val"].iloc[0])
start = time.perf_counter()
if order["task"] == "regression":
    predicted = predictor.predict(test).to_numpy()
    predicting, oof = time.perf_counter() - start, predictor.predict_oof().to_numpy()
else:
    predicted = predictor.predict_proba(test).to_numpy()
    predicting, oof = time.perf_counter() - start, predictor.predict_proba_oof().to_numpy()
np.save(folder / "test.npy", predicted)
np.save(folder / "oof.npy", oof)
told = {"seconds": seconds, "score": score, "predicting": predicting}
(folder / "told.json").write_text(json.dumps(told))
