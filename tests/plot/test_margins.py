import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_iris

from foldwise import AdaBoostClassifier
from foldwise.plot import plot_margins

mpl.use("Agg")


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
