"""How each learner wants its table.

==========  =========================================================================
native      missing cells and categories as they are, for LightGBM
arithmetic  the same with sums, differences, products and ratios of numbers, for LightGBM
crossed     the same with mean targets of pairs of categories, for LightGBM
codes       missing numbers as they are, categories as whole numbers by name, for CatBoost
ordinal     one column a category, nothing missing, for forests and other boosters
onehot      zeros and ones, standardised numbers, for kernels and nets
normal      the same with numbers that have the quantiles of a normal
squash      the same with numbers bent into (-3, 3), for linear models: no outlier pulls them
spline      the same spread over splines, for linear models that bend
numbers     zeros and ones, numbers and missing cells as they are, for networks of our own
named       a frame with names that people can read, for rules
==========  =========================================================================
"""

from collections.abc import Sequence
from typing import Any

from sklearn.pipeline import Pipeline

from foldwise.auto.portfolio.features import ArithmeticColumns, CrossedLevels, SplineColumns
from foldwise.auto.portfolio.member import Contender, TableProfile
from foldwise.auto.tables import Kinds, TableEncoder

SETTINGS: dict[str, dict[str, Any]] = {
    "native": {"numbers": "keep", "categories": "keep"},
    "arithmetic": {"numbers": "keep", "categories": "keep"},
    "crossed": {"numbers": "keep", "categories": "codes"},
    "codes": {"numbers": "keep", "categories": "codes"},
    "ordinal": {"numbers": "impute", "categories": "ordinal"},
    "onehot": {"numbers": "impute", "categories": "onehot", "scale": "standard"},
    "squash": {"numbers": "impute", "categories": "onehot", "scale": "squash"},
    "normal": {"numbers": "impute", "categories": "onehot", "scale": "quantile"},
    "spline": {"numbers": "impute", "categories": "onehot", "scale": "squash"},
    "numbers": {"numbers": "keep", "categories": "onehot"},
    "named": {"numbers": "keep", "categories": "onehot"},
}


def table_encoder(encoding: str, kinds: Kinds, *, regression: bool) -> TableEncoder:
    """Return an encoder of tables."""
    task = "regression" if regression else "classification"
    return TableEncoder(kinds, task=task, **SETTINGS[encoding])


def encoded(learner: Any, encoding: str, kinds: Kinds, *, regression: bool) -> Pipeline:
    """Return a Pipeline of an encoder and a learner; equal encoders are shared at each node."""
    encoder = table_encoder(encoding, kinds, regression=regression)
    steps: list[tuple[str, Any]] = [("table", encoder)]
    if encoding == "named":
        encoder.set_output(transform="pandas")
    if encoding == "spline":
        steps.append(("splines", SplineColumns()))
    if encoding == "arithmetic":
        steps.append(("arithmetic", ArithmeticColumns()))
    if encoding == "crossed":
        steps.append(("crossed", CrossedLevels(quantity=regression)))
    return Pipeline([*steps, ("learner", learner)])


def built(
    members: Sequence[Contender], profile: TableProfile, kinds: Kinds
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the learners, and why some could not be built."""
    learners, broken = {}, {}
    for member in members:
        try:
            learner = member.build(profile)
        except ImportError as error:
            broken[member.name] = f"{member.package} cannot be imported: {error}"
            continue
        learners[member.name] = encoded(
            learner, member.encoding, kinds, regression=profile.regression
        )
    return learners, broken
