"""Every private name of scikit-learn that foldwise uses, each with its reason."""

# Votes of one-against-one decisions; SVC(decision_function_shape="ovo") gives nothing else.
# Rows and columns of arrays, sparse matrices and data frames alike; there is no public way.
from sklearn.utils import _safe_indexing as take

# What the HTML representation of an estimator is drawn from.
from sklearn.utils._repr_html.estimator import _VisualBlock as VisualBlock
from sklearn.utils.multiclass import _ovr_decision_function as one_against_rest

# The names scikit-learn's own transformers give and check.
from sklearn.utils.validation import _check_feature_names_in as feature_names_in
from sklearn.utils.validation import _num_samples as n_samples

__all__ = ["VisualBlock", "feature_names_in", "n_samples", "one_against_rest", "take"]
