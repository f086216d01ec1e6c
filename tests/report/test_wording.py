import pytest
from sklearn.linear_model import Lasso

from foldwise.report.wording import (
    article,
    direction,
    metric_name,
    stacker_name,
    verdict,
)


@pytest.mark.parametrize(
    ("gain", "error", "said"),
    [
        (2.0, 1.0, "clearly better than"),
        (1.5, 1.0, "probably better than"),
        (0.5, 1.0, "about as good as"),
        (-0.5, 1.0, "about as good as"),
        (-1.5, 1.0, "probably worse than"),
        (-9.0, 1.0, "clearly worse than"),
        (0.0, 0.0, "exactly as good as"),
        (1.0, 0.0, "clearly better than"),
        (1.0, float("nan"), "better than"),
        (-1.0, float("nan"), "worse than"),
        (float("nan"), 1.0, "not comparable with"),
    ],
)
def test_words_follow_the_number_of_standard_errors(gain: float, error: float, said: str) -> None:
    assert verdict(gain, error) == said


def test_metrics_have_the_names_people_write() -> None:
    assert [article(metric_name(m)) for m in ("root_mean_squared_error", "roc_auc", "my_own")] == [
        "an RMSE",
        "an ROC AUC",
        "a my own",
    ]
    assert direction(1) == "higher is better"


def test_a_stacker_of_the_users_has_its_own_name() -> None:
    assert stacker_name(Lasso()) == "Lasso"
