from dataclasses import replace

import lightgbm
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, logit, softmax

from foldwise.stack.stackers.candidates import respond
from foldwise.stack.stackers.further import WORDS, FurtherStacker, boosted_further
from foldwise.stack.stackers.means import OneClass, WeightedMean
from foldwise.stack.table.read import Features, clip_amount

N = 300
rng = np.random.default_rng(0)
COLUMNS = rng.normal(size=(N, 3))
LABELS = {None: None, 2: np.arange(2), 3: np.arange(3)}


def features_of(n_classes, columns=COLUMNS, shift=0.0) -> Features:
    signal = columns[:, [0]] + [0.3, 0.0, -0.3]
    noise = np.random.default_rng(1).normal(size=(2, *signal.shape))
    if n_classes is None:
        outputs = [shift + signal[:, :1] + noise[m, :, :1] for m in range(2)]
    elif n_classes == 2:
        outputs = [expit(signal[:, :1] + noise[m, :, :1]) for m in range(2)]
    else:
        outputs = [softmax(signal * columns + noise[m], axis=1) for m in range(2)]
    kind = "value" if n_classes is None else "probability"
    return Features(
        outputs, ("a", "b"), (kind, kind), LABELS[n_classes], float(N), encode=lambda: columns
    )


def target_of(n_classes, shift=0.0):
    raw = COLUMNS[:, 0] + COLUMNS[:, 1] ** 2
    return raw + shift if n_classes is None else np.digitize(raw, [0.5, 1.5][: n_classes - 1])


def grown(n_classes, weights=(0.5, 0.5), weight=None, shift=0.0) -> FurtherStacker:
    base = WeightedMean("mean", None, LABELS[n_classes])
    base.weights_ = np.array(weights)
    features, y = features_of(n_classes, shift=shift), target_of(n_classes, shift)
    return boosted_further(FurtherStacker(base), features, y, weight, 20, 7)


def lightgbms(n_classes, rounds, weight=None):
    """Return what LightGBM says, told to go on from the mean of the answers."""
    features = features_of(n_classes)
    start = respond(grown(n_classes).base, features).values
    answers = (features.members if n_classes is None else features.logits).reshape(N, -1)
    known = {None: "regression", 2: "binary", 3: "multiclass"}[n_classes]
    words = {**WORDS, "objective": known, "seed": 7, "min_data_in_leaf": 20}
    words |= {"num_class": 3} if n_classes == 3 else {}
    if n_classes is None:
        F = start
    else:
        start = np.clip(start, clip_amount(N), 1 - clip_amount(N))
        F = logit(start[:, 1:]) if n_classes == 2 else np.log(start)
    y = target_of(n_classes)
    label, init = (y - F[:, 0], None) if n_classes is None else (y, F.ravel(order="F"))
    table = np.hstack([answers, COLUMNS])
    data = lightgbm.Dataset(table, label, weight=weight, init_score=init)
    trees = lightgbm.train(words, data, rounds).predict(table, raw_score=True)
    return F + trees.reshape(N, -1)


@pytest.mark.parametrize("n_classes", [None, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_says_what_lightgbm_says_that_goes_on_from_the_stacker(n_classes, weighted) -> None:
    weight = np.linspace(0.5, 2.0, N) if weighted else None
    found = grown(n_classes, weight=weight)
    F = lightgbms(n_classes, 20, weight)
    expected = {None: F, 2: np.column_stack([expit(-F), expit(F)]), 3: softmax(F, axis=1)}
    assert_allclose(respond(found, features_of(n_classes)).values, expected[n_classes], rtol=1e-9)


def test_learners_without_weight_are_not_read() -> None:
    found = grown(None, weights=(1.0, 0.0))
    assert found.ignored(["a", "b"]) == {"b"}
    features = features_of(None)
    outputs = [features.outputs[0], np.full((N, 1), 1e9)]
    other = replace(features, outputs=outputs)
    assert_array_equal(respond(found, other).values, respond(found, features).values)


def test_a_target_far_from_zero_is_followed_as_closely() -> None:
    near, far = (
        respond(grown(None, shift=shift), features_of(None, shift=shift)).values[:, 0] - shift
        for shift in (0.0, 1e9)
    )
    errors = [np.sqrt(np.mean((found - target_of(None)) ** 2)) for found in (near, far)]
    assert_allclose(errors[1], errors[0], rtol=0.1)


def test_what_goes_on_from_is_calibrated() -> None:
    class Halved:
        @staticmethod
        def apply(response):
            return replace(response, values=response.values / 2)

    features, base = features_of(None), grown(None).base
    found = boosted_further(FurtherStacker(base, Halved()), features, target_of(None), None, 20, 7)
    start = respond(base, features).values / 2
    assert_array_equal(respond(found.base, features, found.correction).values, start)
    steps = found.steps(features)[:, None]
    assert_allclose(respond(found, features).values, start + steps, rtol=1e-12)
    assert np.abs(steps - grown(None).steps(features)[:, None]).max() > 0.01


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_of_one_class_are_no_error(n_classes) -> None:
    base, features = FurtherStacker(OneClass(0, "probability")), features_of(n_classes)
    found = boosted_further(base, features, np.zeros(N, np.intp), None, 20, 0)
    values = respond(found, features).values
    assert_allclose(values.sum(axis=1), 1.0)
    assert (values[:, 0] > 0.9).all()


def test_trees_end_when_time_is_up() -> None:
    base = FurtherStacker(grown(None).base)
    found = boosted_further(base, features_of(None), target_of(None), None, 20, 7, until=0.0)
    assert found.model.rounds == 1


def test_weights_shown_are_those_of_the_stacker() -> None:
    assert_array_equal(grown(None, weights=(0.2, 0.8)).weights_, [0.2, 0.8])
    assert not hasattr(grown(None), "coef_")
