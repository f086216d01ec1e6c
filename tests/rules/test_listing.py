from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from foldwise.rules.rulefit import RuleFitClassifier, RuleFitRegressor


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"<b>a</b>": rng.normal(size=200), "c & d": rng.normal(size=200)})
    y = 2.0 * (X["<b>a</b>"] > 0.3) - (X["c & d"] < 0) + rng.normal(scale=0.1, size=200)
    return RuleFitRegressor(n_estimators=30, cv=2, random_state=0).fit(X, y)


class Cells(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.text.append(data)


def test_the_frame_is_sorted_by_importance_and_complete(fitted):
    frame = fitted.rules_
    assert frame["importance"].is_monotonic_decreasing
    assert len(frame) == len(fitted.model_.rules) + len(fitted.model_.linear)
    assert frame["support"].between(0, 1).all()
    assert (frame.loc[frame["kind"] == "linear", "query"] == "").all()


def test_names_are_escaped_in_html_and_nothing_is_fetched(fitted):
    page = fitted.to_html("Rules of <x>")
    cells = Cells()
    cells.feed(page)
    assert "b" not in cells.tags
    assert "script" not in cells.tags
    assert "http" not in page
    assert "Rules of <x>" in cells.text
    assert cells.tags.count("tr") == len(fitted.rules_) + 1


def test_long_lists_are_cut_in_text(fitted):
    lines = fitted.to_text(2).splitlines()
    assert lines[0].endswith("intercept")
    assert len(lines) == 4
    assert lines[-1] == f"... and {len(fitted.rules_) - 2} more"
    assert len(fitted.to_text(None).splitlines()) == len(fitted.rules_) + 1


@pytest.mark.usefixtures("short_paths")
def test_several_classes_have_a_coefficient_each():
    X, y = load_iris(return_X_y=True)
    model = RuleFitClassifier(n_estimators=10, cv=2, random_state=0).fit(X, y)
    assert {"coef_0", "coef_1", "coef_2"} <= set(model.rules_.columns)
    assert '<th class="n">coef_2</th>' in model.to_html()


def test_a_constant_model_has_an_empty_list():
    model = RuleFitRegressor(n_estimators=2).fit(np.zeros((10, 1)), np.arange(10.0))
    assert model.rules_.empty
    assert "0 terms" in model.to_html()
    assert model.to_text() == "      +4.5  intercept"
