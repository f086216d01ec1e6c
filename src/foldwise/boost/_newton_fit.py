"""From a Newton boosting estimator's parameters and data to its trees."""

from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import validate_data

from foldwise.arrays import FloatArray, IntArray
from foldwise.boost._parameters import check_boosting, check_count, check_number
from foldwise.boost.categories import categorical_columns, encode, learn_categories
from foldwise.boost.early_stopping import inner_splits, stop_early
from foldwise.boost.learner import check_groups, is_frame
from foldwise.boost.newton_trees import NewtonTrees, Rows, Words, train, tree_words
from foldwise.boost.progress import Progress
from foldwise.errors import Plain, invalid_parameter
from foldwise.losses.loss import Loss, check_loss
from foldwise.losses.numbers import Huber, Quantile, Squared

FAR_FROM_ZERO = 100.0


def check_newton(estimator: Any) -> None:
    """Raise unless the parameters of the trees are in order."""
    owner = type(estimator).__name__
    check_boosting(estimator)
    check_count(owner, "max_leaf_nodes", estimator.max_leaf_nodes, 2, 31)
    check_count(owner, "min_samples_leaf", estimator.min_samples_leaf, 1, 20)
    check_count(owner, "max_bins", estimator.max_bins, 2, 255)
    if estimator.max_depth is not None:
        check_count(owner, "max_depth", estimator.max_depth, 1, 6)
    for name, usual in [("gamma", 0.0), ("reg_lambda", 1.0), ("min_hessian", 1e-3)]:
        check_number(owner, name, getattr(estimator, name), least=0, try_=usual)
    for name in ["subsample", "max_features"]:
        check_number(owner, name, getattr(estimator, name), above=0, most=1, try_=1.0)


def table_of(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Return ``X`` as numbers for LightGBM; in ``fit`` learn the categories too."""
    owner = type(estimator).__name__
    if reset and not hasattr(X, "shape"):
        X = check_array(X, dtype="numeric", ensure_all_finite="allow-nan")
    if reset:
        wanted = estimator.categorical_features
        estimator.categories_ = {}
        if len(X.shape) == 2:
            columns = categorical_columns(owner, X, wanted)
            estimator.categories_ = learn_categories(X, columns)
    if estimator.categories_ and (is_frame(X) or isinstance(X, np.ndarray)):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return check_array(encode(owner, X, estimator.categories_), ensure_all_finite="allow-nan")
    table = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        ensure_all_finite="allow-nan",
    )
    # LightGBM takes SciPy's sparse matrices, but not its sparse arrays.
    return sparse.csr_matrix(table) if sparse.issparse(table) else table


def fit_newton(
    estimator: Any,
    table: Any,
    y: FloatArray,
    weight: FloatArray,
    given: bool,
    groups: Any,
    loss: Loss,
) -> None:
    """Boost, with early stopping if asked for, and set the fitted attributes."""
    owner = type(estimator).__name__
    loss.check_targets(owner, y)
    groups = check_groups(estimator, groups, len(y))
    start = np.asarray(loss.constant(y, weight), dtype=float)
    check_loss(owner, loss, y, np.tile(start, (len(y),) + (1,) * start.ndim))
    estimator.n_threads_ = effective_n_jobs(estimator.n_jobs)
    rng = check_random_state(estimator.random_state)
    seed, split_seed = (int(number) for number in rng.randint(2**31 - 1, size=2))
    words, shift = _words(estimator, seed), _shift(loss, y, weight)
    rows = Rows(table, y - shift, weight, given)
    progress = Progress(owner, estimator.n_estimators, estimator.verbose)

    def run(inside: IntArray, apart: IntArray | None, rounds: int) -> NewtonTrees:
        return train(
            words,
            loss,
            rows if len(inside) == len(y) else rows.part(inside),
            rounds,
            categorical=list(estimator.categories_),
            watch=None if apart is None else rows.part(apart),
            patience=estimator.n_iter_no_change,
            report=progress.step,
        )

    if estimator.early_stopping:
        classes = isinstance(estimator, ClassifierMixin)
        splits = inner_splits(
            owner, estimator.validation, y, classes=classes, groups=groups, seed=split_seed
        )
        model = stop_early(run, splits, len(y), estimator.n_estimators, estimator.refit)
    else:
        model = run(np.arange(len(y)), None, estimator.n_estimators)
    estimator.model_ = model.shifted(shift)
    estimator.loss_ = loss
    estimator.booster_ = model.booster
    estimator.validation_loss_ = model.validation_loss
    estimator.n_estimators_ = model.rounds


def _shift(loss: Loss, y: FloatArray, weight: FloatArray) -> float:
    """Return what to take from y so that LightGBM's single precision does not round it away."""
    if type(loss) is not Squared and not isinstance(loss, Quantile | Huber):
        return 0.0
    centre = float(np.average(y, weights=weight))
    spread = float(np.sqrt(np.average((y - centre) ** 2, weights=weight)))
    return centre if abs(centre) > FAR_FROM_ZERO * spread else 0.0


def _words(estimator: Any, seed: int) -> Words:
    names = [
        "learning_rate",
        "max_leaf_nodes",
        "max_depth",
        "gamma",
        "reg_lambda",
        "subsample",
        "max_features",
        "min_samples_leaf",
        "min_hessian",
        "max_bins",
    ]
    words = tree_words(**{name: getattr(estimator, name) for name in names})
    words |= {
        "seed": seed,
        "num_threads": estimator.n_threads_,
        "deterministic": True,
        "force_row_wise": True,
        "feature_pre_filter": False,
        "verbosity": -1,
    }
    constraints = _constraints(estimator)
    if constraints is not None:
        words["monotone_constraints"] = constraints
    return words | (estimator.lightgbm_params or {})


def _constraints(estimator: Any) -> list[int] | None:
    wanted, n_features = estimator.monotonic_cst, estimator.n_features_in_
    if wanted is None:
        return None
    if isinstance(wanted, dict):
        names = list(getattr(estimator, "feature_names_in_", []))
        unknown = [name for name in wanted if name not in names]
        signs = [wanted.get(name, 0) for name in names] if not unknown else []
    else:
        signs = list(wanted)
    if len(signs) != n_features or not set(signs) <= {-1, 0, 1}:
        raise invalid_parameter(
            type(estimator).__name__,
            "monotonic_cst",
            must=f"give -1, 0 or 1 for the {n_features} columns, or a dict of their names",
            got=wanted if isinstance(wanted, dict) else Plain(repr(list(wanted))),
            fix="Use 0 for columns without a constraint.",
        )
    return [int(sign) for sign in signs]
