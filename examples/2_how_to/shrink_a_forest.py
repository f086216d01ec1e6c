"""Make a fitted forest smaller, faster and often better
=====================================================

Drop the trees the lasso does not need.
"""

from sklearn.datasets import make_friedman1
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_squared_error

from foldwise import ISLERegressor

X, y = make_friedman1(3000, noise=1.0, random_state=0)
train, spare, new = slice(0, 1000), slice(1000, 2000), slice(2000, 3000)

forest = RandomForestRegressor(200, random_state=0).fit(X[train], y[train])
# Rows the forest has not seen show what its trees are worth; its own rows flatter them.
small = ISLERegressor.from_fitted(forest, random_state=0).fit(X[spare], y[spare])

for name, model in (("forest, 200 trees", forest), (f"reweighted, {small.n_trees_} trees", small)):
    print(f"{name:22s} MSE {mean_squared_error(y[new], model.predict(X[new])):.2f}")
print()
print(small.summary())
