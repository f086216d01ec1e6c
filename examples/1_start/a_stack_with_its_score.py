"""A stack that knows its own error: fit once, read the score, look at the leaderboard."""

import time

from lightgbm import LGBMRegressor
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foldwise import StackingRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True)
X_train, X_new, y_train, y_new = train_test_split(X, y, test_size=100, random_state=1)

stack = StackingRegressor(
    [
        ("ridge", make_pipeline(StandardScaler(), Ridge(10))),
        ("neighbours", make_pipeline(StandardScaler(), KNeighborsRegressor(20))),
        ("forest", RandomForestRegressor(100, min_samples_leaf=5)),
        ("boosting", LGBMRegressor(n_estimators=60, learning_rate=0.05, num_leaves=7, n_jobs=1)),
    ],
    random_state=0,
)
start = time.perf_counter()
stack.fit(X_train, y_train)
print(f"{stack.n_fits_} fits in {time.perf_counter() - start:.1f} s")

print(f"\nHonest score: RMSE {-stack.score_:.1f} ± {stack.score_se_:.1f}")
error = ((stack.predict(X_new) - y_new) ** 2).mean() ** 0.5
print(f"On 100 rows the stack never saw: {error:.1f}")

print("\nLeaderboard (same rows, same honesty):")
print(stack.leaderboard_.round(2).to_string(index=False, na_rep=""))

lower, upper = stack.predict_interval(X_new, 0.9)
inside = ((lower <= y_new) & (y_new <= upper)).mean()
print(f"\n90 % intervals hold {inside:.0%} of the new targets")
