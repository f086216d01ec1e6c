"""From a fitted model to one HTML page: which sections it has, and the page itself."""

import contextlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

import foldwise
from foldwise.engine.budget import ENDLESS, Clock
from foldwise.engine.files import write_whole
from foldwise.errors import Plain, invalid_data, invalid_parameter
from foldwise.report.blocks import Section
from foldwise.report.predictions import given_predictions
from foldwise.report.sections.answer import given_answer_section, stack_answer_section
from foldwise.report.sections.columns import ReportRows, columns_section, training_rows
from foldwise.report.sections.coverage import coverage_section
from foldwise.report.sections.data import data_section
from foldwise.report.sections.honesty import folds_section, honesty_section
from foldwise.report.sections.leaderboard import leaderboard_section
from foldwise.report.sections.learners import learners_section
from foldwise.report.sections.model import model_section, rules_section, stack_rules_section
from foldwise.report.sections.quality import quality_section
from foldwise.report.sections.run import reproduce_section, time_section, warnings_section
from foldwise.report.stack_values import stack_in, stack_values
from foldwise.scores.metric import as_metric
from foldwise.stack.results.notebook import REPORTS
from foldwise.wording import clean, shortened

LONGEST_TITLE = 120


def render(
    model: Any,
    X: Any = None,
    y: Any = None,
    title: str | None = None,
    *,
    rules: bool = False,
    time_budget: float | None = None,
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
    time_budget : float or None, default=None
        Seconds it may take, about: figures that would take longer are left out.

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
    clock = Clock(time_budget)
    check_is_fitted(model)
    X, y = _checked_rows(X, y)
    heading = shortened(title or f"Report: {type(model).__name__}", LONGEST_TITLE)
    return page(heading, sections_of(model, X, y, rules, clock), type(model).__name__)


def write_report(
    model: Any,
    path: Any,
    X: Any = None,
    y: Any = None,
    title: str | None = None,
    *,
    rules: bool = False,
    time_budget: float | None = None,
) -> Path:
    """Write the report on a fitted model: one HTML file that needs nothing else.

    Parameters
    ----------
    model : estimator
        A fitted stack; other estimators get a shorter report.
    path : str or Path
        Where to write; a file that is there is replaced once the report is whole.
    X, y : array or data frame, array-like, optional
        As in :func:`foldwise.report.render`.
    title : str, optional
        Heading of the page.
    rules : bool, default=False
        As in :func:`foldwise.report.render`.
    time_budget : float or None, default=None
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
        must, fix = "be a file in a folder that exists", "Use 'report.html'."
        raise invalid_parameter("write_report", "path", must=must, got=Plain(str(path)), fix=fix)
    content = render(model, X, y, title, rules=rules, time_budget=time_budget)
    write_whole(target, [content.encode()])
    # Somebody else's model may not be one that can be noted.
    with contextlib.suppress(TypeError):
        REPORTS[model] = target
    return target


def _checked_rows(X: Any, y: Any) -> tuple[Any, Any]:
    """Return both with a shape, or neither."""
    if (X is None) != (y is None):
        got = Plain("X alone" if y is None else "y alone")
        must, fix = "be given together", "Give both, or neither."
        raise invalid_parameter("write_report", "X and y", must=must, got=got, fix=fix)
    if X is None:
        return None, None
    # Not every sparse format can be asked for some rows or columns.
    X = X.tocsr() if sparse.issparse(X) else X
    X, y = X if hasattr(X, "shape") else np.asarray(X), np.asarray(y)
    if X.shape[0] != len(y) or not len(y):
        got = Plain(f"{len(y)} for {X.shape[0]}")
        must, fix = "have as many rows as X, and at least one", "Give the targets of these rows."
        raise invalid_data("write_report", "y", must=must, got=got, fix=fix)
    return X, y


def sections_of(model: Any, X: Any, y: Any, rules: bool, clock: Clock = ENDLESS) -> list[Section]:
    """Return the sections of the report on any fitted model."""
    fitted = stack_in(model)
    if fitted is None:
        return model_sections(model, X, y)
    stack, names = stack_values(fitted), getattr(fitted, "feature_names_in_", None)
    # Rows that are given are for the model as its user knows it, its own rows for the stack.
    asked, rows = (fitted, training_rows(stack)) if X is None else (model, ReportRows(X, y))
    found = [
        stack_answer_section(stack),
        leaderboard_section(stack),
        honesty_section(stack),
        learners_section(stack, clock),
        None if stack.judged is None else quality_section(stack.judged),
        coverage_section(stack),
        None
        if rows is None
        else columns_section(asked, rows, stack.metric, stack.seconds_a_row, clock),
        stack_rules_section(stack) if rules or getattr(model, "interpretable", False) else None,
        folds_section(stack),
        warnings_section(stack, getattr(model, "skipped_", {})),
        data_section(stack.target, stack.X, names, getattr(model, "kinds_", ())),
        time_section(stack),
        reproduce_section(model),
    ]
    return [section for section in found if section is not None]


def model_sections(model: Any, X: Any, y: Any) -> list[Section]:
    """Return the sections of the report on an estimator that is not a stack."""
    rules = getattr(model, "rules_", None)
    listed = rules_section(rules) if isinstance(rules, pd.DataFrame) else None
    known, last = model_section(model), reproduce_section(model)
    if X is None:
        found = [given_answer_section(model, None), listed, known, last]
    else:
        given = given_predictions(model, X, y)
        owner, sure = type(model).__name__, given.probabilities is not None
        classify = is_classifier(model)
        metric = as_metric(None, owner=owner, classify=classify, has_probabilities=sure)
        found = [
            given_answer_section(model, given, metric),
            quality_section(given),
            columns_section(model, ReportRows(X, y), metric),
            listed,
            known,
            data_section(given.target, X, getattr(model, "feature_names_in_", None)),
            last,
        ]
    return [section for section in found if section is not None]


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
    answer, *others = sections
    said = {"title": title, "kind": kind, "version": foldwise.__version__}
    return template.render(answer=answer, sections=others, style=Markup(style), **said)
