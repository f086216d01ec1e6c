import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_iris, make_friedman1
from sklearn.linear_model import LinearRegression

from foldwise import AdaBoostClassifier, GradientBoostingRegressor, NewtonBoostingClassifier
from foldwise.errors import UnsupportedError
from foldwise.plot import plot_margins, plot_staged_loss
from foldwise.plot.boosting import staged_losses

mpl.use("Agg")


def test_a_line_is_drawn_for_each_set_of_rows() -> None:
    X, y = make_friedman1(80, random_state=0)
    model = GradientBoostingRegressor(n_estimators=6).fit(X, y)
    ax = plot_staged_loss(model, ("training", X, y), ("half", X[:40], y[:40]))
    lines = [line for line in ax.lines if len(line.get_xdata()) > 1]
    np.testing.assert_allclose(lines[0].get_ydata(), model.train_loss_)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["training", "half"]
    assert ax.get_ylabel() == "mean squared loss"


def test_a_committee_shows_its_errors() -> None:
    X, y = load_iris(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=4).fit(X, y)
    np.testing.assert_allclose(staged_losses(model, X, y), model.path_.error)
    assert plot_staged_loss(model, ("all", X, y)).get_ylabel() == "share of wrong rows"


def test_newton_boosting_shows_its_loss() -> None:
    X, y = load_iris(return_X_y=True)
    model = NewtonBoostingClassifier(n_estimators=4).fit(X, y)
    assert plot_staged_loss(model, ("all", X, y)).get_ylabel() == "mean multinomial loss"


def test_what_is_not_boosted_is_refused() -> None:
    message = (
        "plot_staged_loss: model must be boosted in rounds; got LinearRegression. "
        "Pass a fitted booster."
    )
    with pytest.raises(UnsupportedError) as caught:
        staged_losses(LinearRegression(), [[0.0]], [0.0])
    assert str(caught.value) == message


def test_the_height_at_zero_is_the_share_of_wrong_rows() -> None:
    X, y = load_iris(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=10).fit(X, y)
    ax = plot_margins(model, X, y, rounds=[2, 10])
    steps = [line for line in ax.lines if len(line.get_xdata()) == len(y)]
    assert len(steps) == 2
    margins, share = steps[-1].get_data()
    np.testing.assert_allclose(margins, np.sort(model.margins(X, y)))
    assert share[-1] == 1
    assert np.mean(margins <= 0) == model.path_.error[-1]


def test_first_some_and_all_rounds_are_drawn_by_default() -> None:
    X, y = load_iris(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=30, learning_rate=0.5).fit(X, y)
    ax = plot_margins(model, X, y)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == ["1 round", "3 rounds", "30 rounds"]
