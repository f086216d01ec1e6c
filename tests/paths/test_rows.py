import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

from foldwise.paths import cross_validated_path, penalised_path
from foldwise.paths.rows import robust_delta

D, Y = np.eye(3), np.arange(3.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"loss": "logistc"},
            "penalised_path: loss must be one of 'squared', 'logistic', 'multinomial', 'poisson', "
            "'huber'; got 'logistc'. Did you mean 'logistic'?",
        ),
        (
            {"l1_ratio": 2},
            "penalised_path: l1_ratio must be a number at least 0 and at most 1; got 2. "
            "Try 1.0, the lasso; 0 is ridge.",
        ),
        (
            {"penalty_factor": [1, -1, 1]},
            "penalised_path: penalty_factor must be 3 numbers, none of them negative; "
            "got [1, -1, 1]. Leave it out to penalise all columns alike.",
        ),
        (
            {"sample_weight": [1.0, 2.0]},
            "penalised_path: y, sample_weight and offset must have one entry for each of the 3 "
            "rows of D; got [(3,), (2,), (3,)]. Drop or repeat rows in all of them alike.",
        ),
    ],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        penalised_path(D, Y, **options)


def test_bad_folds_are_named():
    message = (
        "cross_validated_path: fold_of must be 3 integers, at least two of them different; "
        "got [1, 1, 1]. Number the folds 0, 1, 2, ..."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        cross_validated_path(D, Y, fold_of=[1, 1, 1])


def test_hubers_default_is_the_same_for_weights_and_repetition():
    rng = np.random.default_rng(0)
    y, w = rng.normal(size=31), rng.integers(0, 4, 31)
    again = np.repeat(y, w)
    assert_allclose(robust_delta(y, w.astype(float)), robust_delta(again, np.ones(len(again))))
    middle = np.median(again)
    assert_allclose(
        robust_delta(again, np.ones(len(again))),
        1.345 * 1.4826 * np.median(np.abs(again - middle)),
    )
