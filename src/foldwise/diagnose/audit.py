"""What a choice among models is worth on rows it was not made by, from out-of-fold predictions."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn import metrics

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.checks import check_number, check_whole, check_word, checked_groups, checked_weights
from foldwise.combine import best_weights, greedy_weights, simplex_weights
from foldwise.diagnose.table import OutOfFoldTable, as_text, table_of
from foldwise.errors import Plain, invalid_data, invalid_parameter
from foldwise.scores.metric import Metric, Response, Target, as_metric
from foldwise.wording import number

CHOICES = ("best", "greedy", "simplex")
OF_CLASSES = ("_classification", "_ranking")
# What a choice is: one prediction a row, from those of all models.
Chosen = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Audit:
    """How good a choice among models looks, and how good such a choice is.

    Attributes
    ----------
    metric : str
        What is scored; in the numbers below greater is better.
    choose : str
        How the choice is made.
    apparent : float
        The score of what was chosen, on the rows it was chosen by.
    score, low, high : float
        The score of such a choice on rows it was not made by, and the ends of its interval.
    confidence : float
        How often the interval should hold the truth.
    models : DataFrame
        The score of each model, and its weight in the choice and on average over bootstraps.
    nested : tuple of float or None
        For a foldwise stack, the nested score of the same choice and the ends of its interval.
    n_rows, n_bootstrap : int
        How many rows were looked at, and how often they were drawn.
    """

    metric: str
    choose: str
    apparent: float
    score: float
    low: float
    high: float
    confidence: float
    models: pd.DataFrame
    nested: tuple[float, float, float] | None
    n_rows: int
    n_bootstrap: int

    def to_frame(self) -> pd.DataFrame:
        """Return one row a way of judging the choice, with the ends of intervals."""
        nan, rows = float("nan"), []
        rows.append(("on the rows it was chosen by", self.apparent, nan, nan))
        rows.append(("on rows it was not chosen by", self.score, self.low, self.high))
        if self.nested is not None:
            rows.append(("nested, by foldwise", *self.nested))
        return pd.DataFrame(rows, columns=["judged", "score", "low", "high"])

    def __repr__(self) -> str:
        gap = self.apparent - self.score
        looks = f"{abs(gap):.3g} {'better' if gap > 0 else 'worse'}" if gap else "no better"
        how = f"chosen by {self.choose} from {len(self.models)} models"
        text = (
            f"What was {how} scores {number(self.apparent)} on the {self.n_rows:,} rows it was "
            f"chosen by ({self.metric}, greater is better); on others such a choice scores "
            f"{number(self.score)} ({self.confidence:.0%} interval {number(self.low)} to "
            f"{number(self.high)}): it looks {looks} than it is."
        )
        if self.nested is not None:
            score, low, high = map(number, self.nested)
            text += f" Nested, by foldwise: {score} ({low} to {high})."
        return text

    def __str__(self) -> str:
        return f"{self!r}\n{as_text(self.to_frame())}"


def audit(
    oof: Any,
    y: Any = None,
    scoring: Any = None,
    *,
    choose: Any = "best",
    classes: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    n_bootstrap: int = 200,
    confidence: float = 0.95,
    random_state: Any = None,
) -> Audit:
    """Give an honest number for a choice among models that were cross-validated on the same rows.

    The best of many cross-validated scores is too good: it was the best by luck too. Rows are drawn
    with replacement, the choice is made anew by the rows drawn, and judged by those left out [1]_;
    what it loses there against the choice by all rows is what luck was worth. No model is fitted.

    Parameters
    ----------
    oof : array, data frame, dict, OutOfFoldTable or fitted foldwise stack
        Out-of-fold predictions, one column a model; for classes labels, the probability of the
        second of two, or an array of shape (n_rows, n_models, n_classes). A dict maps names to
        predictions of shape (n_rows,) or (n_rows, n_classes).
    y : array-like of shape (n_rows,)
        Targets or labels; a table or stack knows its own.
    scoring : None, str or callable, default=None
        As in scikit-learn; None is the stack's own, or the root mean squared error, log-loss or
        accuracy, whichever suits the predictions.
    choose : {"best", "greedy", "simplex"} or callable, default="best"
        How one takes from the models: the one with the best score, greedy selection, or the convex
        weights with the least squared error (of probabilities: log-loss). A callable is given
        predictions of shape (n_rows, n_models), of classes (n_rows, n_models, n_classes), the
        targets and the weights or None; it returns the number of a model, weights, or a function
        from such predictions to one prediction.
    classes : array-like or None
        All classes in the order of the probabilities; None is sorted, where y or the scoring says
        that there are classes.
    sample_weight : array-like of shape (n_rows,) or None
        Weights of the rows.
    groups : array-like of shape (n_rows,) or None
        Rows of a group are drawn together.
    n_bootstrap : int, default=200
        How often rows are drawn.
    confidence : float, default=0.95
        How often the interval should hold the truth.
    random_state : int, Generator or None
        Seed of the draws.

    Returns
    -------
    Audit
        Its text says in a sentence how much better the choice looks than it is.

    Notes
    -----
    Takes ``n_bootstrap * n_models`` scores for "best", ``n_bootstrap`` combinations else. The
    interval is that of scores on the rows left out, about a third of all, so that it is rather too
    wide. Choices are made by 63 % of the rows: a choice that needs many is judged a little harshly.
    What is audited is the choice: if the models themselves were tuned on the rows that they
    predict, all numbers are too good.

    References
    ----------
    .. [1] Tsamardinos, Greasidou, Borboudakis (2018). Bootstrapping the out-of-sample predictions
       for efficient and accurate cross-validation. Machine Learning 107.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> coins, guesses = rng.integers(0, 2, 200), rng.integers(0, 2, size=(200, 50))
    >>> found = audit(guesses, coins, "accuracy", random_state=0)
    >>> print(f"{found.apparent:.2f} looks fine, {found.score:.2f} it is")
    0.57 looks fine, 0.48 it is
    """
    check_whole("audit", "n_bootstrap", n_bootstrap, 20, try_=200)
    check_number("audit", "confidence", confidence, above=0, below=1, try_=0.95)
    if not callable(choose):
        check_word("audit", "choose", choose, CHOICES, also="a function")
    evidence = _evidence(oof, y, scoring, classes, sample_weight, groups)
    everything, rng = np.arange(len(evidence.members)), np.random.default_rng(random_state)
    chosen, weights = evidence.chosen(choose, everything)
    scores, of_chosen, shares = [], [], []
    for drawn, left in _draws(evidence.target, n_bootstrap, rng):
        again, own = evidence.chosen(choose, drawn)
        scores.append(evidence.score(again, left))
        of_chosen.append(evidence.score(chosen, left))
        shares.append(own)
    known = np.isfinite(scores) & np.isfinite(of_chosen)
    if not known.any():
        must, got = "leave rows that can be scored when others are drawn", Plain("none")
        raise invalid_data("audit", "oof", must=must, got=got, fix="Give more rows or groups.")
    found, apparent = np.array(scores)[known], evidence.score(chosen, everything)
    low, high = np.quantile(found, [(1 - confidence) / 2, (1 + confidence) / 2])
    models = pd.DataFrame({"model": evidence.names, "score": evidence.each(everything)})
    return Audit(
        evidence.metric.name,
        f"{choose!r}" if isinstance(choose, str) else getattr(choose, "__name__", "a function"),
        apparent,
        _without_luck(apparent, found, np.array(of_chosen)[known], evidence.metric),
        float(low),
        float(high),
        confidence,
        models.assign(weight=weights, mean_weight=np.mean(shares, axis=0)),
        _nested(oof, choose, scoring),
        len(everything),
        n_bootstrap,
    )


def _without_luck(
    apparent: float, again: FloatArray, of_chosen: FloatArray, metric: Metric
) -> float:
    """Return the apparent score less what it loses on rows left out; of roots, by squares.

    Both scores are of the same rows, which takes out most of the noise of drawing them.
    """
    if metric.function is metrics.root_mean_squared_error:
        square = apparent**2 + float(np.mean(again**2 - of_chosen**2))
        return -(max(square, 0.0) ** 0.5)
    return float(apparent + np.mean(again - of_chosen))


def _nested(source: Any, choose: Any, scoring: Any) -> tuple[float, float, float] | None:
    """Return the nested score of the same choice, where the models are a stack's of ours."""
    stack = getattr(source, "stack_", source)
    if not isinstance(choose, str) or not hasattr(stack, "restack"):
        return None
    same = stack.restack(choose, **({} if scoring is None else {"scoring": scoring}))
    return (same.score_, *same.score_interval_)


def _draws(
    target: Target, n_bootstrap: int, rng: np.random.Generator
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield rows drawn with replacement, whole groups if there are any, and the rows left out."""
    unit = np.arange(len(target.y)) if target.unit is None else target.unit
    _, unit = np.unique(unit, return_inverse=True)
    rows_of = np.split(np.argsort(unit, kind="stable"), np.cumsum(np.bincount(unit))[:-1])
    for _ in range(n_bootstrap):
        drawn = rng.integers(0, len(rows_of), len(rows_of))
        left = np.flatnonzero(~np.isin(unit, drawn))
        if len(left):
            yield np.concatenate([rows_of[u] for u in drawn]), left


@dataclass(frozen=True)
class _Evidence:
    """Predictions, what they should have been, and how they are scored."""

    names: list[str]
    members: FloatArray  # (n_rows, n_models, width)
    kind: str  # "value", "probability" or "label"
    target: Target
    metric: Metric

    def chosen(self, choose: Any, rows: IntArray) -> tuple[Chosen, FloatArray]:
        """Return what is chosen by some rows, and the weight of each model in it."""
        given, members = self.target.take(rows), self.members[rows]
        n_models = members.shape[1]
        found: Any
        if choose == "best":
            found = best_weights(self.each(rows))
        elif isinstance(choose, str):
            rule = greedy_weights if choose == "greedy" else simplex_weights
            loss = "log" if self.kind == "probability" else "squared"
            found = rule(members, given.y, given.weight, loss=loss)
        else:
            y = given.y if given.labels is None else given.labels[given.y]
            found = choose(_as_given(members), y, given.weight)
        if callable(found):
            return found, np.full(n_models, np.nan)
        weights = np.asarray(found, dtype=np.float64)
        if weights.ndim == 0 and weights in range(n_models):
            weights = np.eye(n_models)[int(weights)]
        if weights.shape != (n_models,) or not np.isfinite(weights).all():
            must = f"return the number of a model, {n_models} weights or a function"
            fix = "Number models from 0."
            raise invalid_parameter("audit", "choose", must=must, got=found, fix=fix)
        return lambda given: np.tensordot(given, weights, axes=([1], [0])), weights

    def score(self, chosen: Chosen, rows: IntArray) -> float:
        """Return the score of a choice on some rows."""
        values = np.asarray(chosen(_as_given(self.members[rows]))).reshape(len(rows), -1)
        return self.metric.score(self._response(values), self.target.take(rows))

    def each(self, rows: IntArray) -> FloatArray:
        """Return the score of each model on some rows."""
        target, members = self.target.take(rows), np.moveaxis(self.members[rows], 1, 0)
        return np.array([self.metric.score(self._response(own), target) for own in members])

    def _response(self, values: FloatArray) -> Response:
        if self.kind == "label":
            return Response("label", values.argmax(axis=1).astype(np.float64)[:, None])
        return Response(self.kind, values)


def _as_given(members: FloatArray) -> FloatArray:
    """Return predictions without the last dimension if it is one."""
    return members[:, :, 0] if members.shape[2] == 1 else members


def _evidence(
    oof: Any, y: Any, scoring: Any, classes: Any, sample_weight: Any, groups: Any
) -> _Evidence:
    """Read and check what is to be audited."""
    if isinstance(oof, OutOfFoldTable) or hasattr(oof, "deals_") or hasattr(oof, "stack_"):
        table = table_of(oof, "audit")
        kind = "value" if table.classes is None else "probability"
    else:
        table, kind = _table(oof, y, scoring, classes)
    n_rows, metric = table.n_rows, table.scorer
    given = checked_weights("audit", sample_weight, n_rows)
    weight = table.weight if given is None else given
    unit = table.unit if groups is None else checked_groups("audit", groups, n_rows)
    if metric is None or scoring is not None:
        sure = kind == "probability"
        classify = table.classes is not None
        metric = as_metric(scoring, owner="audit", classify=classify, has_probabilities=sure)
    fold = np.zeros(n_rows, np.intp) if table.fold is None else table.fold
    kept = np.arange(n_rows) if weight is None else np.flatnonzero(weight)
    target = Target(table.y, table.classes, weight, fold, unit).take(kept)
    members = table.predictions.mean(axis=0)[kept]
    return _Evidence(list(table.names), members, kind, target, metric)


def _table(oof: Any, y: Any, scoring: Any, classes: Any) -> tuple[OutOfFoldTable, str]:
    """Return predictions of any form as a table, and what they are."""
    if y is None:
        must, fix = "be given with predictions", "Give the targets of their rows."
        raise invalid_data("audit", "y", must=must, got=None, fix=fix)
    names = None
    if isinstance(oof, Mapping):
        names, oof = list(oof), np.stack([np.asarray(own) for own in oof.values()], axis=1)
    elif hasattr(oof, "columns"):
        names = [str(name) for name in oof.columns]
    values, target = np.asarray(oof), np.asarray(y)
    if classes is None and _of_classes(values, target, scoring):
        classes = np.unique(target)
    kind = "value" if classes is None else "probability"
    if classes is not None and values.ndim == 2:
        labels = np.asarray(classes)
        kind = "label" if np.isin(values, labels).all() else kind
        if kind == "probability" and len(labels) == 2 and values.dtype.kind == "f":
            values = np.stack([1.0 - values, values], axis=2)
    return OutOfFoldTable.from_arrays(values, target, names=names, classes=classes), kind


def _of_classes(values: Array, target: Array, scoring: Any) -> bool:
    """Tell whether predictions are of classes, by their form, the targets or the scoring."""
    if target.dtype.kind not in "iuf" or (values.ndim == 3 and target.ndim == 1):
        return True
    scorer = metrics.get_scorer(scoring) if scoring in metrics.get_scorer_names() else scoring
    home = str(getattr(getattr(scorer, "_score_func", None), "__module__", ""))
    return home.endswith(OF_CLASSES)
