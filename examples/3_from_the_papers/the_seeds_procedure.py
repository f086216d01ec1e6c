"""The lattice at work
===================

15 fits where the reference does 30, and what each of them is for.
"""

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeRegressor

from foldwise import StackingRegressor

X, y = make_friedman1(400, noise=1.0, random_state=0)
X_new, y_new = make_friedman1(20_000, noise=1.0, random_state=1)
learners = [("ridge", Ridge()), ("tree", DecisionTreeRegressor(min_samples_leaf=5))]
grid = {"alpha": np.logspace(-3, 3, 13)}

for hold_out in ["node", "mean"]:
    stack = StackingRegressor(
        learners,
        (Ridge(), grid),
        cv=KFold(5, shuffle=True, random_state=0),
        hold_out=hold_out,
        random_state=0,
    ).fit(X, y)
    truth = ((stack.predict(X_new) - y_new) ** 2).mean() ** 0.5
    print(
        f"hold_out={hold_out!r}: {stack.n_fits_ // 2} fits a learner, "
        f"alpha {stack.stacker_.alpha:.3g}, score {-stack.score_:.3f} ± {stack.score_se_:.3f}, "
        f"on 20,000 new rows {truth:.3f}"
    )
print("\n'node' is the reference's procedure to the letter: one model predicts the hold-out")
print("fold, the mean of five is deployed, so its score is pessimistic. 'mean' repeats what is")
print("deployed, from the models without two folds that are there anyway.")
