"""From a fitted model to one HTML page."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup
from sklearn.utils.validation import check_is_fitted

import foldwise
from foldwise.errors import Plain, invalid_data, invalid_parameter
from foldwise.report.blocks import Section
from foldwise.report.sections import sections_of
from foldwise.wording import clean, shortened

LONGEST_TITLE = 120


def render(
    model: Any, X: Any = None, y: Any = None, title: str | None = None, *, rules: bool = False
) -> str:
    """Return the report on a fitted model, one HTML page.

    Parameters
    ----------
    model : estimator
        A fitted stack; other estimators get a shorter report.
    X : array, sparse matrix or data frame of shape (n_samples, n_features), optional
        Rows for the figures about columns, best rows the model has not seen. Left out, a stack
        that was not pickled since it was fitted uses its training rows.
    y : array-like of shape (n_samples,), optional
        Their targets.
    title : str, optional
        Heading of the page.
    rules : bool, default=False
        Whether to list the rules of a stack's rule ensembles; a rule ensemble's own are
        always listed.

    Returns
    -------
    str
        A page without scripts and without references to anything outside it.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from foldwise import StackingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> stack = StackingRegressor([("ridge", Ridge())], random_state=0).fit(X, y)
    >>> page = render(stack, title="Diabetes")
    >>> "<script" in page, len(page) < 1_000_000
    (False, True)
    """
    check_is_fitted(model)
    X, y = _checked_rows(X, y)
    heading = shortened(title or f"Report on a {type(model).__name__}", LONGEST_TITLE)
    return page(heading, sections_of(model, X, y, rules), type(model).__name__)


def write_report(
    model: Any,
    path: Any,
    X: Any = None,
    y: Any = None,
    title: str | None = None,
    *,
    rules: bool = False,
) -> Path:
    """Write the report on a fitted model: one HTML file that needs nothing else.

    Parameters
    ----------
    model : estimator
        A fitted stack; other estimators get a shorter report.
    path : str or Path
        Where to write; a file that is there is replaced.
    X, y : array or data frame, array-like, optional
        As in :func:`foldwise.report.render`.
    title : str, optional
        Heading of the page.
    rules : bool, default=False
        As in :func:`foldwise.report.render`.

    Returns
    -------
    Path
        Where it was written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from foldwise import StackingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> stack = StackingClassifier([("bayes", GaussianNB())], random_state=0).fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     write_report(stack, Path(folder) / "report.html").name
    'report.html'
    """
    target = Path(path)
    if target.is_dir() or not target.parent.is_dir():
        raise invalid_parameter(
            "write_report",
            "path",
            must="be a file in a folder that exists",
            got=Plain(str(path)),
            fix="Use 'report.html'.",
        )
    target.write_text(render(model, X, y, title, rules=rules), encoding="utf-8")
    return target


def _checked_rows(X: Any, y: Any) -> tuple[Any, Any]:
    """Return both with a shape, or neither."""
    if (X is None) != (y is None):
        raise invalid_parameter(
            "write_report",
            "X and y",
            must="be given together",
            got=Plain("X alone" if y is None else "y alone"),
            fix="Give both, or neither.",
        )
    if X is None:
        return None, None
    X, y = X if hasattr(X, "shape") else np.asarray(X), np.asarray(y)
    if X.shape[0] != len(y) or not len(y):
        raise invalid_data(
            "write_report",
            "y",
            must="have as many rows as X, and at least one",
            got=Plain(f"{len(y)} for {X.shape[0]}"),
            fix="Give the targets of these rows.",
        )
    return X, y


@cache
def _template() -> tuple[Template, str]:
    folder = files("foldwise.report")
    # Whatever is printed is cleaned first and escaped then, wherever it comes from.
    environment = Environment(
        autoescape=True,
        finalize=lambda v: v if isinstance(v, Markup) or not isinstance(v, str) else clean(v),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return (
        environment.from_string(folder.joinpath("page.html").read_text(encoding="utf-8")),
        folder.joinpath("page.css").read_text(encoding="utf-8"),
    )


def page(title: str, sections: Sequence[Section], kind: str) -> str:
    """Return the page for some sections, the first of them without a heading."""
    template, style = _template()
    return template.render(
        title=title,
        answer=sections[0],
        sections=sections[1:],
        kind=kind,
        style=Markup(style),
        version=foldwise.__version__,
    )
