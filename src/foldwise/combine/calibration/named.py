"""Calibration methods by name, for two classes and for several."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from foldwise.arrays import FloatArray, IntArray
from foldwise.checks import check_word
from foldwise.combine.calibration.isotonic import fit_isotonic, fit_venn_abers
from foldwise.combine.calibration.logistic import fit_beta, fit_platt, fit_quadratic
from foldwise.combine.calibration.logits import CalibrationMap, against_the_rest
from foldwise.combine.calibration.network import fit_network
from foldwise.combine.calibration.scaling import (
    Temperature,
    fit_matrix_scaling,
    fit_temperature,
    fit_vector_scaling,
)

Fit = Callable[[FloatArray, IntArray, FloatArray | None], CalibrationMap]

FOR_TWO: dict[str, Fit] = {
    "platt": fit_platt,
    "beta": fit_beta,
    "quadratic": fit_quadratic,
    "isotonic": fit_isotonic,
    "venn_abers": fit_venn_abers,
}
FOR_ANY: dict[str, Fit] = {
    "temperature": fit_temperature,
    "vector": fit_vector_scaling,
    "matrix": fit_matrix_scaling,
    "network": fit_network,
}
METHODS = (*FOR_ANY, *FOR_TWO)


@dataclass(frozen=True)
class OneAgainstRest(CalibrationMap):
    """One map a class, each against all others, and the results divided by their sum.

    Attributes
    ----------
    maps : tuple of CalibrationMap
        In the order of the classes.

    Examples
    --------
    >>> import numpy as np
    >>> logits, y = np.eye(3)[[0, 1, 2, 0]], np.array([0, 1, 2, 1])
    >>> map_ = fit_calibrator("platt", logits, y)
    >>> type(map_).__name__, map_.predict(logits).sum(axis=1)
    ('OneAgainstRest', array([1., 1., 1., 1.]))
    """

    maps: tuple[CalibrationMap, ...]

    def _calibrated(self, logits: FloatArray) -> FloatArray:
        each = [
            one.predict(against_the_rest(logits, code))[:, 1] for code, one in enumerate(self.maps)
        ]
        # Rows that every class disowns are shared alike.
        shares = np.column_stack(each) + np.finfo(np.float64).tiny
        return shares / shares.sum(axis=1, keepdims=True)


def fit_calibrator(
    method: str, logits: FloatArray, y: IntArray, sample_weight: FloatArray | None = None
) -> CalibrationMap:
    """Fit the calibration method of that name.

    Parameters
    ----------
    method : str
        "temperature", "vector", "matrix", "network", or one for two classes: "platt", "beta",
        "quadratic", "isotonic", "venn_abers". For several classes these are fitted to each
        class against the others.
    logits : ndarray of shape (n_samples,), (n_samples, 1) or (n_samples, n_classes)
        Log-odds of the second of two classes, or a column for each of several.
    y : ndarray of int of shape (n_samples,)
        Class codes.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.

    Returns
    -------
    CalibrationMap
        With ``predict(logits)``, which returns probabilities of all classes. Without rows, or
        without weight, it changes nothing.

    Examples
    --------
    >>> import numpy as np
    >>> logits = np.log([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8]] * 30)
    >>> fitted = fit_calibrator("beta", logits, np.tile([0, 1, 2], 30))
    >>> fitted.predict(logits[:3]).argmax(axis=1)
    array([0, 1, 2])
    """
    check_word("fit_calibrator", "method", method, METHODS)
    if not len(y) or (sample_weight is not None and sample_weight.sum() == 0):
        return Temperature(1.0)
    fit = FOR_ANY.get(method) or FOR_TWO[method]
    if method in FOR_ANY or logits.ndim == 1 or logits.shape[1] <= 2:
        return fit(logits, y, sample_weight)
    maps = [
        fit(against_the_rest(logits, code), (y == code).astype(np.intp), sample_weight)
        for code in range(logits.shape[1])
    ]
    return OneAgainstRest(tuple(maps))
