import numpy as np
import pytest
from numpy.testing import assert_allclose

from foldwise.paths import cross_validated_path, lasso_path, monotone_lasso_path
from foldwise.plot.path import plot_path, plot_paths_side_by_side

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


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
