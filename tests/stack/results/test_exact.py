"""The corrected score against one worked out by hand, model by model."""

import itertools
import re
import tracemalloc

import numpy as np
import pytest
from scipy.stats import t
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss, r2_score, roc_auc_score
from sklearn.model_selection import KFold, LeaveOneGroupOut, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foldwise import StackingClassifier, StackingRegressor
from foldwise.scores.exact import covariance_of_means, missed_mean, ratios, shared_covariance
from foldwise.stack import problem
from foldwise.stack.results.exact import board_of

N = 66
RNG = np.random.default_rng(5)
X = RNG.random((N, 4))
Y = 3 * X[:, 0] + np.sin(6 * X[:, 1]) + 0.3 * RNG.normal(size=N)
CLASSES = (np.median(Y) < Y).astype(int)
GROUPS = np.arange(N) // 3
WEIGHTS = RNG.integers(1, 4, N).astype(float)
RIDGE, TREE = Ridge(0.1), DecisionTreeRegressor(max_depth=4, random_state=0)


def folds(n_folds: int, kind: str) -> list:
    """Return splits: equal folds, unequal ones, or whole groups."""
    rng = np.random.default_rng(n_folds)
    deal = rng.permutation(N)
    if kind == "groups":
        deal = np.concatenate([np.flatnonzero(g == GROUPS) for g in rng.permutation(N // 3)])
    cuts = np.linspace(0, N, n_folds + 1).astype(int)
    if kind == "unequal":
        cuts = (N * (np.arange(n_folds + 1) / n_folds) ** 1.5).astype(int)
    if kind == "groups":
        cuts = cuts // 3 * 3
    tests = [np.sort(deal[a:b]) for a, b in itertools.pairwise(cuts)]
    return [(np.setdiff1d(np.arange(N), test), test) for test in tests]


class ByHand:
    """A, B and C of every judged fold, all models fitted anew."""

    def __init__(self, learners, top, splits, weight=None, groups=None, partners=None) -> None:
        self.tests, self.K = [test for _, test in splits], len(splits)
        self.partners = self.K - 1 if partners is None else partners
        self.learners, self.weight, self.groups = learners, weight, groups
        self.rows = np.concatenate(self.tests)
        self.a, self.c, self.b = [], [], []
        for i in range(self.K):
            others = self.beside(i)
            seen = np.concatenate([self.tests[j] for j in others])
            oos = np.vstack([self.predicted({i, j}, self.tests[j]) for j in others])
            stacker = clone(top).fit(oos, Y[seen], None if weight is None else weight[seen])
            pairs = [self.predicted({i, j}, self.tests[i]) for j in others]
            self.a.append((np.mean(pairs, axis=0), stacker.predict(np.mean(pairs, axis=0))))
            alone = self.predicted({i}, self.tests[i])
            self.c.append((alone, stacker.predict(alone)))
            self.b.append([(pair, stacker.predict(pair)) for pair in pairs])

    def beside(self, i) -> list:
        """Return the folds that a fold is paired with: those dealt farthest from it."""
        away = [min((i - j) % self.K, (j - i) % self.K) for j in range(self.K)]
        far = sorted({a for a in away if 2 * a != self.K or self.partners == self.K - 1})
        least = far[-((self.partners + 1) // 2)]
        return [j for j in range(self.K) if away[j] in far and away[j] >= least]

    def left(self, out) -> np.ndarray:
        return np.setdiff1d(np.arange(N), np.concatenate([self.tests[k] for k in out] or [[]]))

    def predicted(self, out, rows) -> np.ndarray:
        seen = self.left(out)
        weight = None if self.weight is None else self.weight[seen]
        models = [clone(m).fit(X[seen], Y[seen], weight) for m in self.learners]
        return np.column_stack([m.predict(X[rows]) for m in models])

    def size(self, out) -> int:
        seen = self.left(out)
        return len(seen) if self.groups is None else len(np.unique(self.groups[seen]))

    def kappa(self) -> float:
        each = []
        for i in range(self.K):
            pairs = [self.size({i, j}) for j in self.beside(i)]
            step = np.mean([1 / m for m in pairs]) - 1 / self.size({i})
            each.append((1 / self.size({i}) - 1 / self.size(set())) / step)
        return float(np.mean(each))

    def corrected(self, predict_with, column=None) -> np.ndarray:
        """Return the squared errors of the judged rows, and after the correction."""

        def errors(found, i):
            values = found[1] if column is None else found[0][:, column]
            return (values - Y[self.tests[i]]) ** 2

        own = self.c if predict_with == "refit" else self.a
        larger = self.a if predict_with == "pairs" else self.c
        kappa = {"folds": (1 + self.kappa()) / 2, "refit": self.kappa(), "pairs": 1 / self.K}
        d = np.concatenate([errors(own[i], i) for i in range(self.K)])
        c = np.concatenate([errors(larger[i], i) for i in range(self.K)])
        b = np.concatenate(
            [np.mean([errors(one, i) for one in self.b[i]], axis=0) for i in range(self.K)]
        )
        weight = np.ones(N) if self.weight is None else self.weight[self.rows]
        off = kappa[predict_with] * (b - c)
        if predict_with == "folds":
            off = off + (1 / self.partners - 1 / (self.K - 1)) / (1 - 1 / self.partners) * (b - d)
        step = np.average(off, weights=weight)
        limited = np.clip(step, 0, np.average(d, weights=weight) / 4)
        return d, d - off * limited / step, weight

    def inflation(self, shares) -> float:
        """Return the factor of the standard error, from the learners' squared errors."""
        each = []
        for m in range(len(self.learners)):
            own = [(self.c[i][0][:, m] - Y[t]) ** 2 for i, t in enumerate(self.tests)]
            table = np.zeros((self.K, self.K))
            for i, j in itertools.permutations(range(self.K), 2):
                answer = self.predicted({i, j}, self.tests[i])[:, m]
                table[i, j] = np.mean((answer - Y[self.tests[i]]) ** 2)
            each.append(self.ratio(table, own))
        return float(np.sqrt(min(np.average(each, weights=shares), self.K)))

    def ratio(self, table, losses) -> float:
        """Return the variance of the mean loss over the one that rows alone give."""
        shared = shared_covariance(table[:, :, None], np.array([len(t) for t in self.tests]))
        return ratios(shared, covariance_of_means(np.concatenate(losses)[:, None]))[0, 0]

    def by_whole(self, top, predict_with) -> tuple[np.ndarray, float]:
        """Return learners' and stack's corrected squared errors, and the stack's own ratio.

        All by what is trained without two folds, the stacker too.
        """
        own = self.a if predict_with == "folds" else self.c
        judged = [(np.column_stack(own[i]).T - Y[t]) ** 2 for i, t in enumerate(self.tests)]
        table = np.zeros((self.K, self.K, len(self.learners) + 1))
        for i, j in itertools.permutations(range(self.K), 2):
            rest = sorted(set(range(self.K)) - {i, j})
            seen = np.concatenate([self.tests[k] for k in rest])
            oos = np.vstack([self.predicted({i, j, k}, self.tests[k]) for k in rest])
            asked = self.predicted({i, j}, self.tests[i])
            if predict_with == "folds":
                asked = np.mean([self.predicted({i, j, k}, self.tests[i]) for k in rest], 0)
            answer = np.column_stack([asked, clone(top).fit(oos, Y[seen]).predict(asked)])
            table[i, j] = np.mean((answer.T - Y[self.tests[i]]) ** 2, axis=1)
        share = np.array([len(t) for t in self.tests]) / N
        loss, smaller = np.hstack(judged).mean(axis=1), share @ table.sum(axis=1) / (self.K - 1)
        corrected = loss - np.clip(self.kappa() * (smaller - loss), 0, loss / 4)
        return corrected, self.ratio(table[:, :, -1], [each[-1] for each in judged])


@pytest.mark.parametrize("predict_with", ["folds", "refit", "pairs"])
@pytest.mark.parametrize(
    ("n_folds", "kind", "weighted"),
    [(4, "equal", False), (5, "equal", False), (5, "unequal", False), (4, "groups", False),
     (5, "unequal", True)],
)  # fmt: skip
def test_the_score_is_what_the_formula_says_by_hand(n_folds, kind, weighted, predict_with) -> None:
    splits = folds(n_folds, kind)
    groups, weight = GROUPS if kind == "groups" else None, WEIGHTS if weighted else None
    hand = ByHand([RIDGE, TREE], Ridge(1.0), splits, weight, groups)
    stack = StackingRegressor(
        [("ridge", RIDGE), ("tree", TREE)], Ridge(1.0), cv=splits, predict_with=predict_with
    ).fit(X, Y, sample_weight=weight, groups=groups)
    board = stack.leaderboard_.set_index("model")
    for name, column in (("stack", None), ("ridge", 0), ("tree", 1)):
        before, after, share = hand.corrected(predict_with, column)
        root = np.sqrt(np.average(after, weights=share))
        assert board.loc[name, "root_mean_squared_error"] == pytest.approx(root, rel=1e-8)
        if name == "stack":
            assert -stack.score_ == pytest.approx(root, rel=1e-8)
            plain = np.sqrt(np.average(before, weights=share))
            assert -stack.score_uncorrected_ == pytest.approx(plain, rel=1e-8)
            assert stack.score_correction_.size == pytest.approx(plain - root, abs=1e-9)
            assert stack.score_correction_.kind == ("step" if plain > root else "limited")
            most = n_folds - 2 if predict_with == "pairs" else 1
            further = np.average(before - most * (before - after), weights=share)
            (exact,) = [board_of(deal).rows["stack"] for deal in stack.deals_]
            assert exact.more == pytest.approx(root - np.sqrt(further), abs=1e-9)
            # The ends are as many times the least and the most that the loss may be.
            assert np.prod(stack.score_interval_) == pytest.approx(root * np.sqrt(further))


@pytest.mark.parametrize(
    ("n_folds", "kind", "partners", "predict_with"),
    [(5, "unequal", 2, "folds"), (7, "equal", 4, "folds"), (6, "groups", 2, "refit")],
)
def test_folds_with_few_partners_are_judged_by_these_alone(
    n_folds, kind, partners, predict_with
) -> None:
    splits, groups = folds(n_folds, kind), GROUPS if kind == "groups" else None
    hand = ByHand([RIDGE, TREE], Ridge(1.0), splits, groups=groups, partners=partners)
    how = {"cv": splits, "predict_with": predict_with}
    stack = StackingRegressor(
        [("ridge", RIDGE), ("tree", TREE)], Ridge(1.0), partners=partners, **how
    ).fit(X, Y, groups=groups)
    before, after, _ = hand.corrected(predict_with)
    assert before.mean() > after.mean(), "the example should not be trivial"
    assert -stack.score_ == pytest.approx(np.sqrt(after.mean()), rel=1e-8)
    assert -stack.score_uncorrected_ == pytest.approx(np.sqrt(before.mean()), rel=1e-8)
    assert ("are more and saw" in stack.score_correction_.reason) == (predict_with == "folds")
    per_learner = n_folds + n_folds * partners // 2 + (predict_with == "refit")
    assert stack.run_.fits == 2 * per_learner
    whole = StackingRegressor(
        [("ridge", RIDGE), ("tree", TREE)], Ridge(1.0), partners="all", **how
    ).fit(X, Y, groups=groups)
    assert np.array_equal(stack.predict(X), whole.predict(X))
    assert stack.score_ != whole.score_


def test_what_few_models_miss_of_the_mean_of_all_is_exact_for_squared_errors() -> None:
    answers, partners = RNG.normal(size=(7, 30)), 3
    losses = (answers - 0.3) ** 2
    means = [answers[list(s)].mean(0) for s in itertools.combinations(range(7), partners)]
    a, b = np.mean([(mean - 0.3) ** 2 for mean in means]), losses.mean()
    everything = np.mean((answers.mean(0) - 0.3) ** 2)
    assert a - missed_mean(partners, 8) * (b - a) == pytest.approx(everything, rel=1e-12)


def test_as_many_partners_as_there_are_folds_are_all_of_them() -> None:
    learners = [("ridge", RIDGE), ("tree", TREE)]
    stacks = [
        StackingRegressor(learners, cv=folds(5, "equal"), partners=partners).fit(X, Y)
        for partners in ("all", 4, 8)
    ]
    assert len({stack.score_ for stack in stacks}) == len({s.score_se_ for s in stacks}) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"partners": 3}, "an even number, at least 2; got 3. Use 2."),
        ({"partners": True}, "got True"),
        ({"partners": "some"}, "got 'some'"),
        ({"partners": 2, "predict_with": "pairs"}, "got 2 with predict_with='pairs'"),
        ({"partners": 2, "score_se": "nested"}, "got 2 with score_se='nested'"),
        ({"partners": 2, "cv": TimeSeriesSplit(4)}, "got 2 with folds forward in time"),
    ],
)
def test_partners_that_cannot_be_are_refused(arguments, words) -> None:
    stack = StackingRegressor([("ridge", RIDGE), ("tree", TREE)], **arguments)
    with pytest.raises(ValueError, match=re.escape(words)):
        stack.fit(X, Y)


def test_what_log_losses_may_gain_by_more_models_is_left_to_the_interval() -> None:
    learners = [("tree", DecisionTreeClassifier(max_depth=4, min_samples_leaf=4, random_state=0))]
    how = {"cv": 8, "random_state": 0}
    ring = StackingClassifier(learners, "mean", partners=2, **how).fit(X, CLASSES)
    (exact,) = [board_of(deal).rows["stack"] for deal in ring.deals_]
    assert exact.more > 0
    # The ends are as many times the least and the most that the loss may be.
    least = -ring.score_ - exact.more
    assert np.prod(ring.score_interval_) == pytest.approx(-ring.score_ * least)
    node = StackingClassifier(learners, "mean", partners=2, predict_with="refit", **how)
    (exact,) = [board_of(deal).rows["stack"] for deal in node.fit(X, CLASSES).deals_]
    assert exact.more == 0


def test_of_many_folds_a_ring_may_be_fitted_where_all_pairs_are_too_many() -> None:
    learners = [("ridge", RIDGE), ("tree", TREE)]
    groups = np.arange(N) // 2
    for cv in (33, KFold(33), LeaveOneGroupOut()):
        with pytest.raises(ValueError, match="got 33 folds, which need 561"):
            StackingRegressor(learners, "mean", cv=cv).fit(X, Y, groups=groups)
        stack = StackingRegressor(learners, "mean", cv=cv, partners=2).fit(X, Y, groups=groups)
        assert stack.n_fits_ == 2 * (33 + 33)


@pytest.mark.parametrize(("n_folds", "kind"), [(5, "equal"), (4, "unequal")])
@pytest.mark.parametrize("predict_with", ["folds", "refit"])
def test_the_standard_error_is_the_rows_one_inflated(n_folds, kind, predict_with) -> None:
    splits = folds(n_folds, kind)
    hand = ByHand([RIDGE, TREE], Ridge(1.0), splits)
    stack = StackingRegressor(
        [("ridge", RIDGE), ("tree", TREE)], Ridge(1.0), cv=splits, predict_with=predict_with
    ).fit(X, Y)
    _, after, _ = hand.corrected(predict_with)
    by_rows = after.std(ddof=1) / np.sqrt(N) / (2 * np.sqrt(after.mean()))
    wider = hand.inflation(np.abs(stack.stacker_.coef_))
    assert wider > 1, "the example should not be trivial"
    assert stack.score_se_ == pytest.approx(wider * by_rows, rel=1e-8)
    parts = (after - after.mean()) ** 2
    rows = parts.sum() ** 2 / np.sum(parts**2)
    degrees = max(rows * min(1, rows / np.sqrt(N)), 3)
    half = t.ppf(0.975, degrees) * stack.score_se_ / stack.score_
    ends = [stack.score_ * np.exp(-half), stack.score_ * np.exp(half)]
    assert stack.score_interval_ == pytest.approx(ends, rel=1e-8)


@pytest.mark.parametrize(("predict_with", "kind"), [("folds", "equal"), ("refit", "unequal")])
def test_whole_stacks_without_two_folds_give_the_own_step_and_factor(predict_with, kind) -> None:
    splits = folds(5, kind)
    hand = ByHand([RIDGE, TREE], Ridge(1.0), splits)
    learners = [("ridge", RIDGE), ("tree", TREE)]
    arguments = {"cv": splits, "predict_with": predict_with}
    plain = StackingRegressor(learners, Ridge(1.0), **arguments).fit(X, Y)
    stack = StackingRegressor(learners, Ridge(1.0), score_se="nested", **arguments).fit(X, Y)
    losses, ratio = hand.by_whole(Ridge(1.0), predict_with)
    (board,) = [board_of(deal) for deal in stack.deals_]
    assert board.ratios[0, 0] == pytest.approx(ratio, rel=1e-7)
    own = stack.leaderboard_.set_index("model")["root_mean_squared_error"]
    assert own[["ridge", "tree", "stack"]].to_numpy() ** 2 == pytest.approx(losses, rel=1e-7)
    same = plain.score_uncorrected_, plain.n_fits_ + 20
    assert (stack.score_uncorrected_, stack.n_fits_) == same
    assert stack.restack("mean").deals_[0].reading.nested


def test_every_choice_is_made_again_for_the_own_factor() -> None:
    learners = [("nb", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3, random_state=0))]
    stack = StackingClassifier(learners, calibrate="beta", score_se="nested", random_state=0)
    stack.fit(X, CLASSES, groups=GROUPS)
    first = stack.deals_[0].reading.nested[2][0]
    assert all({0, 2} < ref.node for block in (*first.train, first.test) for ref in block.refs)
    assert stack.score_se_ > 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"cv": 4}, "'nested' with 4 folds. Use 'learners'."),
        ({"cv": TimeSeriesSplit(6)}, "'nested' with folds forward in time. Use 'learners'."),
        ({"estimators": [[("a", RIDGE)], [("b", RIDGE)]]}, "'nested' with 2 layers. Use"),
        ({"tune": {"a": {"alpha": [1.0]}}}, "score_se must be 'learners' with tune; got 'nested'."),
        ({"score_se": "own"}, "score_se must be one of 'learners', 'nested'"),
    ],
)
def test_an_own_factor_that_cannot_be_had_is_refused(arguments, words) -> None:
    made = {"estimators": [("a", RIDGE)], "score_se": "nested", **arguments}
    with pytest.raises(ValueError, match=re.escape(words)):
        StackingRegressor(**made).fit(X, Y)


def test_it_is_said_when_few_rows_carry_the_loss() -> None:
    learners = [("ridge", RIDGE), ("tree", TREE)]
    assert StackingRegressor(learners, "mean", random_state=0).fit(X, Y).score_note_ == ""
    outlier = Y.copy()
    outlier[17] = 100.0
    stack = StackingRegressor(learners, "mean", random_state=0).fit(X, outlier)
    assert stack.score_note_.startswith("more than half of the uncertainty is in row 17: ")


def test_hits_and_ranks_have_no_heavy_rows() -> None:
    learners = [("nb", GaussianNB())]
    sure, wrong = np.column_stack([X, 20 * CLASSES]), CLASSES.copy()
    wrong[17] = 1 - wrong[17]
    for scoring, said in (("neg_log_loss", True), ("roc_auc", False), ("accuracy", False)):
        stack = StackingClassifier(learners, "mean", scoring=scoring, random_state=0)
        assert ("row 17:" in stack.fit(sure, wrong).score_note_) == said


def test_models_that_say_the_same_do_not_differ() -> None:
    twins = [("a", RIDGE), ("b", RIDGE)]
    stack = StackingRegressor(twins, "mean", random_state=0).fit(X, Y)
    # The mean of two equal numbers may differ from them in the last bit.
    assert (stack.leaderboard_["difference_se"] < 1e-15).all()


def ways(stack):
    """Return the stack's A, C and every B as responses of the judged rows, fold by fold."""
    (deal,) = stack.deals_
    found = []
    for judgement, judged in zip(deal.reading.judgements, deal.verdict.folds, strict=True):
        others = [j for j in range(deal.lattice.n_folds) if j != judgement.fold]
        pairs = [frozenset({judgement.fold, j}) for j in others]
        alone = frozenset({judgement.fold})

        def answer(nodes, judgement=judgement, judged=judged):
            members = []
            for entry in deal.top.entries:
                each = []
                for node in nodes:
                    rows, values = deal.top.table.predictions[entry.name, node, None]
                    each.append(values[np.searchsorted(rows, judgement.test.rows)])
                members.append(np.mean(each, axis=0))
            mean = np.mean(members, axis=0)
            response = type(deal.verdict.response)("probability", np.hstack([1 - mean, mean]))
            applied = judged.correction
            return (response if applied is None else applied.apply(response)).values[:, 1]

        found.append((answer(pairs), answer([alone]), [answer([node]) for node in pairs]))
    return deal, found


@pytest.mark.parametrize("calibrate", [None, "beta"])
@pytest.mark.parametrize("scoring", ["neg_log_loss", "roc_auc"])
@pytest.mark.parametrize("predict_with", ["folds", "refit"])
def test_classes_are_corrected_by_rows_and_ranks_by_folds(predict_with, scoring, calibrate) -> None:
    learners = [("nb", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3, random_state=0))]
    stack = StackingClassifier(
        learners, "mean", cv=5, predict_with=predict_with, scoring=scoring, calibrate=calibrate,
        random_state=0,
    ).fit(X, CLASSES)  # fmt: skip
    deal, found = ways(stack)
    tests = deal.lattice.tests

    def loss(way):
        if scoring == "neg_log_loss":
            values = np.concatenate([way(one) for one in found])
            return log_loss(CLASSES[np.concatenate(tests)], values)
        areas = [roc_auc_score(CLASSES[t], way(one)) for t, one in zip(tests, found, strict=True)]
        return 1 - np.mean(areas)

    a, c = loss(lambda one: one[0]), loss(lambda one: one[1])
    b = np.mean([loss(lambda one, k=k: one[2][k]) for k in range(4)])
    sizes = {
        node: len(deal.lattice.rows(node))
        for node in (frozenset(s) for s in [[], *[[i] for i in range(5)]])
    }
    kappa = np.mean([
        (1 / sizes[frozenset({i})] - 1 / N)
        / (np.mean([1 / len(deal.lattice.rows(frozenset({i, j}))) for j in range(5) if j != i])
           - 1 / sizes[frozenset({i})])
        for i in range(5)
    ])  # fmt: skip
    d, kappa = (a, (1 + kappa) / 2) if predict_with == "folds" else (c, kappa)
    expected = d - np.clip(kappa * (b - c), 0, d / 4)
    best = 0 if scoring == "neg_log_loss" else 1
    assert best - stack.score_ == pytest.approx(expected, rel=1e-9)
    assert best - stack.score_uncorrected_ == pytest.approx(d, rel=1e-9)


def test_a_metric_of_all_rows_together_is_corrected_too() -> None:
    learners = [("ridge", RIDGE), ("tree", TREE)]
    arguments = {"cv": folds(4, "equal"), "predict_with": "folds"}
    squared = StackingRegressor(learners, "mean", scoring="neg_mean_squared_error", **arguments)
    ratio = StackingRegressor(learners, "mean", scoring="r2", **arguments)
    squared.fit(X, Y)
    ratio.fit(X, Y)
    assert ratio.score_ > ratio.score_uncorrected_
    assert ratio.score_ == pytest.approx(1 + squared.score_ / Y.var())
    truth, judged = ratio.deals_[0].verdict.target.y, ratio.deals_[0].verdict.response.values
    assert ratio.score_uncorrected_ == pytest.approx(r2_score(truth, judged))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"predict_with": "pairs", "score_se": "nested"}, "predict_with='pairs'"),
        ({"predict_with": "pairs", "scoring": "neg_mean_absolute_error"}, "only squared errors"),
        ({"cv": 3}, "fewer than 4 folds"),
        ({"hold_out": "mean"}, "hold_out was given"),
        ({"hold_out": "node", "predict_with": "refit"}, "hold_out was given"),
        ({"cv": TimeSeriesSplit(5)}, "forward in time"),
        ({"cv": [(np.arange(40), np.arange(40, N))]}, "blending"),
    ],
)
def test_what_shows_no_learning_curve_is_left_as_it_is_and_says_so(arguments, words) -> None:
    stack = StackingRegressor([("ridge", RIDGE), ("tree", TREE)], random_state=0, **arguments)
    stack.fit(X, Y)
    assert stack.score_ == stack.score_uncorrected_
    assert (stack.score_correction_.kind, stack.score_correction_.size) == ("none", 0.0)
    assert words in stack.score_correction_.reason


def test_repeats_have_the_mean_of_their_corrected_scores() -> None:
    learners = [("ridge", RIDGE), ("tree", TREE)]
    many = StackingRegressor(learners, "mean", n_repeats=3, random_state=0).fit(X, Y)
    alone = []
    for deal in many.deals_:
        splits = list(zip(deal.lattice.trains, deal.lattice.tests, strict=True))
        alone.append(StackingRegressor(learners, "mean", cv=splits).fit(X, Y).score_)
    assert many.score_ == pytest.approx(np.mean(alone))


def test_choices_folds_and_fits_do_not_hear_of_it() -> None:
    learners = [("ridge", RIDGE), ("tree", TREE)]
    corrected = StackingRegressor(learners, random_state=0).fit(X, Y)
    plain = StackingRegressor(learners, hold_out="mean", random_state=0).fit(X, Y)
    assert corrected.score_ > plain.score_ == corrected.score_uncorrected_
    assert corrected.n_fits_ == plain.n_fits_ == 30
    np.testing.assert_array_equal(corrected.fold_scores_, plain.fold_scores_)
    np.testing.assert_array_equal(corrected.predict(X), plain.predict(X))


def test_folds_with_a_gap_between_them_are_corrected() -> None:
    rows = np.arange(N)
    gapped = [
        (rows[(rows < test[0] - 2) | (rows > test[-1] + 2)], test)
        for _, test in KFold(5).split(rows)
    ]
    for predict_with in ("folds", "refit"):
        stack = StackingRegressor([("ridge", RIDGE), ("tree", TREE)], "mean", cv=gapped)
        stack.set_params(predict_with=predict_with).fit(X, Y)
        assert stack.score_ > stack.score_uncorrected_


def test_two_layers_and_labels_are_corrected() -> None:
    layers = [[("ridge", RIDGE), ("tree", TREE)], [("high", Ridge())]]
    assert StackingRegressor(layers, "mean", random_state=0).fit(X, Y).score_correction_.kind != ""
    trees = [("a", DecisionTreeClassifier(max_depth=2)), ("b", LogisticRegression())]
    stack = StackingClassifier(trees, scoring="accuracy", random_state=0).fit(X, CLASSES)
    assert 0 <= stack.score_uncorrected_ <= stack.score_ <= 1


@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy", "roc_auc"])
def test_chance_moves_hits_and_ranks_up_and_down(scoring) -> None:
    steps = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y, noise = np.arange(40) % 2, rng.normal(size=(40, 3))
        stack = StackingClassifier(
            [("nb", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3, random_state=0))],
            "mean",
            scoring=scoring,
            random_state=seed,
        ).fit(noise, y)
        exact = board_of(stack.deals_[0]).rows["stack"]
        steps.append(stack.score_correction_.size)
        assert steps[-1] == pytest.approx(exact.raw)
        worse = stack.score_correction_.reason.startswith("models of more rows judged worse")
        assert worse == (exact.raw < 0)
    assert min(steps) < 0 < max(steps)


@pytest.mark.parametrize("partners", ["all", 2])
def test_few_tables_of_all_rows_and_models_are_held_at_once(partners, monkeypatch):
    X = np.random.default_rng(0).normal(size=(30_000, 3))
    learners = [(f"r{k}", Ridge(10.0**k)) for k in range(5)]
    stack = StackingRegressor(learners, random_state=0, partners=partners).fit(X, X[:, 0] ** 2)
    at_once = board_of(stack.deals_[0])
    monkeypatch.setattr(problem, "LARGE_ROWS", 1000)
    tracemalloc.start()
    try:
        board = board_of(stack.deals_[0])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * len(board.rows) * 8 * len(X)
    assert np.array_equal(board.ratios, at_once.ratios)
    assert list(board.rows) == list(at_once.rows)
    for one, other in zip(board.rows.values(), at_once.rows.values(), strict=True):
        assert one.evaluation.score == other.evaluation.score
        assert np.array_equal(one.evaluation.contributions, other.evaluation.contributions)
