"""Boosted trees, forests and rules.

The settings of boosted trees are those published by Holzmüller et al. (2024, "Better by default")
and the characters of AutoGluon's portfolio (Erickson et al. 2020), with the number of rounds found
on the folds left out, or where there are none for it on rows set apart; patience is 60 rounds
instead of 300.
"""

from typing import Any

from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from foldwise.auto.portfolio.member import TableProfile
from foldwise.auto.tables.encoder import category_names
from foldwise.boost import NewtonBoostingClassifier, NewtonBoostingRegressor
from foldwise.rules import RuleFitClassifier, RuleFitRegressor

PATIENCE = 60
SMALL = 5000


def newton(profile: TableProfile, learning_rate: float = 0.05, **parameters: Any) -> Any:
    """Return Newton boosted trees that find their rounds and are then grown on all rows."""
    kind = NewtonBoostingRegressor if profile.regression else NewtonBoostingClassifier
    return kind(
        n_estimators=profile.trees(3000),
        learning_rate=learning_rate,
        early_stopping=True,
        n_iter_no_change=PATIENCE,
        # Where rows are set apart, growing again with all of them pays if they are few.
        refit="scaled" if profile.n_rows <= SMALL else None,
        n_jobs=1,
        **parameters,
    )


def random_splits(profile: TableProfile, **parameters: Any) -> Any:
    """Return boosted trees with thresholds drawn at random, the smoothest of them."""
    return newton(
        profile,
        # Random thresholds need twice the trees, which cost where rows are many.
        0.05 if profile.n_rows <= SMALL else 0.1,
        max_leaf_nodes=31,
        min_samples_leaf=3,
        lightgbm_params={"extra_trees": True},
        **parameters,
    )


def arithmetic(profile: TableProfile) -> Any:
    """Return the same on parts of many columns."""
    return random_splits(profile, max_features=0.5)


def shallow(profile: TableProfile) -> Any:
    """Return many small trees on parts of rows and columns."""
    return newton(profile, max_leaf_nodes=8, min_samples_leaf=10, subsample=0.7, max_features=0.7)


def linear_leaves(profile: TableProfile) -> Any:
    """Return boosted trees with lines in their leaves and thresholds drawn at random."""
    return newton(
        profile,
        max_leaf_nodes=8,
        min_samples_leaf=10,
        lightgbm_params={"extra_trees": True, "linear_tree": True, "linear_lambda": 1.0},
    )


def sampled(profile: TableProfile) -> Any:
    """Return middle trees on small parts of the columns, for wide tables."""
    return newton(profile, max_leaf_nodes=16, min_samples_leaf=4, subsample=0.7, max_features=0.4)


def deep(profile: TableProfile) -> Any:
    """Return large trees with the tuned defaults of Holzmüller et al. (2024)."""
    if profile.regression:
        # But for the penalty, which is 0 there: out of fold ours did no worse on training parts.
        return newton(profile, max_leaf_nodes=100, min_samples_leaf=3, subsample=0.7)
    return newton(
        profile,
        0.04,
        max_leaf_nodes=50,
        min_samples_leaf=40,
        subsample=0.75,
        reg_lambda=0.0,
        min_hessian=1e-7,
    )


def xgboost(profile: TableProfile) -> Any:
    """Return XGBoost with the tuned defaults of Holzmüller et al. (2024)."""
    from xgboost import XGBClassifier, XGBRegressor

    common: dict[str, Any] = {
        "n_estimators": profile.trees(1000),
        "reg_lambda": 0.0,
        "early_stopping_rounds": PATIENCE,
        "tree_method": "hist",
        "n_jobs": 1,
        "verbosity": 0,
    }
    if profile.regression:
        return XGBRegressor(
            learning_rate=0.05, max_depth=9, subsample=0.7, min_child_weight=2.0, **common
        )
    return XGBClassifier(
        learning_rate=0.08,
        max_depth=6,
        subsample=0.65,
        colsample_bylevel=0.9,
        min_child_weight=5e-6,
        **common,
    )


def catboost(profile: TableProfile, **parameters: Any) -> Any:
    """Return CatBoost with AutoGluon's defaults, but for larger steps and fewer bins.

    Out of fold that did no worse on training parts of twelve tables, in half the time: of few rows
    most of it goes into bins.
    """
    from catboost import CatBoostClassifier, CatBoostRegressor

    kind = CatBoostRegressor if profile.regression else CatBoostClassifier
    return kind(
        iterations=profile.trees(1000),
        learning_rate=0.08,
        max_bin=64 if profile.n_rows <= SMALL else 128,
        early_stopping_rounds=PATIENCE,
        thread_count=1,
        verbose=False,
        allow_writing_files=False,
        **parameters,
    )


def catboost_levels(profile: TableProfile) -> Any:
    """Return CatBoost that is told which columns are categories: dear, and not always better."""
    return catboost(profile, cat_features=category_names(profile.n_categories))


def extra_trees(profile: TableProfile) -> Any:
    """Return extremely randomised trees (Geurts et al. 2006)."""
    number = _forest_size(profile)
    if profile.regression:
        return ExtraTreesRegressor(number, max_features=0.5)
    return ExtraTreesClassifier(number, max_features=0.5, min_samples_leaf=2)


def random_forest(profile: TableProfile) -> Any:
    """Return a random forest (Breiman 2001)."""
    number = _forest_size(profile)
    if profile.regression:
        return RandomForestRegressor(number, max_features=1 / 3, min_samples_leaf=2)
    return RandomForestClassifier(number, criterion="entropy", max_features=0.5, min_samples_leaf=3)


def _forest_size(profile: TableProfile) -> int:
    # New rows are told by the forests of all folds: five of 100 trees are one of 500.
    return profile.trees(200 if profile.n_rows <= SMALL else 100)


def rules(profile: TableProfile, **parameters: Any) -> Any:
    """Return a rule ensemble (Friedman and Popescu 2008)."""
    kind = RuleFitRegressor if profile.regression else RuleFitClassifier
    # The stack judges it; a score of its own would double the fits.
    return kind(n_estimators=profile.trees(200), cv_score=False, **parameters)


def short_rules(profile: TableProfile) -> Any:
    """Return a list of at most fifteen rules and linear terms."""
    return rules(profile, max_terms=15)


def additive_rules(profile: TableProfile) -> Any:
    """Return rules of one condition each: an additive model of steps and lines."""
    return rules(profile, max_conditions=1)
