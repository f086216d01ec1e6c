"""The private parts of scikit-learn that foldwise uses, each with the reason why.

Everything else is imported from scikit-learn's public modules, so a release that moves one of
these names breaks this file alone.
"""

# The compiled coordinate descent on a Gram matrix. The public ``lasso_path`` reaches it too, but
# re-validates and re-centres its input for every call and offers no start vector for one lambda.
from sklearn.linear_model._cd_fast import enet_coordinate_descent_gram

__all__ = ["enet_coordinate_descent_gram"]
