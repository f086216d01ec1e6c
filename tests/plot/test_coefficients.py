import re

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.collections import PathCollection
from numpy.testing import assert_array_equal
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from foldwise import AveragedCVRegressor, BayesianModelAveragingRegressor, BestSubsetRegressor
from foldwise.plot import plot_coefficients

mpl.use("Agg")


@pytest.fixture
def diabetes():
    import matplotlib.pyplot as plt

    yield load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    plt.close("all")


def test_the_largest_coefficients_stand_on_top_with_their_names(diabetes):
    X, y = diabetes
    model = BestSubsetRegressor().fit(X, y)
    ax = plot_coefficients(model, X, top=3)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    size = np.abs(model.coef_ * X.std(ddof=0))
    assert labels[::-1] == list(X.columns[np.argsort(-size)[:3]])
    assert ax.get_xlabel() == "coefficient per standard deviation"


@pytest.mark.parametrize(
    ("model", "label"),
    [
        (AveragedCVRegressor(cv=5), "share of folds"),
        (BayesianModelAveragingRegressor(), "probability of inclusion"),
    ],
)
def test_how_often_columns_were_chosen_stands_at_the_right(diabetes, model, label):
    X, y = diabetes
    ax = plot_coefficients(model.fit(X, y), X)
    (right,) = ax.child_axes
    assert right.get_ylabel() == label
    often = getattr(model, "selection_frequency_", None)
    often = model.inclusion_probability_ if often is None else often
    order = np.argsort(-np.abs(model.coef_ * X.std(ddof=0)))[::-1]
    written = [text.get_text() for text in right.get_yticklabels()]
    assert written == [f"{100 * share:.0f} %" for share in often[order]]
    (dots,) = [c for c in ax.collections if isinstance(c, PathCollection)]
    assert_array_equal(dots.get_facecolors()[:, 0] < 1, often[order] > 0.5)


def test_any_linear_model_for_one_target_can_be_drawn(diabetes):
    X, y = diabetes
    ax = plot_coefficients(LinearRegression().fit(X, y))
    assert ax.get_xlabel() == "coefficient"
    assert len(ax.get_yticklabels()) == 10


def test_a_model_without_coefficients_is_an_error(diabetes):
    X, y = diabetes
    message = (
        "plot_coefficients: model must have one coefficient a column, in coef_; got "
        "DecisionTreeRegressor(). Pass a linear model for one target."
    )
    with pytest.raises(TypeError, match="^" + re.escape(message) + "$"):
        plot_coefficients(DecisionTreeRegressor().fit(X, y))
