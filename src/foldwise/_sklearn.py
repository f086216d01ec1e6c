"""Every private name of scikit-learn that foldwise uses, each with its reason.

``VisualBlock``
    What the HTML representation of an estimator is drawn from.
``enet_coordinate_descent_gram``
    The compiled coordinate descent on a Gram matrix. The public ``lasso_path`` reaches it too,
    but validates and centres its input at every call and takes no start for one penalty.
``feature_names_in``, ``n_samples``
    The names scikit-learn's own transformers give and check; the length of anything.
``one_against_rest``
    Votes of one-against-one decisions: ``SVC(decision_function_shape="ovo")`` gives no others.
``take``
    Rows and columns of arrays, sparse matrices and data frames alike; there is no public way.
"""

from sklearn.linear_model._cd_fast import enet_coordinate_descent_gram
from sklearn.utils import _safe_indexing as take
from sklearn.utils._repr_html.estimator import _VisualBlock as VisualBlock
from sklearn.utils.multiclass import _ovr_decision_function as one_against_rest
from sklearn.utils.validation import _check_feature_names_in as feature_names_in
from sklearn.utils.validation import _num_samples as n_samples

__all__ = [
    "VisualBlock",
    "enet_coordinate_descent_gram",
    "feature_names_in",
    "n_samples",
    "one_against_rest",
    "take",
]
