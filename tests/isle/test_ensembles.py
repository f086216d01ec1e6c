import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator

from foldwise.errors import InvalidDataError
from foldwise.isle.ensembles import fitted_ensemble
from foldwise.isle.table import CodedTable, Columns

TABLE = CodedTable(np.arange(24.0).reshape(12, 2), Columns.numeric(2))
Y = np.arange(12.0) % 2


def test_a_frozen_model_is_returned_as_it_is():
    model = RandomForestClassifier(2).fit(TABLE.values, Y)
    frozen = FrozenEstimator(model)
    assert fitted_ensemble("me", frozen, TABLE, Y, np.ones(12), "logistic") is model


def test_any_other_model_is_cloned_and_fitted_with_whole_classes():
    model = RandomForestClassifier(2)
    fitted = fitted_ensemble("me", model, TABLE, Y, np.ones(12), "logistic")
    assert fitted is not model
    assert fitted.classes_.dtype.kind == "i"


def test_other_columns_are_refused():
    frozen = FrozenEstimator(RandomForestClassifier(2).fit(np.eye(12), Y))
    with pytest.raises(InvalidDataError) as caught:
        fitted_ensemble("me", frozen, TABLE, Y, np.ones(12), "logistic")
    assert str(caught.value) == (
        "me: X must have the 12 columns the ensemble was fitted on; got 2. Pass the same columns."
    )
