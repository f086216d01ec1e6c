"""Boosted trees: LightGBM in several characters, Newton boosting, XGBoost, CatBoost.

The settings are those published by Holzmüller et al. (2024, "Better by default") and the
characters of AutoGluon's portfolio (Erickson et al. 2020), with the number of rounds found on
rows set apart inside each node.
"""

from typing import Any

from foldwise.auto.portfolio.member import Settings
from foldwise.boost import NewtonBoostingClassifier, NewtonBoostingRegressor

PATIENCE = 60
SMALL = 5000


def newton(settings: Settings, learning_rate: float = 0.05, **parameters: Any) -> Any:
    """Return Newton boosted trees that find their rounds and are then grown on all rows."""
    kind = NewtonBoostingRegressor if settings.facts.regression else NewtonBoostingClassifier
    return kind(
        n_estimators=settings.trees(3000),
        learning_rate=learning_rate,
        early_stopping=True,
        n_iter_no_change=PATIENCE,
        # Growing again with all rows pays where rows are few.
        refit="scaled" if settings.facts.n_rows <= SMALL else None,
        n_jobs=1,
        **parameters,
    )


def random_splits(settings: Settings) -> Any:
    """Return boosted trees with thresholds drawn at random, the smoothest of them."""
    return newton(
        settings,
        # Random thresholds need twice the trees, which cost where rows are many.
        0.05 if settings.facts.n_rows <= SMALL else 0.1,
        max_leaf_nodes=31,
        min_samples_leaf=3,
        lightgbm_params={"extra_trees": True},
    )


def shallow(settings: Settings) -> Any:
    """Return many small trees on parts of rows and columns."""
    return newton(settings, max_leaf_nodes=8, min_samples_leaf=10, subsample=0.7, max_features=0.7)


def linear_leaves(settings: Settings) -> Any:
    """Return boosted trees with lines in their leaves and thresholds drawn at random."""
    return newton(
        settings,
        max_leaf_nodes=8,
        min_samples_leaf=10,
        lightgbm_params={"extra_trees": True, "linear_tree": True, "linear_lambda": 1.0},
    )


def sampled(settings: Settings) -> Any:
    """Return middle trees on small parts of the columns, for wide tables."""
    return newton(settings, max_leaf_nodes=16, min_samples_leaf=4, subsample=0.7, max_features=0.4)


def deep(settings: Settings) -> Any:
    """Return large trees with the tuned defaults of Holzmüller et al. (2024)."""
    if settings.facts.regression:
        return newton(settings, max_leaf_nodes=100, min_samples_leaf=3, subsample=0.7)
    return newton(settings, max_leaf_nodes=50, min_samples_leaf=20, subsample=0.75)


def xgboost(settings: Settings) -> Any:
    """Return XGBoost with the tuned defaults of Holzmüller et al. (2024)."""
    from xgboost import XGBClassifier, XGBRegressor

    common: dict[str, Any] = {
        "n_estimators": settings.trees(1000),
        "learning_rate": 0.05,
        "early_stopping_rounds": PATIENCE,
        "tree_method": "hist",
        "n_jobs": 1,
        "verbosity": 0,
    }
    if settings.facts.regression:
        return XGBRegressor(
            max_depth=9, subsample=0.7, colsample_bytree=0.8, min_child_weight=2, **common
        )
    return XGBClassifier(max_depth=6, subsample=0.65, min_child_weight=5e-6, **common)


def catboost(settings: Settings) -> Any:
    """Return CatBoost with AutoGluon's defaults."""
    from catboost import CatBoostClassifier, CatBoostRegressor

    kind = CatBoostRegressor if settings.facts.regression else CatBoostClassifier
    return kind(
        iterations=settings.trees(1000),
        learning_rate=0.05,
        early_stopping_rounds=PATIENCE,
        thread_count=1,
        verbose=False,
        allow_writing_files=False,
    )
