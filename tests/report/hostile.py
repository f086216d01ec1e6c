"""Stacks whose columns, learners and classes have names meant to break a page."""

from functools import cache

import numpy as np
import pandas as pd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor

from foldwise import StackingClassifier, StackingRegressor
from foldwise.report import render

NAMES = [
    "<script>window.hacked=1</script>",
    '"><img src=x onerror=window.hacked=1>',
    "</svg></style></details><h1>out</h1>",
    "' onmouseover='window.hacked=1",
    "👩‍🔬🏳️‍🌈 emoji",
    "w" * 200,
    "a b " * 50,
    "\u202eright to left override",
    "اسم العمود الطويل جدا",
    "{{ 1234 * 5678 }}{% raw %}",
    "\x00\x07null\nand\tline",
    "&lt;b&gt;&#x3c;script&#x3e;",
    "\ud800 lone surrogate",
    "",
    "]]><!--",
    "javascript:alert(1)",
]


def frame(n: int) -> pd.DataFrame:
    X = np.random.default_rng(0).normal(size=(n, len(NAMES)))
    # Strings of pyarrow cannot hold a lone surrogate.
    return pd.DataFrame(X, columns=pd.Index(NAMES, dtype=object))


def learner_name(name: str) -> str:
    # A stack seeds its learners by the bytes of their names, which lone surrogates do not have.
    return name.replace("\ud800", "") or "empty"


def classifier() -> StackingClassifier:
    y = np.array(NAMES, dtype=object)[np.arange(240) % 8]
    learners = [(NAMES[0], LinearDiscriminantAnalysis()), (NAMES[1], GaussianNB())]
    learners += [(NAMES[5], GaussianNB(var_smoothing=0.1)), (NAMES[8], GaussianNB(var_smoothing=1))]
    return StackingClassifier(learners, "mean", cv=3, random_state=0).fit(frame(240), y)


def regressor() -> StackingRegressor:
    X = frame(120)
    learners = [(learner_name(name), Ridge(i + 1.0)) for i, name in enumerate(NAMES[::2])]
    learners.append((NAMES[3], KNeighborsRegressor()))
    y = X.iloc[:, 2].to_numpy() * 1e9
    return StackingRegressor(learners, "nnls", cv=3, random_state=0).fit(X, y)


@cache
def hostile_page(kind: str) -> str:
    """Return the report on such a stack, made once."""
    stack = {"classes": classifier, "numbers": regressor}[kind]()
    return render(stack, title={"classes": NAMES[1] * 5, "numbers": NAMES[2]}[kind])
