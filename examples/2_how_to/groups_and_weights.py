"""Patients with several visits each
=================================

Rows of one patient stay together, weights go everywhere.
"""

import argparse

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foldwise import StackingClassifier

parser = argparse.ArgumentParser()
parser.add_argument("--save", help="write the picture to this file")
save = parser.parse_args().save

rng = np.random.default_rng(0)


def visits(n_patients, n_visits=4):
    patient = np.repeat(np.arange(n_patients), n_visits)
    habit = rng.normal(size=(n_patients, 6))[patient]
    X = habit + rng.normal(scale=0.2, size=habit.shape)
    # The outcome is a matter of the patient, so a model could learn patients by heart.
    ill = (habit[:, 0] - habit[:, 1] + 2 * rng.normal(size=n_patients)[patient] > 0).astype(int)
    return X, ill, patient


X, ill, patient = visits(150)
weight = rng.uniform(0.5, 1.5, size=len(ill))

learners = [
    ("logistic", make_pipeline(StandardScaler(), LogisticRegression())),
    ("trees", ExtraTreesClassifier(20)),
]
stack = StackingClassifier(learners, "mean", scoring="roc_auc", random_state=0)
honest = stack.fit(X, ill, sample_weight=weight, groups=patient)
print(f"AUC with patients kept together: {honest.score_:.3f} ± {honest.score_se_:.3f}")

torn = StackingClassifier(learners, "mean", scoring="roc_auc", random_state=0).fit(X, ill)
print(f"AUC with patients torn apart:    {torn.score_:.3f} ± {torn.score_se_:.3f}")

X_new, ill_new, _ = visits(3000)
truth = {one: roc_auc_score(ill_new, one.predict_proba(X_new)[:, 1]) for one in (honest, torn)}
print(f"AUC of 3,000 new patients:       {truth[honest]:.3f} and {truth[torn]:.3f}")

if save:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6.4, 2.2), layout="constrained")
    for name, one in (("kept together", honest), ("torn apart", torn)):
        ax.errorbar(one.score_, name, xerr=one.score_se_, fmt="o", color="#2b6cb0")
        ax.plot(truth[one], name, "D", color="#c05621")
    ax.plot([], [], "o", color="#2b6cb0", label="the stack's own score")
    ax.plot([], [], "D", color="#c05621", label="new patients")
    ax.margins(y=0.4)
    ax.invert_yaxis()
    ax.set(xlabel="AUC ± its standard error", title="Visits of one patient")
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(save, dpi=120)
