"""Which columns the predictions rest on: permutation importance and partial dependence."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.ensemble import ExtraTreesRegressor

from foldwise._sklearn import take
from foldwise.diagnose import permutation_importance
from foldwise.diagnose.columns import shuffled
from foldwise.report.bars import bars
from foldwise.report.blocks import Figure, Figures, Section
from foldwise.report.curves import Line, lines
from foldwise.report.data import column_of
from foldwise.report.text import counted, enumerated, shortened
from foldwise.report.wording import metric_name

MOST_ROWS = 400
MOST_SHUFFLED = 30
MOST_CALLS = 3_000
"""Predictions by single models that shuffling may take."""
N_REPEATS = 3
MOST_BARS = 15
MOST_CURVES = 5
CURVE_ROWS = 100
N_VALUES = 12
MOST_LEVELS = 8
MOST_CLASSES = 3


@dataclass(frozen=True)
class Rows:
    """Rows to look at the model with.

    Attributes
    ----------
    X : array, sparse matrix or data frame
        Features.
    y : ndarray
        Targets as the model's user knows them.
    weight : ndarray or None
        Weights.
    seen : bool
        Whether the model was fitted on them.
    """

    X: Any
    y: Any
    weight: Any = None
    seen: bool = False

    def sample(self, most: int) -> "Rows":
        """Return some of the rows, always the same ones."""
        n = self.X.shape[0]
        if n <= most:
            return self
        rows = np.sort(np.random.default_rng(0).choice(n, most, replace=False))
        weight = None if self.weight is None else self.weight[rows]
        return Rows(take(self.X, rows), np.asarray(self.y)[rows], weight, self.seen)


def columns_section(model: Any, rows: Rows, n_models: int = 1) -> Section:
    """Return permutation importance, and partial dependence of the columns that matter most.

    Parameters
    ----------
    model : estimator
        Fitted.
    rows : Rows
        What it is asked about.
    n_models : int, default=1
        How many models a prediction asks; it bounds how many columns are shuffled.

    Returns
    -------
    Section
        Bars, and a curve for each of the top columns.
    """
    few = rows.sample(MOST_ROWS)
    affordable = int(np.clip(MOST_CALLS // (N_REPEATS * n_models), 5, MOST_SHUFFLED))
    n_columns = few.X.shape[1]
    places = np.arange(n_columns)
    if n_columns > affordable:
        places = influential(few.X, prediction(model, few.X), affordable)
    found = permutation_importance(
        model,
        few.X,
        few.y,
        columns=[int(place) for place in places],
        n_repeats=N_REPEATS,
        sample_weight=few.weight,
        random_state=0,
    )
    order = np.argsort(-found.importance, kind="stable")
    top = [int(places[i]) for i in order if found.importance[i] > 0][:MOST_CURVES]
    names = {int(places[i]): found.names[i] for i in range(len(places))}
    shown = order[:MOST_BARS]
    drawing = bars(
        [found.names[i] for i in shown],
        [float(found.importance[i]) for i in shown],
        [float(found.importance_se[i]) for i in shown],
        title="permutation importance",
    )
    metric = metric_name(found.metric.removeprefix("neg_"))
    caption = f"How much worse the {metric} gets when a column is shuffled, and its standard error."
    figure = Figure("Permutation importance", drawing, caption)
    curves = dependence_figures(model, few.sample(CURVE_ROWS), top, names)
    lead = _lead([names[place] for place in top], few, n_columns, len(places))
    return Section("columns", "What the predictions rest on", lead, [Figures([figure, *curves])])


def _lead(top: list[str], rows: Rows, n_columns: int, n_shuffled: int) -> str:
    said = "Shuffling any one column does no harm"
    if top:
        said = f"Most depends on {enumerated([shortened(name, 30) for name in top[:3]])}"
    kind = "training rows, so this shows what the model uses" if rows.seen else "rows given"
    said += f", by shuffling columns of {counted(rows.X.shape[0], 'row')} of the {kind}."
    if n_shuffled < n_columns:
        said += (
            f" Of {n_columns:,} columns the {n_shuffled} that follow the predictions most were "
            "shuffled."
        )
    return said + " Columns that say the same hide each other."


def prediction(model: Any, X: Any) -> NDArray[np.float64]:
    """Return what a model predicts, as numbers: values, or probabilities of the classes."""
    if not is_classifier(model):
        return np.asarray(model.predict(X), np.float64).reshape(X.shape[0], -1)
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), np.float64)
    classes = np.asarray(model.classes_)
    said: NDArray[np.float64] = (np.asarray(model.predict(X))[:, None] == classes).astype(
        np.float64
    )
    return said


def influential(X: Any, predicted: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """Return the columns that a small forest needs most to follow the predictions, in order.

    Parameters
    ----------
    X : array, sparse matrix or data frame
        The rows.
    predicted : ndarray of shape (n_samples, width)
        What the model says about them.
    count : int
        How many columns.

    Returns
    -------
    ndarray of int
        Places of columns, sorted.
    """
    table = X if sparse.issparse(X) else np.column_stack(
        [as_numbers(column_of(X, j)) for j in range(X.shape[1])]
    )  # fmt: skip
    forest = ExtraTreesRegressor(30, min_samples_leaf=3, max_features=0.3, random_state=0)
    forest.fit(table, np.squeeze(predicted, axis=1) if predicted.shape[1] == 1 else predicted)
    weights = forest.feature_importances_
    return np.sort(np.argsort(-weights, kind="stable")[:count])


def as_numbers(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return a column of any type as finite numbers: words by their place in the alphabet.

    Examples
    --------
    >>> as_numbers(np.array(["b", "a"], dtype=object)), as_numbers(np.array([np.nan, 1.0]))
    (array([1., 0.]), array([1., 1.]))
    """
    if values.dtype.kind in "biuf":
        numbers = values.astype(np.float64)
        finite = np.isfinite(numbers)
        middle = float(np.median(numbers[finite])) if finite.any() else 0.0
        return np.where(finite, numbers, middle)
    return np.unique([str(v) for v in values.tolist()], return_inverse=True)[1].astype(np.float64)


@dataclass(frozen=True)
class Dependence:
    """The mean prediction when a column is set to some of its values.

    Attributes
    ----------
    values : list
        Numbers in order, or names.
    means : ndarray of shape (n_values, width)
        Mean predictions.
    """

    values: list[Any]
    means: NDArray[np.float64]


def partial_dependence(model: Any, X: Any, place: int) -> Dependence:
    """Return how the mean prediction depends on one column.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : array, sparse matrix or data frame
        Rows to average over; the column's values come from them too.
    place : int
        Which column.

    Returns
    -------
    Dependence
        At quantiles of a number, or at the commonest of other values.
    """
    donors, values = _representatives(column_of(X, place))
    n, k = X.shape[0], len(donors)
    # The rows once for each value, then the rows that lend their value.
    table = take(X, np.concatenate([np.tile(np.arange(n), k), donors]))
    lent = np.concatenate([np.repeat(np.arange(n * k, n * k + k), n), np.arange(n * k, n * k + k)])
    predicted = prediction(model, shuffled(table, [place], lent))[: n * k]
    return Dependence(values, predicted.reshape(k, n, -1).mean(axis=1))


def _representatives(column: NDArray[Any]) -> tuple[NDArray[np.intp], list[Any]]:
    """Return rows that hold the values to try, and these values."""
    if column.dtype.kind in "iuf":
        finite = np.flatnonzero(np.isfinite(column.astype(np.float64)))
        order = finite[np.argsort(column[finite], kind="stable")]
        if len(np.unique(column[finite])) > N_VALUES:
            places = np.linspace(0.02, 0.98, N_VALUES) * (len(order) - 1)
            cut = order[places.round().astype(int)]
        else:
            cut = order
        _, first = np.unique(column[cut], return_index=True)
        return cut[first], [float(v) for v in column[cut[first]]]
    words, first, counts = np.unique(
        [str(v) for v in column.tolist()], return_index=True, return_counts=True
    )
    common = np.sort(np.argsort(-counts, kind="stable")[:MOST_LEVELS])
    return first[common], [str(words[i]) for i in common]


def dependence_figures(
    model: Any, rows: Rows, places: list[int], names: dict[int, str]
) -> list[Figure]:
    """Return one curve a column, all on one scale.

    Parameters
    ----------
    model : estimator
        Fitted.
    rows : Rows
        Rows to average over.
    places : list of int
        The columns.
    names : dict
        Their names.

    Returns
    -------
    list of Figure
        Empty for several targets.
    """
    classify = is_classifier(model)
    found = [(names[place], partial_dependence(model, rows.X, place)) for place in places]
    if not classify and any(d.means.shape[1] > 1 for _, d in found):
        return []
    shown, labels = [0], [""]
    if classify:
        classes = np.asarray(model.classes_)
        counts = np.array([(np.asarray(rows.y) == label).sum() for label in classes])
        common = np.sort(np.argsort(-counts, kind="stable")[:MOST_CLASSES])
        shown = [1] if len(classes) == 2 else common.tolist()
        labels = [""] if len(classes) == 2 else [shortened(classes[i], 14) for i in shown]
    said = "mean prediction"
    if classify:
        said = f"probability of {classes[1]}" if len(classes) == 2 else "mean probability"
    everything = [float(v) for _, d in found for v in d.means[:, shown].ravel()]
    return [
        Figure(
            f"Dependence on {shortened(name, 40)}",
            lines(
                d.values,
                [
                    Line(d.means[:, i].tolist(), label, tone=t + 1)
                    for t, (i, label) in enumerate(zip(shown, labels, strict=True))
                ],
                x_title=name,
                y_title=shortened(said, 40),
                title=f"partial dependence on {shortened(name)}",
                within=everything,
            ),
        )
        for name, d in found
    ]
