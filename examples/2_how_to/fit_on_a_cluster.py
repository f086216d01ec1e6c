"""Fit on a Dask cluster
=====================

Give the client, or the scheduler's address, as the executor.

Here the cluster is two processes of this machine that listen on loopback only. Dask sends pickles
and asks nobody who they are, so a cluster is trusted: keep it on a private network, or use TLS, as
the documentation of foldwise.engine.dask shows. Small work is faster without a cluster.
It needs foldwise[dask].
"""

import argparse
import tempfile
import time

from distributed import Client, LocalCluster
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import make_friedman1
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

from foldwise import StackingRegressor


class Slow(RegressorMixin, BaseEstimator):
    """Stands for a learner that is worth sending somewhere."""

    def __init__(self, max_depth=3):
        self.max_depth = max_depth

    def fit(self, X, y):
        time.sleep(0.06)
        self.tree_ = DecisionTreeRegressor(max_depth=self.max_depth, random_state=0).fit(X, y)
        return self

    def predict(self, X):
        return self.tree_.predict(X)


learners = [("ridge", Ridge()), ("small", Slow(2)), ("large", Slow(5))]
X, y = make_friedman1(300, random_state=0)


def main(save):
    events = {"here": [], "there": []}
    here = StackingRegressor(learners, random_state=0, callback=events["here"].append).fit(X, y)
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            worker_dashboard_address=None,
            local_directory=folder,
        ) as cluster,
        Client(cluster) as client,
    ):
        there = StackingRegressor(
            learners, random_state=0, executor=client, callback=events["there"].append
        ).fit(X, y)
    print(f"{there.run_.fits} fits on the cluster in {there.run_.seconds:.1f} s")
    print(f"score {there.score_:.3f} there, {here.score_:.3f} here")
    print("same predictions, bit by bit:", (there.predict(X) == here.predict(X)).all())
    if save:
        import matplotlib.pyplot as plt

        figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
        for name, label in (("here", "this process"), ("there", "two workers")):
            steps = [(0.0, 0), *((event.seconds, event.done) for event in events[name])]
            ax.step(*zip(*steps, strict=True), where="post", label=label)
        ax.set(xlabel="seconds", ylabel="fits done", title="The same fits, here and there")
        ax.legend(frameon=False)
        ax.spines[["top", "right"]].set_visible(False)
        figure.savefig(save, dpi=120)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--save", help="write the picture to this file")
    main(parser.parse_args().save)
