"""Short names of metrics."""

import pytest
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer, mean_absolute_error

from foldwise.auto.metric_names import CLASSES, REGRESSION, SEVERAL_CLASSES, scorer_of
from foldwise.errors import InvalidParameterError


@pytest.mark.parametrize(
    "name", [*REGRESSION.values(), *CLASSES.values(), *SEVERAL_CLASSES.values()]
)
def test_every_short_name_stands_for_a_scorer_of_scikit_learn(name: str) -> None:
    assert get_scorer(name) is not None


def test_names_depend_on_the_number_of_classes() -> None:
    assert scorer_of("auc", owner="A", n_classes=2) == "roc_auc"
    assert scorer_of("auc", owner="A", n_classes=5) == "roc_auc_ovr"


def test_scikit_learns_own_names_scorers_and_none_pass_through() -> None:
    scorer = make_scorer(mean_absolute_error, greater_is_better=False)
    assert scorer_of(scorer, owner="A", n_classes=None) is scorer
    assert scorer_of(None, owner="A", n_classes=None) is None
    assert all(scorer_of(name, owner="A", n_classes=2) for name in get_scorer_names())


def test_an_unknown_metric_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InvalidParameterError) as error:
        scorer_of("rsme", owner="AutoStackRegressor", n_classes=None)
    assert str(error.value) == (
        "AutoStackRegressor: metric must be None, the name of a metric or a scorer; got 'rsme'. "
        "Did you mean 'rmse'?"
    )
