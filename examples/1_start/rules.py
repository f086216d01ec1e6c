"""A model one can read
====================

Rules for diabetes progression, and why a patient got a prediction.
"""

from sklearn.datasets import load_diabetes
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

from foldwise import RuleFitRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X, X_new, y, y_new = train_test_split(X, y, random_state=0)

rules = RuleFitRegressor(n_estimators=200, max_terms=12, choose="1se", random_state=0).fit(X, y)

print(rules.to_text())
print(f"\nR² on new patients: {r2_score(y_new, rules.predict(X_new)):.2f}")
print("\nImportance of each column:")
print(rules.importances().head(5).round(1).to_string())
print("\nWhy this patient got this prediction:")
print(rules.explain(X_new.iloc[[0]]))
