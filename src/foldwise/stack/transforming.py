"""A stack as a transformer: the learners' predictions as columns with names."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from foldwise._sklearn import feature_names_in
from foldwise.arrays import Array
from foldwise.stack.build import Deal
from foldwise.stack.features import beside


class LearnersOutMixin(TransformerMixin, BaseEstimator):
    """Gives the learners' predictions of new rows, and their names."""

    deals_: list[Deal]
    _columns: list[str]
    _owner: Any
    _new_rows: Callable[[Any], Any]

    def transform(self, X: Any) -> Any:
        """Return the learners' predictions of new rows, as the deployed stack reads them.

        Out-of-fold predictions of the training rows are in ``oof_``.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            Probabilities for classes; the columns passed through come last.
        """
        X = self._new_rows(X)
        features = [d.fresh(X, d.reading.deployed) for d in self.deals_]
        values = np.mean([np.hstack(f.outputs) for f in features], axis=0)
        names = list(self.get_feature_names_out())[: values.shape[1]]
        if features[0].extra is not None and hasattr(X, "columns") and not hasattr(X, "iloc"):
            passed = self._passed_names(list(X.columns))
            own = {name: values[:, i] for i, name in enumerate(names)}
            return type(X)({**own, **{name: X[name] for name in passed}})
        return beside(values, names, features[0].extra)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns that transform gives, as scikit-learn's stacks do.

        Parameters
        ----------
        input_features : array-like of str or None
            Names of the features, where the stack was fitted on an array.

        Returns
        -------
        ndarray of str
            The class name and the learner's, numbered if it has several columns; then the
            columns passed through.
        """
        check_is_fitted(self, "deals_")
        features = feature_names_in(self, input_features)
        own = []
        for entry in self.deals_[0].top.entries:
            columns = [
                c for c in self._columns if c == entry.name or c.startswith(entry.name + "__")
            ]
            numbers = [""] if len(columns) == 1 else range(len(columns))
            own += [f"{self._owner.lower()}_{entry.name}{number}" for number in numbers]
        return np.asarray([*own, *self._passed_names(features)], dtype=object)

    def _passed_names(self, names: Any) -> list[str]:
        passed = self.deals_[0].top.problem.passthrough
        if passed is None:
            return []
        if isinstance(passed, slice):
            return list(names)
        return [c if isinstance(c, str) else names[c] for c in passed]
