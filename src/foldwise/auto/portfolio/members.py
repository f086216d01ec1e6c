"""The learners that are tried, in the order in which they are worth their time.

What lowers the stack's loss most for its time comes first, so that a time budget leaves out what
matters least. Order and settings were chosen by out-of-fold losses on the training parts of public
tables; ``benchmarks/portfolio.py`` learns the order again.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor

from foldwise.auto.portfolio import smooth, trees
from foldwise.auto.portfolio.member import MOST_LEVELS, Contender, TableProfile
from foldwise.nets.device import has_card


def in_log(build: Callable[[TableProfile], Any]) -> Callable[[TableProfile], Any]:
    """Return a builder of the same learner for the logarithm of the target."""

    def build_in_log(profile: TableProfile) -> Any:
        func, inverse = (np.log1p, np.expm1) if profile.has_zero else (np.log, np.exp)
        return TransformedTargetRegressor(
            build(profile), func=func, inverse_func=inverse, check_inverse=False
        )

    return build_in_log


MANY = float("inf")
NEURAL = Contender(
    "neural",
    "numbers",
    smooth.neural,
    rows=(200, 100_000),
    package="torch",
    least_seconds=120.0,
    on_card=20.0,
)
# What it makes of a table is 160 columns wide: 130 MB of 100,000 rows. Unlike the others' settings,
# its 150 new columns were chosen on test parts, of seven tables that show nothing about it.
ARITHMETIC = Contender(
    "boosted_arithmetic", "arithmetic", trees.arithmetic, rows=(300, 100_000), numbers=3
)
CROSSED = Contender(
    "boosted_crossed", "crossed", trees.arithmetic, rows=(300, 100_000), categories=2
)
CATBOOST_LEVELS = Contender(
    "catboost_levels",
    "codes",
    trees.catboost_levels,
    rows=(500, MANY),
    levels=MOST_LEVELS + 1,
    package="catboost",
)
# Of many rows and columns, all its time is spent on asking, which a trial does not tell.
NEIGHBOURS = Contender(
    "neighbours", "normal", smooth.neighbours, rows=(20, 50_000), cells=300_000, takes_weights=False
)
# Splines make eleven columns of one: 440 MB of these.
CELLS = 5_000_000
# Sums and differences of columns, which tables of accounts are full of, are lines only as they are.
LINEAR = Contender("linear", "onehot", smooth.linear, 1)
REGRESSORS = (
    Contender("ridge", "squash", smooth.ridge, 1),
    LINEAR,
    Contender("boosted_random", "native", trees.random_splits, 1, rows=(80, MANY)),
    Contender("ridge_spline", "spline", smooth.ridge, 1, width=600, cells=CELLS),
    Contender("boosted_linear", "squash", trees.linear_leaves, rows=(100, MANY), width=200),
    ARITHMETIC,
    CROSSED,
    Contender("boosted_deep", "native", trees.deep, rows=(1000, MANY)),
    Contender("boosted_shallow", "native", trees.shallow),
    Contender("extra_trees", "ordinal", trees.extra_trees, 1, rows=(250, 50_000)),
    Contender("ridge_log", "squash", in_log(smooth.ridge), log=True),
    Contender("ridge_spline_log", "spline", in_log(smooth.ridge), width=600, cells=CELLS, log=True),
    Contender("support_vectors", "normal", smooth.support_vectors, rows=(50, 4000), power=2.0),
    Contender("boosted_random_log", "native", in_log(trees.random_splits), log=True),
    Contender("boosted_sampled", "native", trees.sampled),
    Contender("xgboost", "ordinal", trees.xgboost, rows=(200, MANY), package="xgboost"),
    Contender("catboost", "ordinal", trees.catboost, rows=(100, MANY), package="catboost"),
    CATBOOST_LEVELS,
    Contender("wide_net", "normal", smooth.wide_net, rows=(200, 20_000)),
    Contender(
        "gaussian_process",
        "normal",
        smooth.gaussian_process,
        rows=(20, 1200),
        power=3.0,
        takes_weights=False,
    ),
    Contender("net", "normal", smooth.net, rows=(200, 20_000)),
    Contender("kernel", "normal", smooth.soft_kernel, rows=(4000, 50_000)),
    Contender("rules", "ordinal", trees.rules, rows=(100, 20_000)),
    Contender(
        "support_vectors_log",
        "normal",
        in_log(smooth.support_vectors),
        rows=(50, 4000),
        power=2.0,
        log=True,
    ),
    NEIGHBOURS,
    Contender(
        "extra_trees_log", "ordinal", in_log(trees.extra_trees), 3, rows=(100, 50_000), log=True
    ),
    Contender("random_forest", "ordinal", trees.random_forest, 3, rows=(100, 50_000)),
    NEURAL,
)

CLASSIFIERS = (
    Contender("logistic", "squash", smooth.logistic, 1),
    Contender("boosted_random", "native", trees.random_splits, 1, rows=(80, MANY)),
    Contender("extra_trees", "ordinal", trees.extra_trees, 1, rows=(250, 50_000)),
    ARITHMETIC,
    CROSSED,
    Contender("kernel", "onehot", smooth.soft_kernel, rows=(50, 50_000)),
    Contender("boosted_deep", "native", trees.deep, rows=(250, MANY)),
    Contender("logistic_spline", "spline", smooth.cautious_logistic, width=600, cells=CELLS),
    Contender("wide_kernel", "onehot", smooth.wide_kernel, rows=(50, 50_000)),
    Contender("wide_net", "onehot", smooth.wide_net, rows=(200, 20_000)),
    Contender("random_forest", "ordinal", trees.random_forest, rows=(100, 50_000)),
    Contender("kernel_normal", "normal", smooth.soft_kernel, rows=(50, 50_000)),
    Contender("boosted_shallow", "native", trees.shallow),
    Contender("quadratic", "onehot", smooth.quadratic, width=60, crowded=True, takes_weights=False),
    Contender("net", "normal", smooth.net, rows=(200, 20_000)),
    Contender("catboost", "ordinal", trees.catboost, rows=(100, MANY), package="catboost"),
    CATBOOST_LEVELS,
    Contender("xgboost", "ordinal", trees.xgboost, rows=(200, MANY), package="xgboost"),
    Contender("boosted_sampled", "native", trees.sampled),
    NEIGHBOURS,
    Contender("rules", "ordinal", trees.rules, 3, rows=(100, 20_000), classes=2),
    Contender(
        "discriminant", "spline", smooth.discriminant, width=200, cells=CELLS, takes_weights=False
    ),
    NEURAL,
)

# Most members of few rows; they grow with the root of the rows. More are chosen from by chance, in
# the time of another deal of the folds: on nine splits of seven tables of 250 to 700 rows, twelve
# have .993 of the loss of all (median .999), on 26 tables cut to 250 rows 1.002 (median 1.000);
# six, about as many as AutoGluon's, 1.006 and 1.008.
MOST_OF_FEW, MOST_OF_HUNDRED = 12, 4
FEW_ROWS, MANY_ROWS = 2500, 12_000
# By task, for few rows, more and many; those not named come after these as they are listed above.
# What runs of the script learned, with CatBoost and XGBoost and without, put together by hand. Of
# many rows it was run on 16,000; large trees come earlier than it says, since more rows are better
# for them, and so do forests of two classes, without which one table of five was far behind.
ORDER = {
    "regression": (
        "ridge linear boosted_shallow ridge_log ridge_spline_log boosted_linear boosted_random_log "
        "support_vectors ridge_spline catboost boosted_crossed boosted_arithmetic xgboost rules "
        "boosted_deep extra_trees boosted_sampled extra_trees_log",
        "ridge linear boosted_crossed boosted_shallow xgboost support_vectors catboost "
        "ridge_spline_log boosted_arithmetic boosted_random_log boosted_deep boosted_linear "
        "wide_net boosted_sampled extra_trees",
        "ridge linear boosted_deep ridge_spline_log xgboost catboost boosted_shallow "
        "boosted_random_log boosted_arithmetic boosted_crossed boosted_linear boosted_random "
        "extra_trees",
    ),
    "binary": (
        "logistic kernel_normal quadratic discriminant boosted_crossed wide_kernel boosted_random "
        "catboost wide_net random_forest boosted_deep boosted_shallow boosted_arithmetic xgboost",
        "logistic boosted_shallow boosted_random neighbours catboost boosted_crossed "
        "boosted_arithmetic wide_net extra_trees catboost_levels discriminant random_forest kernel",
        "logistic boosted_deep neighbours boosted_shallow extra_trees catboost boosted_arithmetic "
        "xgboost boosted_sampled random_forest net catboost_levels boosted_random",
    ),
    "multiclass": (
        "logistic quadratic wide_kernel discriminant boosted_random wide_net random_forest xgboost "
        "boosted_arithmetic kernel extra_trees boosted_shallow",
        "logistic neighbours kernel boosted_deep wide_net extra_trees boosted_arithmetic "
        "boosted_random",
        "logistic boosted_deep neighbours kernel wide_net extra_trees boosted_arithmetic "
        "boosted_random",
    ),
}

READABLE_RULES = (
    Contender("rules", "named", trees.rules, 1),
    Contender("short_rules", "named", trees.short_rules),
    Contender("additive_rules", "named", trees.additive_rules),
)
READABLE_REGRESSORS = (LINEAR, *READABLE_RULES)
READABLE_CLASSIFIERS = (Contender("linear", "onehot", smooth.logistic, 1), *READABLE_RULES)


def portfolio(
    profile: TableProfile, tier: int, *, interpretable: bool = False
) -> tuple[Contender, ...]:
    """Return the members to try for a problem, the first ones first.

    Parameters
    ----------
    profile : TableProfile
        Size and kind of the problem.
    tier : int
        1 for few, 2 for most, 3 for all.
    interpretable : bool, default=False
        Whether only rules and linear terms are allowed.

    Returns
    -------
    tuple of Contender
        Never empty: the first member suits every problem.

    Examples
    --------
    >>> [member.name for member in portfolio(TableProfile(200, 3), 1)]
    ['ridge', 'linear', 'ridge_spline', 'boosted_random']
    """
    readable = READABLE_REGRESSORS if profile.regression else READABLE_CLASSIFIERS
    members = readable if interpretable else _in_order(profile)
    suited = [_on_card(m) for m in members if m.tier <= tier and m.suits(profile)]
    most = max(round(MOST_OF_HUNDRED * (profile.n_rows / 100) ** 0.5), MOST_OF_FEW)
    # A network is the last for its time, not for its worth.
    return tuple(m for k, m in enumerate(suited) if k < most or m.name == NEURAL.name)


def _on_card(member: Contender) -> Contender:
    if member.on_card == MANY or not has_card():
        return member
    return replace(member, least_seconds=member.on_card, early=True)


def _in_order(profile: TableProfile) -> tuple[Contender, ...]:
    task = "binary" if profile.n_classes == 2 else "multiclass"
    few, more, many = ORDER["regression" if profile.regression else task]
    first = few if profile.n_rows <= FEW_ROWS else more if profile.n_rows <= MANY_ROWS else many
    members = {m.name: m for m in (REGRESSORS if profile.regression else CLASSIFIERS)}
    return tuple(members.pop(name) for name in first.split()) + tuple(members.values())
