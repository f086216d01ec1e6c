"""What the rule ensembles share: their parameters, the fit, and everything one can read of it."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from foldwise.arrays import FloatArray
from foldwise.checks import check_number, check_whole, check_word
from foldwise.errors import did_you_mean, invalid_data, invalid_parameter
from foldwise.isle.choice import Rivals
from foldwise.isle.data import TreeData, new_table
from foldwise.isle.grow import tree_sizes
from foldwise.isle.tree_sum import TreeSum
from foldwise.rules.dictionary import grow_dictionary, term_dictionary
from foldwise.rules.explain import (
    Explanation,
    explain_row,
    feature_shares,
    local_term_importances,
    term_importances,
    term_texts,
)
from foldwise.rules.fitting import fit_terms, kept_terms
from foldwise.rules.interactions import PartialDependence, tuples_that_interact
from foldwise.rules.listing import rule_frame, rules_html, rules_text


@dataclass(eq=False, repr=False)
class RuleFitBase(TreeSum):
    """What the regressor and the classifier share."""

    _: KW_ONLY
    mean_leaves: float = 4.0
    max_conditions: int | None = None
    learning_rate: float = 0.01
    winsorize: float = 0.025
    max_terms: int | None = None
    l1_ratio: float = 1.0

    def _check_parameters(self, owner: str) -> None:
        super()._check_parameters(owner)
        check_whole(owner, "n_estimators", self.n_estimators, 0, try_=500)
        check_number(owner, "mean_leaves", self.mean_leaves, least=2, most=1000, try_=4)
        check_whole(owner, "max_conditions", self.max_conditions, 1, none=True)
        check_number(owner, "winsorize", self.winsorize, least=0, most=0.499, try_=0.025)
        check_whole(owner, "max_terms", self.max_terms, 1, none=True)
        check_number(owner, "l1_ratio", self.l1_ratio, above=0, most=1, fix="Try 1, the lasso.")

    def _fit(self, owner: str, data: TreeData, rng: np.random.Generator) -> None:
        if self.ensemble is not None and data.table.columns.levels:
            must = "hold numbers only when rules come from an ensemble"
            fix = "Encode them, or leave ensemble out."
            raise invalid_data(owner, "X", must=must, got="columns of categories", fix=fix)
        leaves = tree_sizes(self.n_estimators, self.mean_leaves, rng)
        growth = self._growth(leaves, rng, self.max_conditions)
        tail = self.winsorize if self.linear_terms else None
        options: dict[str, Any] = {"l1_ratio": self.l1_ratio, "max_nonzero": self.max_terms}
        once = None if self._regrows else grow_dictionary(owner, data, growth, tail, self.ensemble)

        def fit(rows: TreeData) -> Rivals:
            if once is not None:
                dictionary, bits = once[0], None
            else:
                dictionary, bits = grow_dictionary(owner, rows, growth, tail, self.ensemble)
            tails = sorted({self.winsorize, 0.0}, reverse=True) if self.linear_terms else []
            lines = [term_dictionary(rows, each) for each in tails]
            rivals = [fit_terms(alone, rows, held, **options) for alone, held in lines]
            return (*rivals, fit_terms(dictionary, rows, bits, **options))

        refit = None if self.max_terms is None else self.l1_ratio
        choice = self._choose(owner, data, rng, fit, refit)
        self.model_ = kept_terms(choice.grown.dictionary, choice.coefs, choice.intercepts)
        self.n_candidates_ = len(choice.rivals[-1].dictionary)
        self.lambdas_ = choice.lambdas

    def _linear(self, X: Any) -> FloatArray:
        table = new_table(self, X)
        return self.model_.decision(table)

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
        A term counts ``|coefficient|`` times its standard deviation over the training rows; in a
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
        table = new_table(self, X)
        shares = feature_shares(self.model_, len(self.columns_.names))
        return local_term_importances(self.model_, table) @ shares

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
        table = new_table(self, np.atleast_2d(x) if np.ndim(x) == 1 else x)
        if table.n_rows != 1:
            owner, fix = type(self).__name__, "Explain rows one at a time."
            raise invalid_data(owner, "x", must="be one row", got=table.n_rows, fix=fix)
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
        :func:`foldwise.rules.interaction_null`.

        References
        ----------
        .. [1] Friedman and Popescu (2008). Predictive learning via rule ensembles. Section 8.
        """
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
        labels = self._outputs()
        if output not in labels:
            must, fix = "be one of " + ", ".join(map(repr, labels)), did_you_mean(output, labels)
            raise invalid_parameter(type(self).__name__, "output", must=must, got=output, fix=fix)
        return labels.index(output)
