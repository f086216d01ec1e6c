"""Patients with several visits each
=================================

Rows of one patient stay together, weights go everywhere.
"""

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foldwise import StackingClassifier

rng = np.random.default_rng(0)
n_patients, n_visits = 150, 4
patient = np.repeat(np.arange(n_patients), n_visits)
habit = rng.normal(size=(n_patients, 6))[patient]
X = habit + rng.normal(scale=0.5, size=habit.shape)
# The outcome is a matter of the patient, so a model could learn patients by heart.
ill = (habit[:, 0] - habit[:, 1] + rng.normal(size=n_patients)[patient] > 0).astype(int)
weight = rng.uniform(0.5, 1.5, size=len(ill))

learners = [
    ("logistic", make_pipeline(StandardScaler(), LogisticRegression())),
    ("trees", ExtraTreesClassifier(20)),
]
stack = StackingClassifier(learners, "mean", scoring="roc_auc", random_state=0)
honest = stack.fit(X, ill, sample_weight=weight, groups=patient)
print(f"AUC with patients kept together: {honest.score_:.3f} ± {honest.score_se_:.3f}")

torn = StackingClassifier(learners, "mean", scoring="roc_auc", random_state=0).fit(X, ill)
print(f"AUC with patients torn apart:    {torn.score_:.3f}, which new patients will not give")
