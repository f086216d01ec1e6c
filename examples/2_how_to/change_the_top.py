"""Try other stackers, another metric and one more learner without fitting again
=============================================================================
"""

import argparse

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foldwise import StackingClassifier

parser = argparse.ArgumentParser()
parser.add_argument("--save", help="write the picture to this file")
save = parser.parse_args().save

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
stack = StackingClassifier(
    [
        ("logistic", make_pipeline(StandardScaler(), LogisticRegression())),
        ("forest", RandomForestClassifier(20)),
    ],
    random_state=0,
).fit(X, y)
tops = {"bake-off": stack}
for top in ["mean", "best", "nnls", "logistic", (LogisticRegression(), {"C": [0.01, 1, 100]})]:
    tops[top if isinstance(top, str) else "own grid"] = stack.restack(top)
for name, other in tops.items():
    print(f"{name:10s} log-loss {-other.score_:.4f} ± {other.score_se_:.4f}")

auc = stack.restack(scoring="roc_auc")
print(f"as AUC: {auc.score_:.4f} ± {auc.score_se_:.4f}")

more = stack.add("bayes", make_pipeline(StandardScaler(), GaussianNB()))
tops["and naive Bayes"] = more
print(f"with naive Bayes: {-more.score_:.4f}, {more.n_fits_ - stack.n_fits_} new fits")

if save:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6.4, 3), layout="constrained")
    scores, errors = zip(*[(-one.score_, one.score_se_) for one in tops.values()], strict=True)
    ax.errorbar(scores, list(tops), xerr=errors, fmt="o", color="#2b6cb0")
    for name, one in tops.items():
        new = one.n_fits_ - stack.n_fits_ if one is not stack else stack.n_fits_
        ax.annotate(f"{new} fits", (1, name), xycoords=("axes fraction", "data"), va="center")
    ax.invert_yaxis()
    ax.set(xlabel="log-loss ± its standard error", title="What each further stack costs")
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(save, dpi=120)
