import re

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.collections import PathCollection
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from foldwise import AveragedCVRegressor, BayesianModelAveragingRegressor, BestSubsetRegressor
from foldwise.paths import cross_validated_path, lasso_path, monotone_lasso_path
from foldwise.plot import plot_coefficients, plot_path, plot_paths_side_by_side

mpl.use("Agg")


@pytest.fixture(name="data")
def data_fixture():
    rng = np.random.default_rng(0)
    D = rng.normal(size=(60, 5))
    return D, D[:, 0] - D[:, 1] + rng.normal(size=60)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def test_lines_are_the_coefficients_over_the_arc_length(data):
    path = lasso_path(*data)
    line = plot_path(path).lines[0]
    assert_allclose(line.get_ydata(), path.coefs[:, 0])
    assert_allclose(np.diff(line.get_xdata()), np.abs(np.diff(path.coefs, axis=0)).sum(axis=1))


def test_the_chosen_point_is_marked(data):
    path = cross_validated_path(*data, fold_of=np.arange(60) % 5)
    ax = plot_path(path, names=list("abcde"), title="here")
    assert ax.lines[-1].get_linestyle() == "--"
    assert ax.get_title() == "here"
    assert {text.get_text() for text in ax.texts} >= {"a", "b"}


def test_side_by_side_the_axes_are_the_same(data):
    figure = plot_paths_side_by_side(
        {"lasso": lasso_path(*data), "stagewise": monotone_lasso_path(*data)}
    )
    left, right = figure.axes
    assert left.get_ylim() == right.get_ylim()
    ends = [ax.lines[0].get_xdata()[-1] for ax in (left, right)]
    assert_allclose(*ends)


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
