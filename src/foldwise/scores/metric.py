"""Predictions that are already there: what they mean, their scores, and the standard errors.

A score comes with *contributions*, one a unit (a row, a group or a block of rows): their
squares add up to its variance, and differences of two models' contributions give the
standard error of a paired comparison.
"""

import inspect
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.checks import unknown_word
from foldwise.errors import invalid_parameter
from foldwise.learners import take_rows
from foldwise.scores.areas import mean_area
from foldwise.scores.replay import REPLAYS


@dataclass(frozen=True)
class Response:
    """A prediction and what it means."""

    kind: str  # probabilities of all classes, decision values, class codes, or regression values
    values: FloatArray  # (n_samples, width): the prediction
    # class codes, where the model decides otherwise than by the greatest value
    own_labels: IntArray | None = None

    @property
    def labels(self) -> IntArray:
        """Class codes: the most probable class, the sign of the decision, or the label."""
        if self.own_labels is not None:
            return self.own_labels
        if self.kind == "label":
            return self.values[:, 0].astype(np.intp)
        if self.values.shape[1] == 1:
            return (self.values[:, 0] > 0).astype(np.intp)
        return self.values.argmax(axis=1)

    def probabilities(self, n_classes: int) -> FloatArray:
        """Return the response as probabilities of all classes; labels are certainties."""
        if self.kind == "probability":
            return self.values
        if self.kind == "decision" and self.values.shape[1] == 1:
            positive = expit(self.values[:, 0])
            return np.column_stack([1.0 - positive, positive])
        return np.eye(n_classes)[self.labels]

    def take(self, rows: Any) -> "Response":
        """Return some rows."""
        own = None if self.own_labels is None else self.own_labels[rows]
        return Response(self.kind, self.values[rows], own)


def joined(responses: Sequence[Response]) -> Response:
    """Return responses one below the other."""
    own = [r.own_labels for r in responses if r.own_labels is not None]
    return Response(
        responses[0].kind,
        np.concatenate([r.values for r in responses]),
        np.concatenate(own) if len(own) == len(responses) else None,
    )


def mean_response(each: Sequence[Response], labels: Array | None) -> Response:
    """Return the mean of responses to the same rows; of labels, the most frequent ones."""
    kinds = {response.kind for response in each}
    own = all(r.own_labels is not None for r in each) or kinds == {"label"} or len(kinds) > 1
    voted = None
    if own and labels is not None:
        voted = np.mean([np.eye(len(labels))[r.labels] for r in each], axis=0).argmax(axis=1)
    if len(kinds) > 1 and voted is not None:
        return Response("label", voted.astype(np.float64)[:, None])
    return Response(each[0].kind, np.mean([r.values for r in each], axis=0), voted)


N_BLOCKS = 20
WITH_DOMAIN = {
    metrics.d2_tweedie_score,
    metrics.mean_gamma_deviance,
    metrics.mean_poisson_deviance,
    metrics.mean_squared_log_error,
    metrics.mean_tweedie_deviance,
    metrics.root_mean_squared_log_error,
}

RANK_METRICS = {
    "roc_auc_score",
    "average_precision_score",
    "ndcg_score",
    "dcg_score",
    "label_ranking_average_precision_score",
}


@dataclass(frozen=True)
class Target:
    """What predictions are compared with."""

    y: Array  # regression targets, or class codes
    labels: Array | None  # the classes behind the codes
    weight: FloatArray | None  # weights of the rows
    fold: IntArray  # the fold of each row
    unit: IntArray | None = None  # the group of each row; None if each row is its own
    X: Any = None  # the table the rows are of, for scorers that look at it
    rows: IntArray | None = None  # which rows of it

    def take(self, rows: Any) -> "Target":
        """Return some rows."""
        return Target(
            self.y[rows],
            self.labels,
            None if self.weight is None else self.weight[rows],
            self.fold[rows],
            None if self.unit is None else self.unit[rows],
            self.X,
            None if self.rows is None else self.rows[rows],
        )


@dataclass(frozen=True)
class Evaluation:
    """A score, greater is better, and what each unit contributes to its error."""

    score: float  # in the scorer's sign
    contributions: FloatArray  # see the module's first lines

    @property
    def standard_error(self) -> float:
        """The standard error of the score."""
        return _root_sum_of_squares(self.contributions)

    def error_of_difference(self, other: "Evaluation") -> float:
        """Return the standard error of the paired difference to another model's score."""
        difference = self.contributions - other.contributions
        return _root_sum_of_squares(difference, out=difference)


def _root_sum_of_squares(contributions: FloatArray, out: FloatArray | None = None) -> float:
    n = len(contributions)
    if n < 2:
        return float("nan")
    return float(np.sqrt(np.sum(np.square(contributions, out=out)) * n / (n - 1)))


@dataclass(frozen=True)
class Metric:
    """A scorer that works on predictions."""

    name: str  # the metric's own name, without "neg_"
    scorer: Callable[..., float]  # scikit-learn's signature (estimator, X, y)
    sign: int  # 1 if the metric itself grows with quality, -1 if it is a loss
    pooled: bool  # whether all rows are scored at once; else the mean over folds
    # the metric's function, None for a scorer of unknown making
    function: Callable[..., float] | None
    owner: str  # who complains
    X: Any = None  # the rows that are scored, where the target does not know them

    @property
    def reads_rows(self) -> bool:
        """Whether the scorer is of unknown making, so that it may look at X."""
        return self.function is None

    @property
    def has_domain(self) -> bool:
        """Whether there are predictions that the metric cannot score, e.g. negative ones."""
        return self.function in WITH_DOMAIN

    def outside(self, response: Response, target: Target) -> str | None:
        """Return why predictions cannot be scored, where they leave the metric's domain."""
        if not self.has_domain:
            return None
        try:
            self._ask(response, target)
        except ValueError as error:
            return str(error)
        return None

    def natural(self, score: float) -> float:
        """Return a score in the metric's natural sign."""
        return self.sign * score + 0.0

    def evaluate(self, response: Response, target: Target) -> Evaluation:
        """Score predictions."""
        losses = self._row_losses(response, target)
        if losses is not None:
            return self._from_rows(losses, target)
        if self._has_area(response, target):
            return _area_under_curve(response, target, getattr(self.scorer, "_kwargs", {}))
        return self._from_blocks(response, target)

    @property
    def best(self) -> float:
        """The best score there can be, in the scorer's sign; 0 where it is not known."""
        home = str(getattr(self.function, "__module__", ""))
        return 1.0 if self.sign > 0 and home.startswith("sklearn.metrics") else 0.0

    def row_losses(self, response: Response, target: Target) -> FloatArray:
        """Return what each row adds to the metric: squared errors or log-losses if it is no mean.

        Accuracies have the sign of a score.
        """
        losses = self._row_losses(response, target)
        if losses is not None:
            return losses
        n_rows = len(target.y)
        if target.labels is None:
            squares = (response.values - target.y.reshape(n_rows, -1)) ** 2
            return np.asarray(squares.mean(axis=1))
        return _log(Response("probability", response.probabilities(len(target.labels))), target.y)

    def knows_rows(self, response: Response, target: Target) -> bool:
        """Tell whether what each row contributes is known without a jackknife."""
        known = self._row_losses(response, target) is not None
        return known or self._has_area(response, target)

    def score(self, response: Response, target: Target) -> float:
        """Return the score alone, which is cheaper than an evaluation for many metrics."""
        losses = self._row_losses(response, target)
        if losses is not None:
            return self._mean(losses, target)
        if self._has_area(response, target):
            return self.evaluate(response, target).score
        return self._pool(response, target)

    def _has_area(self, response: Response, target: Target) -> bool:
        if self.function is not metrics.roc_auc_score or target.labels is None:
            return False
        how = dict(getattr(self.scorer, "_kwargs", None) or {})
        several = len(target.labels) > 2
        if several and how.pop("multi_class", None) != "ovr":
            return False
        if several and how.pop("average", "macro") not in ("macro", "weighted"):
            return False
        kinds = ("probability",) if several else ("probability", "decision")
        return not how and target.weight is None and response.kind in kinds

    def fold_scores(self, response: Response, target: Target) -> FloatArray:
        """Return the score of each fold, in the order of the folds."""
        return np.array([self._of_fold(*part) for part in _by_fold(response, target)])

    def _of_fold(self, response: Response, target: Target) -> float:
        losses = self._row_losses(response, target)
        if losses is not None:
            return self._mean(losses, target)
        return self._score(response, target) if self._defined(target) else float("nan")

    def _defined(self, target: Target) -> bool:
        """Tell whether a fold holds what the metric needs: every class, for rank metrics."""
        if target.labels is None or self.pooled:
            return True
        return len(np.unique(target.y)) == len(target.labels)

    def _row_losses(self, response: Response, target: Target) -> FloatArray | None:
        if self.function not in _ROW_LOSSES or getattr(self.scorer, "_kwargs", None):
            return None
        kinds, loss = _ROW_LOSSES[self.function]
        if response.kind not in kinds or (target.y.ndim > 1 and target.y.shape[1] > 1):
            return None
        return loss(response, target.y)

    def _score(self, response: Response, target: Target) -> float:
        # A mean that leaves the metric's domain has no score, and is not chosen.
        return float("nan") if self.outside(response, target) else self._ask(response, target)

    def _rows(self, target: Target) -> Any:
        """Return the rows that a scorer is shown; their number is enough for one of a metric."""
        if not self.reads_rows:
            return np.arange(len(target.y))[:, None]
        if self.X is not None:
            return self.X
        if target.X is None or target.rows is None:
            must, fix = "be given to a scorer that may look at it", "Give the rows of the fit."
            raise invalid_parameter(self.owner, "X", must=must, got=None, fix=fix)
        return take_rows(target.X, target.rows)

    def _ask(self, response: Response, target: Target) -> float:
        replay, X = REPLAYS[response.kind](response, target.labels), self._rows(target)
        y = target.y if target.labels is None else target.labels[target.y]
        weights = {}
        if target.weight is not None and _takes_weights(self.scorer):
            weights = {"sample_weight": target.weight}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UndefinedMetricWarning)
                return float(self.scorer(replay, X, y, **weights))
        except AttributeError as error:
            must, got = "suit what the stack can predict", f"{self.name}: {error}"
            fix = "Use stackers and learners with predict_proba, or scoring='accuracy'."
            raise invalid_parameter(self.owner, "scoring", must=must, got=got, fix=fix) from error

    def _pool(self, response: Response, target: Target) -> float:
        if self.pooled:
            return self._score(response, target)
        parts = _by_fold(response, target)
        scores = [self._score(*part) for part in parts if self._defined(part[1])]
        return float(np.mean(scores)) if scores else float("nan")

    def _from_blocks(self, response: Response, target: Target) -> Evaluation:
        """Score, with contributions by a delete-a-block jackknife."""
        score = self._pool(response, target)
        unit = np.arange(len(target.y)) if target.unit is None else target.unit
        _, unit = np.unique(unit, return_inverse=True)
        block = np.random.default_rng(0).permutation(unit.max() + 1)[unit] % N_BLOCKS
        others = (np.flatnonzero(block != b) for b in np.unique(block))
        each = (self._pool(response.take(o), target.take(o)) for o in others if len(o))
        values = np.fromiter(each, np.float64)
        n = max(len(values), 1)
        return Evaluation(score, (n - 1) / n * (values.mean() - values) if n > 1 else values)

    @property
    def _is_root(self) -> bool:
        return self.function is metrics.root_mean_squared_error

    def _mean(self, losses: FloatArray, target: Target) -> float:
        mean = float(_shares(target) @ losses)
        return self.sign * (float(np.sqrt(mean)) if self._is_root else mean)

    def _from_rows(self, losses: FloatArray, target: Target) -> Evaluation:
        """Return the evaluation of losses by row, which it overwrites: a copy of many is much."""
        share = _shares(target)
        mean = float(share @ losses)
        losses -= mean
        losses *= share
        del share
        if self._is_root:
            root = np.sqrt(mean)
            if root > 0:
                losses /= 2 * root
            mean = float(root)
        losses *= self.sign
        return Evaluation(self.sign * mean, _by_unit(losses, target))


def _by_fold(response: Response, target: Target) -> Iterator[tuple[Response, Target]]:
    for fold in np.unique(target.fold):
        rows = np.flatnonzero(target.fold == fold)
        yield response.take(rows), target.take(rows)


def _takes_weights(scorer: Any) -> bool:
    return "sample_weight" in inspect.signature(getattr(scorer, "_score_func", scorer)).parameters


def _shares(target: Target) -> FloatArray:
    """Return what each row counts, in all one."""
    n, weight = len(target.y), target.weight
    return np.full(n, 1 / max(n, 1)) if weight is None else weight / weight.sum()


def _by_unit(contributions: FloatArray, target: Target) -> FloatArray:
    if target.unit is None:
        return contributions
    _, unit = np.unique(target.unit, return_inverse=True)
    return np.bincount(unit, weights=contributions).astype(np.float64)


def _area_under_curve(response: Response, target: Target, how: dict[str, Any]) -> Evaluation:
    """Average the area over folds; contributions are DeLong's placements."""
    assert target.labels is not None
    scores, codes = response.values, np.arange(len(target.labels))
    if len(codes) == 2:
        scores, codes = scores[:, -1:], codes[1:]
    by_prevalence = how.get("average") == "weighted"
    area, contributions = mean_area(
        scores, target.y[:, None] == codes, target.fold, by_prevalence=by_prevalence
    )
    return Evaluation(area, _by_unit(contributions, target))


def _squared(response: Response, y: Array) -> FloatArray:
    off = response.values[:, 0] - y.reshape(len(y))
    return np.square(off, out=off)


def _absolute(response: Response, y: Array) -> FloatArray:
    return np.abs(response.values[:, 0] - y.reshape(len(y)))


def _log(response: Response, y: Array) -> FloatArray:
    tiny = np.finfo(np.float64).eps
    chosen = response.values[np.arange(len(y)), y]
    return -np.log(np.clip(chosen, tiny, 1 - tiny))


def _hit(response: Response, y: Array) -> FloatArray:
    return (response.labels == y).astype(np.float64)


_ANY_CLASS = ("probability", "decision", "label")
_ROW_LOSSES: dict[Any, tuple[tuple[str, ...], Callable[[Response, Array], FloatArray]]] = {
    metrics.mean_squared_error: (("value",), _squared),
    metrics.root_mean_squared_error: (("value",), _squared),
    metrics.mean_absolute_error: (("value",), _absolute),
    metrics.log_loss: (("probability",), _log),
    metrics.accuracy_score: (_ANY_CLASS, _hit),
}


def as_metric(scoring: Any, *, owner: str, classify: bool, has_probabilities: bool) -> Metric:
    """Return the metric that `scoring` names."""
    if scoring is None:
        scoring = "neg_root_mean_squared_error"
        if classify:
            scoring = "neg_log_loss" if has_probabilities else "accuracy"
    if isinstance(scoring, str):
        known = metrics.get_scorer_names()
        if scoring not in known:
            must = "be the name of a scorer or a callable"
            raise unknown_word(owner, "scoring", scoring, known, must)
        scorer, name = metrics.get_scorer(scoring), scoring
    elif callable(scoring):
        scorer, name = scoring, getattr(scoring, "__name__", type(scoring).__name__)
    else:
        must = "be None, the name of a scorer or a callable"
        fix = "Use 'neg_log_loss' or another of scikit-learn's scorers."
        raise invalid_parameter(owner, "scoring", must=must, got=scoring, fix=fix)
    function = getattr(scorer, "_score_func", None)
    if function is not None and not isinstance(scoring, str):
        name = function.__name__
    return Metric(
        name.removeprefix("neg_"),
        scorer,
        getattr(scorer, "_sign", 1),
        function is not None and function.__name__ not in RANK_METRICS,
        function,
        owner,
    )
