"""Audit a search of scikit-learn's
================================

The best of many candidates was the best by luck too.
"""

import argparse

from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, KFold, ParameterGrid, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foldwise.diagnose import audit

parser = argparse.ArgumentParser()
parser.add_argument("--save", help="write the picture to this file")
save = parser.parse_args().save

X_all, y_all = make_classification(5_120, 15, n_informative=2, flip_y=0.3, random_state=0)
X, y = X_all[:120], y_all[:120]
folds = KFold(5, shuffle=True, random_state=0)
pipeline = make_pipeline(StandardScaler(), KNeighborsClassifier())
grid = {
    "kneighborsclassifier__n_neighbors": [1, 3, 5, 9, 15, 25],
    "kneighborsclassifier__weights": ["uniform", "distance"],
    "kneighborsclassifier__p": [1, 2],
}
search = GridSearchCV(pipeline, grid, cv=folds, scoring="accuracy").fit(X, y)
print(f"the search reports an accuracy of {search.best_score_:.3f}")

# The same candidates on the same folds, one column of predictions each.
oof = {
    ", ".join(f"{name.split('__')[1]}={value}" for name, value in point.items()): cross_val_predict(
        pipeline.set_params(**point), X, y, cv=folds
    )
    for point in ParameterGrid(grid)
}
found = audit(oof, y, "accuracy", random_state=0)
print(found)

print("\nwhat else might have been chosen:")
print(found.models.nlargest(5, "mean_weight").round(3).to_string(index=False))

# The truth, which nobody has in practice: many new rows.
truth = search.best_estimator_.score(X_all[120:], y_all[120:])
print(f"\non 5,000 new rows: {truth:.3f}")

if save:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6.4, 2.6), layout="constrained")
    ax.plot(found.models["score"], ["every candidate"] * len(found.models), "|", color="0.4", ms=14)
    ax.plot([search.best_score_], ["the search says"], "D", color="#c05621")
    ax.plot([found.low, found.high], ["the audit says"] * 2, color="#2b6cb0")
    ax.plot([found.score], ["the audit says"], "o", color="#2b6cb0")
    ax.plot([truth], ["5,000 new rows say"], "s", color="0.4")
    ax.axvline(truth, color="0.4", linestyle=":", linewidth=1)
    ax.margins(y=0.15)
    ax.invert_yaxis()
    ax.set(xlabel="accuracy", title="The best of 24 was lucky")
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(save, dpi=120)
