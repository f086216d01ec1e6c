"""Try other stackers, another metric and one more learner without fitting again
=============================================================================
"""

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foldwise import StackingClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
stack = StackingClassifier(
    [
        ("logistic", make_pipeline(StandardScaler(), LogisticRegression())),
        ("forest", RandomForestClassifier(20)),
    ],
    random_state=0,
).fit(X, y)
print(f"{'bake-off':10s} log-loss {-stack.score_:.4f} ± {stack.score_se_:.4f}")

for top in ["mean", "best", "nnls", "logistic", (LogisticRegression(), {"C": [0.01, 1, 100]})]:
    other = stack.restack(top)
    name = top if isinstance(top, str) else "own grid"
    print(f"{name:10s} log-loss {-other.score_:.4f}")

auc = stack.restack(scoring="roc_auc")
print(f"as AUC: {auc.score_:.4f} ± {auc.score_se_:.4f}")

more = stack.add("bayes", make_pipeline(StandardScaler(), GaussianNB()))
print(f"with naive Bayes: {-more.score_:.4f}, {more.n_fits_ - stack.n_fits_} new fits")
