"""Rule ensembles as scikit-learn estimators: the fit, and everything one can read of it."""

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from foldwise.arrays import FloatArray
from foldwise.checks import check_number, check_whole, check_word
from foldwise.errors import did_you_mean, invalid_data, invalid_parameter
from foldwise.isle.choice import Rivals, fit_terms
from foldwise.isle.data import TreeData, new_table
from foldwise.isle.grow import tree_sizes
from foldwise.isle.tree_sum import TreeSum, TreeSumClassifier, TreeSumRegressor
from foldwise.rules.dictionary import grow_dictionary, term_dictionary
from foldwise.rules.explain import (
    Explanation,
    explain_row,
    feature_shares,
    local_term_importances,
    term_importances,
    term_texts,
)
from foldwise.rules.fitting import kept_terms
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
        tails = sorted({self.winsorize, 0.0}, reverse=True) if self.linear_terms else []
        grow = partial(grow_dictionary, owner, growth=growth, tail=tail, ensemble=self.ensemble)
        follow = partial(fit_terms, l1_ratio=self.l1_ratio, max_nonzero=self.max_terms)
        once = None if self._regrows else grow(data)[0]

        def fit(rows: TreeData) -> Rivals:
            dictionary, bits = grow(rows) if once is None else (once, None)
            lines = [term_dictionary(rows, each) for each in tails]
            rivals = [*lines, (dictionary, bits)]
            return tuple(follow(each, rows, each.matrix(rows.table, held)) for each, held in rivals)

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
            known = np.asarray(labels).tolist()
            must = "be one of " + ", ".join(map(repr, known))
            fix = did_you_mean(output, map(str, known))
            raise invalid_parameter(type(self).__name__, "output", must=must, got=output, fix=fix)
        return labels.index(output)


@dataclass(eq=False, repr=False)
class RuleFitRegressor(TreeSumRegressor, RuleFitBase):
    """Regression by a short list of rules and linear terms.

    Small trees are grown on random parts of the rows; every node of every tree is a rule such
    as ``age <= 30 and income > 2e4``. A lasso over all rules and all columns keeps the few that
    are needed. [1]_

    Parameters
    ----------
    ensemble : estimator, optional
        A forest or boosted trees (scikit-learn, LightGBM, XGBoost) to take rules from instead of
        growing trees: it is cloned and fitted, or used as it is inside a FrozenEstimator.
    loss : {"squared", "huber", "poisson"}, default="squared"
        What the trees and the lasso minimise. "poisson" is for counts; predictions are means.
    huber_delta : float, optional
        Where the Huber loss turns linear; None for 1.345 robust standard deviations of y.
    n_estimators : int, default=500
        Trees grown; 0 for linear terms only.
    mean_leaves : float, default=4.0
        Mean number of leaves; the sizes are drawn as 2 + floor(Exp(mean_leaves − 2)).
    max_conditions : int, optional
        Most conditions in a rule; 1 makes the model additive.
    subsample : float or "auto", default="auto"
        Part of the rows each tree sees; "auto" is min(1/2, (100 + 6 √n) / n).
    learning_rate : float, default=0.05
        How much each tree adds to what the next one sees. Friedman and Popescu's 0.01, the
        default for classes, gives fewer rules; on tables with numeric targets it predicted
        worse.
    min_samples_leaf : int, default=5
        Fewest (sampled) rows in a leaf.
    linear_terms : bool, default=True
        Whether columns of numbers may enter as they are, and categories level by level.
    winsorize : float, default=0.025
        Share of rows cut off at each end of a linear term.
    max_terms : int, optional
        Most rules and linear terms kept. Their coefficients are then fitted anew with a penalty
        of their own (relaxed lasso), since the penalty that leaves few terms shrinks them much.
    l1_ratio : float, default=1.0
        1 for the lasso, less for the elastic net.
    choose : {"min", "1se"}, default="min"
        Penalty with the lowest cross-validated loss, or the largest within one standard error.
    cv : int, splitter or iterable, default=5
        Folds that choose the penalty; every row is tested exactly once.
    dictionary : {"regrown", "shared"}, default="regrown"
        Whether the folds judge rules grown anew without them, or rules grown once on all rows:
        faster, but then the folds find rules that fit noise as good as true ones and far too many
        are kept. Trees of a fitted model are always shared.
    cv_score : bool, default=True
        Whether ``score_`` is computed, for a fit more a fold.
    random_state : int, RandomState or None, default=None
        Seed of tree sizes, row samples and folds.
    n_jobs : int or None, default=None
        Threads that grow trees; they do not change the result.

    Attributes
    ----------
    rules_ : DataFrame
        Terms with a coefficient: text, coefficient, support, importance, pandas query.
    feature_importances_ : ndarray of shape (n_features,)
        Importance of each column, summing to one.
    score_ : float
        Minus the mean squared error ("poisson": minus the mean deviance, "huber": minus the mean
        loss) of the training rows, each judged by rules and a penalty it had no part in. NaN where
        there is no such thing: a shared dictionary, the trees of a fitted model, two folds.
    score_se_ : float
        Its standard error, from rows or groups.
    lambdas_, cv_loss_, cv_se_ : ndarray of shape (n_lambdas,)
        Penalties of the path chosen, that of all terms or of the linear terms alone, their
        held-out loss (half the mean squared error for "squared") and its standard error: a curve
        to choose by. Its lowest point is too good to be a score.
    index_ : int
        Position of the chosen penalty.
    n_candidates_ : int
        Distinct terms to choose from.
    model_ : RuleModel
        The terms and coefficients.
    columns_ : Columns
        Names and levels of the columns.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Data frames may hold categories, text and booleans; missing values are allowed. A missing
    value passes a condition only where the rule says "or ... is missing". Thresholds are moved
    to the shortest number between two neighbouring data values, so the text is exactly the
    model. Rules that select the same rows, or each other's complement, are kept once.

    Where there are linear terms, their paths without any rule, cut off at ``winsorize`` and at the
    ends of the columns, are followed as well, and the folds choose: where straight lines are the
    truth, hundreds of rules to choose from are hundreds of chances to be wrong.

    All fits together are 2 cv + 1: of all rows, without each fold, and without each fold and the
    next. The second choose the penalty. The score of a fold is theirs too, but at the penalty that
    its two neighbours choose, judged by the third, which saw neither them nor the fold. Penalties
    are compared in units of the largest that matters, which each fit finds for itself.

    References
    ----------
    .. [1] Friedman and Popescu (2008). Predictive learning via rule ensembles.
       Annals of Applied Statistics 2(3), 916-954.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 10, size=(300, 3))
    >>> y = 5.0 * ((X[:, 0] > 4) & (X[:, 1] <= 2)) + rng.normal(scale=0.1, size=300)
    >>> rules = RuleFitRegressor(n_estimators=50, max_terms=1, linear_terms=False, random_state=0)
    >>> rules = rules.fit(X, y)
    >>> rules.rules_["rule"][0]
    'x0 > 4 and x1 <= 2'
    """

    _: KW_ONLY
    learning_rate: float = 0.05


class RuleFitClassifier(TreeSumClassifier, RuleFitBase):
    """Classification by a short list of rules and linear terms.

    The logistic counterpart of :class:`RuleFitRegressor`: rules add to the log-odds of a class.

    Parameters
    ----------
    ensemble, n_estimators, mean_leaves, max_conditions, subsample, learning_rate, \
min_samples_leaf, linear_terms, winsorize, max_terms, l1_ratio, choose, cv, dictionary, \
cv_score, random_state, n_jobs
        As in :class:`RuleFitRegressor`. With C > 2 classes, C trees are grown for each of
        ``n_estimators``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    rules_, feature_importances_, score_, score_se_, lambdas_, cv_loss_, cv_se_, index_, \
n_candidates_, model_, columns_
        As in :class:`RuleFitRegressor`; the loss is the log-loss. With several classes
        ``rules_`` has one column of coefficients a class.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> rules = RuleFitClassifier(n_estimators=50, max_terms=5, random_state=0).fit(X, y)
    >>> len(rules.rules_) <= 5
    True
    >>> rules.predict_proba(X[:2]).shape
    (2, 2)
    """
