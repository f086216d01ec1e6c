import numpy as np
import pytest
from scipy.special import expit

from foldwise.combine.calibration import (
    choose_calibration,
    cross_calibrated,
    default_methods,
    fit_calibrator,
    probabilities_of,
)
from tests.combine.calibration.predictions import breast_cancer, log_loss

AUTO = default_methods(2)


def draw(bend, n=2000, seed=0):
    """Return logits, the classes drawn from bend(logits), and folds."""
    rng = np.random.default_rng(seed)
    z = rng.normal(scale=2.0, size=n)
    return z, (rng.uniform(size=n) < expit(bend(z))).astype(int), np.arange(n) % 5


def choose(z, y, fold, methods=AUTO, **options):
    return choose_calibration(z, y, methods, fold, plain=probabilities_of(z), **options)


def test_right_probabilities_are_left_alone() -> None:
    left = [choose(*draw(lambda z: z, seed=seed)).method == "none" for seed in range(10)]
    assert sum(left) >= 9


def test_the_simplest_sufficient_method_is_found() -> None:
    assert choose(*draw(lambda z: 0.4 * z)).method == "temperature"
    assert choose(*draw(lambda z: z + 1.0)).method == "platt"
    assert choose(*draw(lambda z: np.where(z > 0, 2 * z, 0.3 * z))).method in ("beta", "quadratic")


def test_every_loss_is_that_of_rows_which_did_not_fit() -> None:
    z, y = breast_cancer()
    fold = np.arange(len(y)) % 3
    found = choose(z, y, fold)
    p = np.empty((len(y), 2))
    for one in range(3):
        fitted = fit_calibrator("beta", z[fold != one], y[fold != one])
        p[fold == one] = fitted.predict(z[fold == one])
    assert found.losses["beta"] == pytest.approx(log_loss(p, y), rel=1e-12)
    assert found.losses["none"] == pytest.approx(log_loss(probabilities_of(z), y), rel=1e-9)
    assert list(found.losses) == list(AUTO)


def test_the_map_is_fitted_on_all_rows() -> None:
    z, y, fold = draw(lambda z: z + 1.0)
    found = choose(z, y, fold, ("platt",))
    assert found.losses == {}
    np.testing.assert_array_equal(found.map.predict(z), fit_calibrator("platt", z, y).predict(z))


def test_forward_in_time_later_folds_do_not_choose_for_earlier_ones() -> None:
    z, y = breast_cancer()
    fold = np.sort(np.arange(len(y)) % 4)
    rows, p = cross_calibrated("platt", z, y, fold, in_order=True)
    assert rows.tolist() == np.flatnonzero(fold > 0).tolist()
    fitted = fit_calibrator("platt", z[fold < 2], y[fold < 2])
    np.testing.assert_array_equal(p[fold[rows] == 2], fitted.predict(z[fold == 2]))


def test_a_row_does_not_calibrate_itself() -> None:
    z, y, fold = draw(lambda z: z, n=100)
    _, before = cross_calibrated("isotonic", z, y, fold)
    rows, after = cross_calibrated("isotonic", z, np.where(fold == 2, 1 - y, y), fold)
    here = fold[rows] == 2
    np.testing.assert_array_equal(before[here], after[here])
    assert not np.array_equal(before[~here], after[~here])


def test_one_fold_leaves_the_first_method() -> None:
    z, y, _ = draw(lambda z: 0.2 * z, n=50)
    assert choose(z, y, np.zeros(50, dtype=int)).method == "none"


def test_groups_make_a_choice_harder() -> None:
    """Ten copies of each row are no more evidence than the row."""
    z, y, fold = draw(lambda z: 0.7 * z, n=60, seed=2)
    many = np.repeat(np.arange(60), 10)
    alone = choose(z, y, fold)
    copies = choose(z[many], y[many], fold[many], unit=many)
    careless = choose(z[many], y[many], fold[many])
    assert alone.method == copies.method == "none"
    assert careless.method != "none"


@pytest.mark.parametrize(("n_classes", "last"), [(2, "quadratic"), (3, "matrix"), (99, "vector")])
def test_the_list_depends_on_the_number_of_classes(n_classes, last) -> None:
    methods = default_methods(n_classes)
    assert (methods[0], methods[-1]) == ("none", last)
