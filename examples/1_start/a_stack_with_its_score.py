"""A stack that knows its own error
================================

Fit once, read the score, look at the leaderboard.
"""

import argparse
import time

from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foldwise import StackingClassifier

parser = argparse.ArgumentParser()
parser.add_argument("--save", help="write the picture to this file")
save = parser.parse_args().save

X, y = load_digits(return_X_y=True, as_frame=True)
X_train, X_new, y_train, y_new = train_test_split(
    X, y, train_size=600, test_size=600, random_state=0
)

stack = StackingClassifier(
    [
        ("logistic", make_pipeline(StandardScaler(), LogisticRegression(C=0.1))),
        ("lda", LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1)),
        ("neighbours", KNeighborsClassifier(5)),
        ("trees", ExtraTreesClassifier(40)),
    ],
    random_state=0,
)
start = time.perf_counter()
stack.fit(X_train, y_train)
print(f"{stack.n_fits_} fits of 4 learners over 5 folds in {time.perf_counter() - start:.1f} s")

print(f"\nHonest score of the stack: log-loss {-stack.score_:.3f} ± {stack.score_se_:.3f}")
print(f"On 600 rows it never saw:  {log_loss(y_new, stack.predict_proba(X_new)):.3f}")

print("\nLeaderboard (same rows, same honesty; difference to the stack, paired):")
print(stack.leaderboard_.drop(columns="weight").round(3).to_string(index=False))

inside = stack.predict_set(X_new, 0.99)
hit = inside[range(len(y_new)), y_new].mean()
print(f"\n99 % prediction sets hold the digit in {hit:.1%} of the new rows,", end=" ")
print(f"with {inside.sum(axis=1).mean():.2f} digits in a set")

if save:
    import matplotlib.pyplot as plt

    board = stack.leaderboard_[::-1]
    figure, ax = plt.subplots(figsize=(6.4, 3), layout="constrained")
    own = ["#c05621" if model == "stack" else "#2b6cb0" for model in board["model"]]
    ax.errorbar(board["log_loss"], board["model"], xerr=board["se"], fmt="none", ecolor=own)
    ax.scatter(board["log_loss"], board["model"], color=own)
    new = log_loss(y_new, stack.predict_proba(X_new))
    ax.axvline(new, color="0.4", linestyle=":", label="the stack on 600 new rows")
    ax.set(xlabel="log-loss ± its standard error", title="The leaderboard, before any new row")
    ax.legend(frameon=False, loc="upper right")
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(save, dpi=120)
