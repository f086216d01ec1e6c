"""What can stand on top: weighted means, and any estimator, with or without a grid."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ParameterGrid

from foldwise.arrays import Array, IntArray
from foldwise.errors import Plain, did_you_mean, invalid_parameter, listing, unsupported
from foldwise.folds import Block
from foldwise.learners import (
    TrainingData,
    fit_prepared,
    over_all_classes,
    prepared,
    weight_argument,
)
from foldwise.scores.metric import Metric, Response, Target
from foldwise.stack.problem import StackProblem
from foldwise.stack.stackers.means import MemberStacker, OneClass, Stacker, Weights
from foldwise.stack.stackers.named import LINEAR, known_names
from foldwise.stack.table.read import Features, weights_of


@dataclass(frozen=True)
class Candidate:
    """A stacker that may be chosen."""

    name: str  # its name in messages and results
    estimator: Any  # never fitted itself
    # the parameters to choose among; one empty dict if there is no choice
    grid: tuple[dict[str, Any], ...] = ({},)
    named: bool = True  # whether it is one of ours

    def weights(self, problem: StackProblem, blocks: Sequence[Block]) -> Weights:
        """Return the rows' weights, for an estimator of the user's as they were given."""
        return weights_of(blocks, problem.counts if self.named else problem.data.sample_weight)

    def scored_on(self, X: Any) -> "Candidate":
        """Return the candidate whose metric, if it has one, knows the rows it will be fitted on."""
        metric = getattr(self.estimator, "metric", None)
        if not isinstance(metric, Metric):
            return self
        own = copy(self.estimator)
        own.metric = replace(metric, X=X)
        return replace(self, estimator=own)

    def fit_grid(
        self, features: Features, y: Array, sample_weight: Weights, seed: int | None = None
    ) -> list[Any]:
        """Return the stacker fitted at every point of its grid."""
        points = [prepared(self.estimator, seed).set_params(**point) for point in self.grid]
        one_class = features.n_classes is not None and len(np.unique(y)) == 1
        if one_class and not isinstance(self.estimator, MemberStacker):
            return [OneClass(int(y[0]), response_kind(point)) for point in points]
        if isinstance(self.estimator, Stacker):
            read = self.estimator.read(features)
            return self.estimator.fit_points(read, y, sample_weight, points)
        data = TrainingData(features.matrix, y, sample_weight, features.n_classes)
        # Rows stand fold by fold: the last ones are a fold's, of the latest time where that counts.
        return [fit_prepared(point, data, seed, in_order=True) for point in points]


@dataclass(frozen=True)
class Option:
    """One stacker at one point of its grid."""

    candidate: int
    point: int


def without_rows_to_score(stacker: Any) -> Any:
    """Return a fitted stacker that does not hold on to training rows."""
    metric = getattr(stacker, "metric", None)
    if isinstance(metric, Metric) and metric.X is not None:
        stacker.metric = replace(metric, X=None)
    return stacker


def respond(stacker: Any, features: Features, correction: Any = None) -> Response:
    """Return a fitted stacker's response to the learners' predictions, corrected if asked for."""
    return corrected(_response(stacker, features), correction)


def corrected(response: Response, correction: Any) -> Response:
    """Return a response after calibration and threshold, if there are any."""
    return response if correction is None else correction.apply(response)


def _response(stacker: Any, features: Features) -> Response:
    if isinstance(stacker, MemberStacker):
        return stacker.respond(stacker.read(features))
    if isinstance(stacker, OneClass):
        return stacker.respond(features)
    X = features.matrix
    if features.n_classes is None:
        values = np.asarray(stacker.predict(X), dtype=np.float64)
        return Response("value", values.reshape(len(values), -1))
    for method, kind in (("predict_proba", "probability"), ("decision_function", "decision")):
        if hasattr(stacker, method):
            values = np.asarray(getattr(stacker, method)(X), dtype=np.float64)
            values = values.reshape(len(values), -1)
            values = over_all_classes(
                values, stacker.classes_, features.n_classes, int(features.amount), method
            )
            return Response(kind, values, _own_labels(stacker, X))
    values = np.asarray(stacker.predict(X), dtype=np.float64)
    return Response("label", values.reshape(len(values), -1))


def _own_labels(stacker: Any, X: Any) -> IntArray | None:
    """Return what the stacker itself decides, e.g. by a threshold of its own."""
    if type(stacker) is LogisticRegression:
        return None
    return np.asarray(stacker.predict(X), dtype=np.intp)


def response_kind(estimator: Any) -> str:
    """Return what kind of response a classifying stacker will give."""
    if isinstance(estimator, Stacker) or hasattr(estimator, "predict_proba"):
        return "probability"
    return "decision" if hasattr(estimator, "decision_function") else "label"


def candidates_from(
    final_estimator: Any, problem: StackProblem, metric: Metric, owner: str
) -> tuple[Candidate, ...]:
    """Return the stackers that `final_estimator` names, simplest first."""
    linear = problem.passes_numbers_only
    if final_estimator is None:
        return _default(problem, metric, linear=linear)
    wanted = final_estimator if isinstance(final_estimator, list) else [final_estimator]
    reads = {item for item in wanted if isinstance(item, str)} & set(LINEAR)
    if not linear and reads:
        must = f"hold dense numbers for {listing(reads)}"
        got = Plain("sparse columns or columns of other types")
        fix = "Use a Pipeline that encodes them as the final estimator."
        raise invalid_parameter(owner, "passthrough", must=must, got=got, fix=fix)
    if not wanted:
        fix = "Use None for the default bake-off."
        raise _wrong(owner, "name at least one stacker", final_estimator, fix)
    if problem.data.sample_weight is not None:
        for item in wanted:
            _check_weights(owner, item[0] if isinstance(item, tuple) and item else item)
    return tuple(_candidate(item, owner, metric, problem.labels) for item in wanted)


def _wrong(owner: str, must: str, got: Any, fix: str) -> Exception:
    return invalid_parameter(owner, "final_estimator", must=must, got=got, fix=fix)


def _default(problem: StackProblem, metric: Metric, *, linear: bool) -> tuple[Candidate, ...]:
    """Return the bake-off that is hardly ever worse than the best learner.

    Settled by benchmarks/combiners.py. Convex weights come first, since they hold the best
    learner and the plain mean; they are found for squared error or log-loss, whatever the metric.
    """
    labels = problem.labels
    names = ["best", "ridge"] if labels is None else ["best", "pool"]
    if problem.passthrough is not None and labels is not None:
        names.append("logistic")
    known = known_names(labels)
    made = [("simplex", *known["simplex"](None, labels))]
    made += [(n, *known[n](metric, labels)) for n in names if linear or n not in LINEAR]
    return tuple(Candidate(name, top, tuple(ParameterGrid(grid))) for name, top, grid in made)


def _check_weights(owner: str, estimator: Any) -> None:
    if hasattr(estimator, "fit") and weight_argument(estimator) is None:
        kind = type(estimator).__name__
        got = Plain(f"underlying estimator {kind}, which does not support sample weights")
        must = "reach the final estimator"
        fix = "Use a final estimator whose fit takes sample_weight."
        raise unsupported(owner, "sample_weight", must=must, got=got, fix=fix)


def _candidate(item: Any, owner: str, metric: Metric, labels: Any) -> Candidate:
    top, grid = item if isinstance(item, tuple) and len(item) == 2 else (item, None)
    if isinstance(top, str):
        known = known_names(labels)
        if top not in known:
            must = "be a known name or an estimator"
            raise _wrong(owner, must, top, did_you_mean(top, known))
        estimator, own_grid = known[top](metric, labels)
        return Candidate(top, estimator, tuple(ParameterGrid(own_grid if grid is None else grid)))
    if not hasattr(top, "fit") or not hasattr(top, "predict"):
        must = "be None, a name, an estimator, (estimator, grid) or a list of these"
        raise _wrong(owner, must, item, "Use None for the default bake-off.")
    if (is_classifier if labels is None else is_regressor)(top):
        kind = "regressor" if labels is None else "classifier"
        fix = f"The 'final_estimator' parameter should be a {kind}, or None for a bake-off."
        raise _wrong(owner, f"be a {kind}", top, fix)
    points = tuple(ParameterGrid({} if grid is None else grid))
    return Candidate(type(top).__name__, top, points, named=False)


def linear_weights(stacker: Any, widths: Sequence[int]) -> list[float]:
    """Return each learner's weight in a fitted stacker, NaN where there is none to speak of."""
    weights = getattr(stacker, "weights_", None) if isinstance(stacker, MemberStacker) else None
    if weights is not None and weights.ndim == 1:
        return [float(weight) for weight in weights]
    coefficients = np.asarray(getattr(stacker, "coef_", np.empty(0)))
    one_target = coefficients.ndim == 1 or 1 in coefficients.shape
    if coefficients.size < len(widths) or not one_target or max(widths) > 1:
        return [float("nan")] * len(widths)
    flat = coefficients.ravel()
    return [float(weight) for weight in flat[: len(widths)]]


def pick(responses: dict[Option, Response], target: Target, metric: Metric) -> Option:
    """Take the best point of each candidate; of these the simplest within one error.

    The best candidate is passed over for a simpler one (an earlier one in the list)
    when the paired difference of their scores is within one standard error, and no still
    simpler one with a better score was found to be further off.
    """
    if len(responses) == 1:
        return next(iter(responses))
    best: dict[int, Option] = {}
    scores = {o: _or_worst(metric.score(r, target)) for o, r in responses.items()}
    for option in scores:
        rival = best.get(option.candidate, option)
        best[option.candidate] = max(rival, option, key=scores.__getitem__)
    winner = max(best.values(), key=lambda o: scores[o])
    if len(best) == 1:
        return winner
    top = metric.evaluate(responses[winner], target)
    passed = -np.inf
    for option in best.values():
        if option == winner:
            return winner
        if scores[option] < passed:
            continue
        this = metric.evaluate(responses[option], target)
        if top.score - this.score <= this.error_of_difference(top):
            return option
        passed = scores[option]
    return winner


def _or_worst(score: float) -> float:
    return -np.inf if np.isnan(score) else score
