"""The learners that are tried, in the order in which they are worth their time.

Cheap and strong ones come first, so that a time budget leaves out what matters least. The order
and the settings were chosen by out-of-fold losses on the training parts of public tables.
"""

from foldwise.auto.facts import Facts
from foldwise.auto.portfolio.boosted import (
    catboost,
    deep,
    linear_leaves,
    random_splits,
    sampled,
    shallow,
    xgboost,
)
from foldwise.auto.portfolio.forests import extra_trees, random_forest
from foldwise.auto.portfolio.linear import (
    cautious_logistic,
    discriminant,
    logistic,
    quadratic,
    ridge,
)
from foldwise.auto.portfolio.logarithm import in_log
from foldwise.auto.portfolio.member import Member
from foldwise.auto.portfolio.rules import additive_rules, rules, short_rules
from foldwise.auto.portfolio.smooth import (
    gaussian_process,
    neighbours,
    net,
    soft_kernel,
    support_vectors,
    wide_kernel,
    wide_net,
)

MANY = float("inf")
REGRESSORS = (
    Member("ridge", "squash", ridge, 1),
    Member("boosted_deep", "native", deep, 2, rows=(5000, MANY)),
    Member("boosted_random", "native", random_splits, 1, rows=(80, MANY)),
    Member("ridge_spline", "spline", ridge, 1, width=600),
    Member("boosted_linear", "squash", linear_leaves, 2, rows=(100, MANY), width=200),
    Member("boosted_deep", "native", deep, 2, rows=(1000, 4999)),
    Member("boosted_shallow", "native", shallow, 2),
    Member("extra_trees", "ordinal", extra_trees, 1, rows=(250, 50_000)),
    Member("ridge_log", "squash", in_log(ridge), 2, log=True),
    Member("ridge_spline_log", "spline", in_log(ridge), 2, width=600, log=True),
    Member("support_vectors", "normal", support_vectors, 2, rows=(50, 4000), power=2.0),
    Member("boosted_random_log", "native", in_log(random_splits), 2, log=True),
    Member("boosted_sampled", "native", sampled, 2),
    Member("xgboost", "ordinal", xgboost, 2, rows=(200, MANY), package="xgboost"),
    Member("catboost", "ordinal", catboost, 2, rows=(100, MANY), package="catboost"),
    Member("wide_net", "normal", wide_net, 2, rows=(200, 20_000)),
    Member(
        "gaussian_process", "normal", gaussian_process, 2, rows=(20, 1200), power=3.0,
        takes_weights=False,
    ),
    Member("net", "normal", net, 2, rows=(200, 20_000)),
    Member("kernel", "normal", soft_kernel, 2, rows=(4000, 50_000)),
    Member("rules", "ordinal", rules, 2, rows=(100, 20_000)),
    Member(
        "support_vectors_log", "normal", in_log(support_vectors), 2, rows=(50, 4000), power=2.0,
        log=True,
    ),
    Member("neighbours", "normal", neighbours, 2, rows=(20, 50_000), takes_weights=False),
    Member("extra_trees_log", "ordinal", in_log(extra_trees), 3, rows=(100, 50_000), log=True),
    Member("random_forest", "ordinal", random_forest, 3, rows=(100, 50_000)),
)  # fmt: skip

CLASSIFIERS = (
    Member("logistic", "squash", logistic, 1),
    Member("boosted_deep", "native", deep, 2, rows=(5000, MANY)),
    Member("boosted_random", "native", random_splits, 1, rows=(80, MANY)),
    Member("extra_trees", "ordinal", extra_trees, 1, rows=(250, 50_000)),
    Member("kernel", "onehot", soft_kernel, 2, rows=(50, 50_000)),
    Member("boosted_deep", "native", deep, 2, rows=(80, 4999)),
    Member("logistic_spline", "spline", cautious_logistic, 2, width=600),
    Member("wide_kernel", "onehot", wide_kernel, 2, rows=(50, 50_000)),
    Member("wide_net", "onehot", wide_net, 2, rows=(200, 20_000)),
    Member("random_forest", "ordinal", random_forest, 2, rows=(100, 50_000)),
    Member("kernel_normal", "normal", soft_kernel, 2, rows=(50, 50_000)),
    Member("boosted_shallow", "native", shallow, 2),
    Member("quadratic", "onehot", quadratic, 2, width=60, crowded=True, takes_weights=False),
    Member("net", "normal", net, 2, rows=(200, 20_000)),
    Member("catboost", "ordinal", catboost, 2, rows=(100, MANY), package="catboost"),
    Member("xgboost", "ordinal", xgboost, 2, rows=(200, MANY), package="xgboost"),
    Member("boosted_sampled", "native", sampled, 2),
    Member("neighbours", "normal", neighbours, 2, rows=(20, 50_000), takes_weights=False),
    Member("rules", "ordinal", rules, 2, rows=(100, 20_000), classes=2),
    Member("discriminant", "spline", discriminant, 3, width=200, takes_weights=False),
)

READABLE_REGRESSORS = (
    Member("linear", "onehot", ridge, 1),
    Member("rules", "named", rules, 1),
    Member("short_rules", "named", short_rules, 2),
    Member("additive_rules", "named", additive_rules, 2),
)

READABLE_CLASSIFIERS = (
    Member("linear", "onehot", logistic, 1),
    Member("rules", "named", rules, 1),
    Member("short_rules", "named", short_rules, 2),
    Member("additive_rules", "named", additive_rules, 2),
)


def portfolio(facts: Facts, tier: int, *, interpretable: bool = False) -> tuple[Member, ...]:
    """Return the members to try for a problem, the first ones first.

    Parameters
    ----------
    facts : Facts
        Size and kind of the problem.
    tier : int
        1 for few, 2 for most, 3 for all.
    interpretable : bool, default=False
        Whether only rules and linear terms are allowed.

    Returns
    -------
    tuple of Member
        Never empty: the first member suits every problem.

    Examples
    --------
    >>> [member.name for member in portfolio(Facts(200, 3), 1)]
    ['ridge', 'boosted_random', 'ridge_spline']
    """
    members: tuple[Member, ...] = REGRESSORS if facts.regression else CLASSIFIERS
    if interpretable:
        members = READABLE_REGRESSORS if facts.regression else READABLE_CLASSIFIERS
    return tuple(m for m in members if m.tier <= tier and m.suits(facts))
