"""Audit a search of scikit-learn's
================================

The best of many candidates was the best by luck too.
"""

from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, KFold, ParameterGrid, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foldwise.diagnose import audit

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
print(f"\non 5,000 new rows: {search.best_estimator_.score(X_all[120:], y_all[120:]):.3f}")
