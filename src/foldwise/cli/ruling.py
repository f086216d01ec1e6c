"""``rules``: a short list of rules for a table, and how far to trust it."""

from pathlib import Path
from typing import Any

import numpy as np

from foldwise.cli.failures import Failure
from foldwise.cli.fitting import FEWEST_ROWS
from foldwise.cli.screen import note, number, print_frame, print_json, say

N_FOLDS = 5
N_TREES = 200


def rules(table: Path, target: str, *, task: str, most: int, seed: int, as_json: bool) -> None:
    """Fit a short list of rules to a table and print it, with a cross-validated score."""
    from foldwise.auto.tables import read_table
    from foldwise.auto.tables.problem import table_problem

    problem = table_problem(read_table(table), target, task=task, fewest_rows=FEWEST_ROWS)
    X = readable_columns(problem)
    if not as_json:
        _tell(problem, X)
    model = _new_model(problem.task, most, seed)
    metric, score, error = cross_validated(model, X, problem.y, problem.task, seed)
    model.fit(X, problem.y)
    frame = model.rules_.drop(columns=["query", "kind", "n_conditions"])
    if as_json:
        print_json(
            {
                "task": problem.task,
                "metric": metric,
                "score": score,
                "score_se": error,
                "intercepts": model.model_.intercepts,
                "rules": frame.to_dict("records"),
            }
        )
        return
    say(f"Honest score: {metric} {number(score)} ± {number(error, 2)}, lower is better")
    for line in _how_to_read(model):
        say(line)
    say()
    print_frame(frame, longest=10_000)


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
    from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict

    if task == "regression":
        folds = KFold(N_FOLDS, shuffle=True, random_state=seed)
        squares = (y - cross_val_predict(model, X, y, cv=folds)) ** 2
        value = float(np.sqrt(squares.mean()))
        spread = float(squares.std(ddof=1) / np.sqrt(len(y)))
        return "root mean squared error", value, spread / (2 * value) if value > 0 else 0.0
    classes, codes = np.unique(y, return_inverse=True)
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
    shares = cross_val_predict(model, X, y, cv=folds, method="predict_proba")
    # A class may be missing from the rows a fold's model saw.
    own = np.maximum(shares[np.arange(len(y)), codes], 1.0 / (len(y) + len(classes)))
    losses = -np.log(own)
    return "log loss", float(losses.mean()), float(losses.std(ddof=1) / np.sqrt(len(y)))


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
