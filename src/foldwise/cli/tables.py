"""``inspect`` and ``rules``: what a table holds, and a short list of rules for it."""

from pathlib import Path
from typing import Any

import click

from foldwise.cli import options
from foldwise.cli.failures import Failure
from foldwise.cli.fitting import FEWEST_ROWS
from foldwise.cli.options import FILE, told_in_words
from foldwise.cli.screen import note, number, print_frame, print_json, say

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
N_FOLDS = 5
N_TREES = 200


@click.command()
@click.argument("table", type=FILE)
@click.option("--target", metavar="COL", help="The column to be predicted.")
@options.kind
@options.json
@told_in_words
def inspect(table: Path, target: str | None, kinds: tuple[str, ...], as_json: bool) -> None:
    """Show what would be done with each column of TABLE.

    \b
    $ foldwise inspect houses.csv --target price
    $ foldwise inspect houses.csv --kind code=category
    """
    from foldwise.auto.tables import column_kinds, read_table
    from foldwise.auto.tables.problem import table_problem

    frame = read_table(table)
    given = options.kinds_of(kinds)
    problem = None if target is None else table_problem(frame, target, kinds=given)
    found = column_kinds(frame, given=given) if problem is None else problem.kinds
    read_as = frame.attrs.get("read_as", {})
    if as_json:
        told = {
            "n_rows": len(frame),
            "read_as": read_as,
            "columns": found.to_frame().to_dict("records"),
            "task": None if problem is None else problem.task,
            "notes": [] if problem is None else list(problem.notes),
        }
        print_json(told)
        return
    say(f"{table}: {len(frame):,} rows, {frame.shape[1]:,} columns.{_how_read(read_as)}")
    if problem is not None:
        what = "a quantity" if problem.task == "regression" else "classes"
        say(f"Target {target!r}: {what}. {' '.join(problem.notes)}".rstrip())
    say()
    print_frame(found.to_frame())


def _how_read(read_as: dict[str, str]) -> str:
    if not read_as:
        return ""
    between = DELIMITERS.get(read_as["delimiter"], repr(read_as["delimiter"]))
    decimal = ", decimal commas" if read_as["decimal"] == "," else ""
    return f" Read as {read_as['encoding']}, {between} between fields{decimal}."


@click.command()
@click.argument("table", type=FILE)
@options.target
@options.task
@click.option("--most", type=click.IntRange(min=1), default=12, show_default=True,
              help="Most rules and linear terms.")  # fmt: skip
@options.kind
@options.seed
@options.json
@told_in_words
def rules(table: Path, target: str, task: str, most: int, kinds: tuple[str, ...],
          random_state: int, as_json: bool) -> None:  # fmt: skip
    """Fit a short list of readable rules to TABLE.

    \b
    $ foldwise rules houses.csv --target price --most 6
    $ foldwise rules houses.csv --target price --kind code=category
    """
    from foldwise.auto.tables import read_table
    from foldwise.auto.tables.problem import table_problem

    given, frame = options.kinds_of(kinds), read_table(table)
    problem = table_problem(frame, target, task=task, kinds=given, fewest_rows=FEWEST_ROWS)
    X = readable_columns(problem)
    if not as_json:
        _tell(problem, X)
    model = _new_model(problem.task, most, random_state)
    metric, score, error = cross_validated(model, X, problem.y, problem.task, random_state)
    model.fit(X, problem.y)
    terms = model.rules_.drop(columns=["query", "kind", "n_conditions"])
    if as_json:
        told = {"task": problem.task, "metric": metric, "score": score, "score_se": error}
        rules = {"intercepts": model.model_.intercepts, "rules": terms.to_dict("records")}
        print_json({**told, **rules})
        return
    say(f"Honest score: {metric} {number(score)} ± {number(error, 2)}, lower is better")
    for line in _how_to_read(model):
        say(line)
    say()
    print_frame(terms, longest=10_000)


def _tell(problem: Any, X: Any) -> None:
    for text in problem.notes:
        note(text)
    left_out = [name for name in problem.X.columns if name not in X.columns]
    if left_out:
        note(f"Not used: {', '.join(left_out)}.")


def readable_columns(problem: Any) -> Any:
    """Return the columns rules can speak of, numbers as numbers and words as categories."""
    import pandas as pd

    from foldwise.auto.tables.values import numbers_of, text_of

    columns: dict[str, Any] = {}
    for column in problem.kinds:
        cells = problem.X[column.name]
        if column.kind == "number":
            columns[column.name] = numbers_of(cells)
        elif column.kind in ("category", "boolean"):
            columns[column.name] = pd.Categorical(text_of(cells))
    if not columns:
        raise Failure("TABLE must have a column of numbers or categories; got none. Add one.")
    return pd.DataFrame(columns)


def _new_model(task: str, most: int, seed: int) -> Any:
    from foldwise import RuleFitClassifier, RuleFitRegressor

    kind = RuleFitRegressor if task == "regression" else RuleFitClassifier
    return kind(max_terms=most, n_estimators=N_TREES, random_state=seed)


def cross_validated(model: Any, X: Any, y: Any, task: str, seed: int) -> tuple[str, float, float]:
    """Return the metric, its value on rows the model had not seen, and its standard error.

    ``model``: Unfitted; there is nothing to choose besides what it chooses itself, so plain folds
    judge it honestly.
    """
    import numpy as np
    from sklearn.model_selection import cross_val_predict

    from foldwise.folds import own_splits
    from foldwise.scores.metric import Response, Target, as_metric

    classify = task != "regression"
    classes, codes = np.unique(y, return_inverse=True)
    dealt = codes if classify else None
    folds = own_splits(N_FOLDS, len(y), dealt, None, seed, 0, 0, "rules")
    method = "predict_proba" if classify else "predict"
    values = cross_val_predict(model, X, y, cv=folds, method=method).reshape(len(y), -1)
    target = Target(y, None, None, np.zeros(len(y), int))
    if classify:
        target = Target(codes, classes, None, target.fold)
        # A class may be missing from the rows a fold's model saw.
        values = np.maximum(values, 1.0 / (len(y) + len(classes)))
    metric = as_metric(None, owner="rules", classify=classify, has_probabilities=classify)
    found = metric.evaluate(Response("probability" if classify else "value", values), target)
    return metric.name.replace("_", " "), metric.natural(found.score), found.standard_error


def _how_to_read(model: Any) -> list[str]:
    """Return what the coefficients add up to, where there is one a rule."""
    classes = getattr(model, "classes_", None)
    if classes is not None and len(classes) > 2:
        return []
    what = "Prediction" if classes is None else f"Log-odds of {classes[1]}"
    return [
        f"{what}: start from {number(float(model.model_.intercepts[0]))}; a rule adds its coef "
        "where it holds,",
        "a linear term its coef for each unit above the column's mean.",
    ]
