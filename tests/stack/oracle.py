"""Stacking by the seed's equations, literally and by brute force, on one page.

F_1 .. F_K are the test rows of the splits. W_{-(F_i+F_j)} is a learner fitted on the rows
that split i and split j both train on. Nothing here is shared with the library.
"""

from dataclasses import dataclass, field

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid


def rmse(y, values, weight):
    return np.sqrt(np.average((y - values[:, 0]) ** 2, weights=weight))


def log_loss(y, values, weight):
    tiny = np.finfo(float).eps
    return -np.average(np.log(np.clip(values[np.arange(len(y)), y], tiny, 1)), weights=weight)


def logits(values, n_rows):
    """Centred log-probabilities, one logit for two classes, clipped by the number of rows."""
    clipped = np.clip(values, 0.5 / (n_rows + 1), 1 - 0.5 / (n_rows + 1))
    if values.shape[1] == 2:
        return np.log(clipped[:, 1:] / (1 - clipped[:, 1:]))
    return np.log(clipped) - np.log(clipped).mean(axis=1, keepdims=True)


@dataclass
class Answer:
    """What the equations give; lists run over the folds that are held out."""

    oos_without: list = field(default_factory=list)  # X^OOS_{-F_i}
    held_out: list = field(default_factory=list)  # X^HO_{F_i}
    judged: list = field(default_factory=list)  # \hat Y_{F_i}, by the choice for fold i
    chosen_for: list = field(default_factory=list)  # Lambda_i
    rows: list = field(default_factory=list)  # F_i
    oos: np.ndarray | None = None  # X^OOS
    chosen: dict | None = None  # Lambda
    score: float | None = None  # minus the loss of `judged`
    predictions: np.ndarray | None = None  # of new rows


@dataclass
class Oracle:
    """A stack by hand. `layers` holds lists of learners, `tune` one grid (or None) a learner."""

    layers: list
    stacker: object
    grid: dict
    X: np.ndarray
    y: np.ndarray
    splits: list
    classify: bool = False
    tune: list | None = None
    weight: np.ndarray | None = None
    passthrough: bool = False

    def __post_init__(self):
        self.loss = log_loss if self.classify else rmse
        self.folds = range(len(self.splits))
        self.tests = [np.sort(test) for _, test in self.splits]
        self.points = list(ParameterGrid(self.grid))
        self.models = {}

    def rows(self, left_out):
        """What all splits of the left-out folds train on."""
        everything = range(len(self.y))
        return sorted(set(everything).intersection(*(self.splits[i][0].tolist() for i in left_out)))

    def inside(self, j, left_out):
        allowed = set(self.rows(left_out))
        return [row for row in self.tests[j].tolist() if row in allowed]

    def fit(self, model, columns, rows):
        if self.weight is None:
            return model.fit(columns, self.y[rows])
        return model.fit(columns, self.y[rows], sample_weight=self.weight[rows])

    def ask(self, model, columns):
        if self.classify:
            return model.predict_proba(columns)
        return model.predict(columns).reshape(len(columns), -1)

    def weigh(self, rows):
        return None if self.weight is None else self.weight[rows]

    # Learners: values of layer `depth` at a node, by the parameters that fold `owner` chose.

    def learner_values(self, depth, left_out, Z, owner):
        """Return one array for each learner, fitted without the left-out folds, for rows Z."""
        below = Z
        if depth:
            below = self.columns(self.learner_values(depth - 1, left_out, Z, owner), Z)
        values = []
        for m in range(len(self.layers[depth])):
            chosen = self.tuned(m, owner) if self.tune else {}
            values.append(self.ask(self.learner(depth, left_out, m, chosen), below))
        return values

    def learner(self, depth, left_out, m, params):
        """Return learner m of a layer, fitted without the left-out folds."""
        key = (depth, left_out, m, str(params))
        if key not in self.models:
            columns, rows = self.X[self.rows(left_out)], self.rows(left_out)
            if depth:
                columns, rows = self.oos_matrix(depth - 1, left_out, None)
            model = clone(self.layers[depth][m]).set_params(**params)
            self.models[key] = self.fit(model, columns, rows)
        return self.models[key]

    def oos_matrix(self, depth, left_out, owner):
        """Return X^OOS_{-left_out}: each fold outside predicted without it, and its rows."""
        outside = [j for j in self.folds if j not in left_out]
        parts = [self.inside(j, left_out) for j in outside]
        owners = [j if owner is None else owner for j in outside]
        values = [
            self.columns(
                self.learner_values(depth, left_out | {j}, self.X[part], owner), self.X[part]
            )
            for j, part, owner in zip(outside, parts, owners, strict=True)
            if part
        ]
        return np.vstack(values), [row for part in parts for row in part]

    def columns(self, values, Z):
        if self.classify:
            weight = np.ones(len(self.y)) if self.weight is None else self.weight
            # A weight of two is a row twice; weights that sum to one are still so many rows.
            whole = (weight == weight.round()).all()
            n_rows = weight.sum() if whole else np.count_nonzero(weight)
            values = [logits(v, n_rows) for v in values]
        return np.hstack([*values, Z] if self.passthrough else values)

    def mean_over(self, nodes, Z):
        """Return the stacker's columns for Z: the mean over (left-out folds, owner) pairs."""
        each = [self.learner_values(len(self.layers) - 1, S, Z, owner) for S, owner in nodes]
        return self.columns([np.mean(learner, axis=0) for learner in zip(*each, strict=True)], Z)

    def tuned(self, m, owner):
        """Return learner m's best parameters by the folds that `owner` may look at."""
        if self.tune[m] is None:
            return {}
        base = frozenset() if owner is None else frozenset({owner})
        outside = [j for j in self.folds if j not in base]
        parts = [self.inside(j, base) for j in outside]
        rows = np.concatenate(parts)
        losses, points = [], list(ParameterGrid(self.tune[m]))
        for point in points:
            models = [self.learner(0, base | {j}, m, point) for j in outside]
            values = [
                self.ask(model, self.X[part]) for model, part in zip(models, parts, strict=True)
            ]
            losses.append(self.loss(self.y[rows], np.vstack(values), self.weigh(rows)))
        return points[int(np.argmin(losses))]

    # The stacker.

    def stack(self, point, columns, rows, Z):
        model = clone(self.stacker).set_params(**point)
        return self.ask(self.fit(model, columns, rows), Z)

    def choose_inside(self, columns, rows):
        """Return the best point by cross-validation over the folds inside X^OOS_{-F_i}."""
        rows = np.asarray(rows)
        fold_of = np.array([next(j for j in self.folds if r in self.tests[j]) for r in rows])
        losses = []
        for point in self.points:
            values = np.empty((len(rows), len(np.unique(self.y)) if self.classify else 1))
            for j in np.unique(fold_of):
                there = fold_of == j
                train = ~there & np.isin(rows, self.splits[j][0])
                values[there] = self.stack(point, columns[train], rows[train], columns[there])
            losses.append(self.loss(self.y[rows], values, self.weigh(rows)))
        return self.points[int(np.argmin(losses))]

    def answer(self, X_new, predict_with="folds", hold_out="node") -> Answer:
        top, answer = len(self.layers) - 1, Answer()
        values_of_points = []
        for i in self.folds:
            columns, rows = self.oos_matrix(top, frozenset({i}), i)
            nodes = [(frozenset({i}), i)]
            if hold_out == "mean":
                nodes = [(frozenset({i, j}), i) for j in self.folds if j != i]
            held = self.mean_over(nodes, self.X[self.tests[i]])
            point = self.choose_inside(columns, rows)
            answer.rows.append(self.tests[i])
            answer.oos_without.append(columns)
            answer.held_out.append(held)
            answer.chosen_for.append(point)
            answer.judged.append(self.stack(point, columns, rows, held))
            values_of_points.append([self.stack(p, columns, rows, held) for p in self.points])
        rows = np.concatenate(answer.rows)
        y, weight = self.y[rows], self.weigh(rows)
        answer.score = -self.loss(y, np.vstack(answer.judged), weight)
        of_points = zip(*values_of_points, strict=True)
        losses = [self.loss(y, np.vstack(values), weight) for values in of_points]
        answer.chosen = self.points[int(np.argmin(losses))]
        self.deploy(answer, X_new, predict_with)
        return answer

    def deploy(self, answer, X_new, predict_with):
        top = len(self.layers) - 1
        pairs = [(frozenset({i, j}), i) for j in self.folds for i in self.folds if i != j]
        nodes = {
            "folds": [(frozenset({i}), i) for i in self.folds],
            "refit": [(frozenset(), None)],
            "pairs": pairs,
        }[predict_with]
        if predict_with == "pairs":
            own = [[(S, i) for S, i in pairs if S - {i} == {j}] for j in self.folds]
            each = zip(own, self.tests, strict=True)
            answer.oos = np.vstack([self.mean_over(its, self.X[part]) for its, part in each])
            rows = np.concatenate(self.tests)
        else:
            answer.oos, rows = self.oos_matrix(top, frozenset(), None)
        new = self.mean_over(nodes, X_new)
        answer.predictions = self.stack(answer.chosen, answer.oos, rows, new)


def forward_in_time(oracle, X_new, predict_with="refit") -> Answer:
    """Return the same for splits whose training rows lie before their test rows, one layer.

    A row of fold j is predicted by node {j} whoever is judged; fold i is judged by what lies
    before it, its choice comes from the folds between; the first fold cannot be judged.
    """
    answer = Answer()
    features = [
        oracle.mean_over([(frozenset({j}), j)], oracle.X[oracle.tests[j]]) for j in oracle.folds
    ]

    def before(i, point):
        last = max(oracle.splits[i][0])
        rows = np.concatenate([oracle.tests[j] for j in range(i)])
        columns = np.vstack(features[:i])[rows <= last]
        return oracle.stack(point, columns, rows[rows <= last], features[i])

    def best_over(folds):
        rows = np.concatenate([oracle.tests[k] for k in folds])
        losses = [
            oracle.loss(
                oracle.y[rows], np.vstack([before(k, p) for k in folds]), oracle.weigh(rows)
            )
            for p in oracle.points
        ]
        return oracle.points[int(np.argmin(losses))]

    def best_by_halves():
        """Return the choice for the first judged fold: only one fold lies before it."""
        rows = oracle.tests[0][oracle.tests[0] <= max(oracle.splits[1][0])]
        half = (len(rows) + 1) // 2
        one, two = features[0][:half], features[0][half : len(rows)]
        losses = [
            oracle.loss(oracle.y[rows[half:]], oracle.stack(p, one, rows[:half], two), None)
            for p in oracle.points
        ]
        return oracle.points[int(np.argmin(losses))]

    judged = list(oracle.folds)[1:]
    for i in judged:
        answer.rows.append(oracle.tests[i])
        answer.chosen_for.append(best_over(range(1, i)) if i > 1 else best_by_halves())
        answer.judged.append(before(i, answer.chosen_for[-1]))
    rows = np.concatenate(answer.rows)
    answer.score = -oracle.loss(oracle.y[rows], np.vstack(answer.judged), oracle.weigh(rows))
    answer.chosen = best_over(judged)
    answer.oos = np.vstack(features)
    nodes = {"folds": [(frozenset({i}), i) for i in oracle.folds], "refit": [(frozenset(), None)]}
    new = oracle.mean_over(nodes[predict_with], X_new)
    rows = np.concatenate(oracle.tests)
    answer.predictions = oracle.stack(answer.chosen, answer.oos, rows, new)
    return answer
