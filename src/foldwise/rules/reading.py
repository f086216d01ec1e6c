"""What every fitted rule ensemble lets one read: lists, importances, interactions, reasons."""

from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from foldwise.arrays import FloatArray
from foldwise.errors import invalid_data
from foldwise.isle.inputs import new_table
from foldwise.isle.table import Columns
from foldwise.paths.parameters import check_word
from foldwise.rules.explain import Explanation, explain_row, term_texts
from foldwise.rules.importance import feature_shares, local_term_importances, term_importances
from foldwise.rules.interactions import PartialDependence, tuples_that_interact
from foldwise.rules.listing import rule_frame, rules_html, rules_text
from foldwise.rules.rule_model import RuleModel


class RuleReading:
    """Mixin of the fitted rule ensembles; reads ``model_`` and ``columns_``."""

    model_: RuleModel
    columns_: Columns

    @property
    def rules_(self) -> pd.DataFrame:
        """The terms with a coefficient, the most important first."""
        check_is_fitted(self)
        return rule_frame(self.model_, self.columns_, self._outputs())

    @property
    def feature_importances_(self) -> FloatArray:
        """Importance of each column; they sum to one (all zero for a constant model)."""
        check_is_fitted(self)
        shares = feature_shares(self.model_, len(self.columns_.names))
        found = term_importances(self.model_) @ shares
        return found / (found.sum() or 1.0)

    def importances(self, X: Any = None, *, of: str = "features") -> "pd.Series[float]":
        """Return importances, over all training rows or in a region.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), optional
            The rows of a region, for instance all rows with large predictions. None for the
            whole training set.
        of : {"features", "terms"}, default="features"
            Whose importance.

        Returns
        -------
        Series
            In units of the prediction (of the logit for classes), largest first.

        Notes
        -----
        A term counts |coefficient| times its standard deviation over the training rows; in a
        region, its mean distance from an average row. A rule's importance is shared equally
        by its columns.
        """
        check_is_fitted(self)
        check_word(type(self).__name__, "of", of, ("features", "terms"))
        if X is None:
            found = term_importances(self.model_)
        else:
            found = local_term_importances(self.model_, new_table(self, X)).mean(axis=0)
        if of == "features":
            found = found @ feature_shares(self.model_, len(self.columns_.names))
            names = list(self.columns_.names)
        else:
            names = term_texts(self.model_, self.columns_)
        return pd.Series(found, index=names).sort_values(ascending=False, kind="stable")

    def local_importances(self, X: Any) -> FloatArray:
        """Return how much each column moves each row away from an average row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            In units of the prediction (of the logit for classes).
        """
        check_is_fitted(self)
        shares = feature_shares(self.model_, len(self.columns_.names))
        return local_term_importances(self.model_, new_table(self, X)) @ shares

    def explain(self, x: Any, output: Any = None) -> Explanation:
        """Return why one row got its prediction.

        Parameters
        ----------
        x : array-like of shape (1, n_features)
            One row; a row of a data frame as ``X.iloc[[i]]``.
        output : label, optional
            With several classes: the class to explain; None for the most probable.

        Returns
        -------
        Explanation
            Print it, or read its ``terms``.
        """
        check_is_fitted(self)
        table = new_table(self, np.atleast_2d(x) if np.ndim(x) == 1 else x)
        if table.n_rows != 1:
            raise invalid_data(
                type(self).__name__,
                "x",
                must="be one row",
                got=table.n_rows,
                fix="Explain rows one at a time.",
            )
        return explain_row(self.model_, table, self._output_position(table, output))

    def interactions(self, X: Any, *, order: int = 2) -> pd.DataFrame:
        """Return how strongly columns interact, the strongest first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to average over, usually the training rows.
        order : {1, 2, 3}, default=2
            1 gives each column's interaction with all others together, 2 pairs, 3 triples.

        Returns
        -------
        DataFrame
            Names of the columns and "H": 0 for none, 1 when the joint effect is nothing but
            interaction. Sets of columns that stand in no rule together have H = 0 and are
            left out.

        Notes
        -----
        Exact partial dependences, one O(n_samples) sum a rule and set. Even without any
        interaction H is above zero on finite data: compare with
        :func:`foldwise.rules.bootstrap_null.interaction_null`.

        References
        ----------
        .. [1] Friedman and Popescu (2008). Predictive learning via rule ensembles. Section 8.
        """
        check_is_fitted(self)
        table = new_table(self, X)
        dependence = PartialDependence(self.model_, table, np.ones(table.n_rows))
        names, n = self.columns_.names, len(self.columns_.names)
        if order == 1:
            sets: list[tuple[int, ...]] = sorted(
                {(f,) for rule in self.model_.rules if len(rule) > 1 for f in rule.features}
            )
            found = [dependence.total_interaction(f, n) for (f,) in sets]
        else:
            sets = tuples_that_interact(self.model_, order)
            found = [dependence.interaction(features) for features in sets]
        rows = [(*(names[f] for f in features), h) for features, h in zip(sets, found, strict=True)]
        heads = [f"feature_{k + 1}" for k in range(order)]
        frame = pd.DataFrame(rows, columns=[*heads, "H"])
        return frame.sort_values("H", ascending=False, kind="stable", ignore_index=True)

    def to_text(self, n_terms: int | None = 20) -> str:
        """Return the rule list as plain text, the most important terms first.

        Parameters
        ----------
        n_terms : int or None, default=20
            Most terms shown; None for all.

        Returns
        -------
        str
            One term a line.
        """
        return rules_text(self.rules_, self.model_.intercepts.tolist(), n_terms)

    def to_html(self, title: str = "Rules") -> str:
        """Return the rule list as one self-contained HTML page.

        Parameters
        ----------
        title : str, default="Rules"
            Heading.

        Returns
        -------
        str
            The page; write it to a file to open it.
        """
        return rules_html(self.rules_, self.model_.intercepts.tolist(), title)

    def _outputs(self) -> list[Any]:
        return list(getattr(self, "classes_", [None]))

    def _output_position(self, table: Any, output: Any) -> int:
        if len(self.model_.intercepts) == 1:
            return 0
        if output is None:
            return int(self.model_.decision(table)[0].argmax())
        check_word(type(self).__name__, "output", output, self._outputs())
        return self._outputs().index(output)
