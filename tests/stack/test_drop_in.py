"""Promise 5: scikit-learn's own stacking tests, with the import changed.

The installed module is loaded a second time while ``sklearn.ensemble`` offers our classes in
place of its own, and its tests are collected here. What is left out stands in LEFT_OUT with
the difference (DESIGN section 3) that it touches; where that difference can be switched off,
LIKE_SCIKIT_LEARN runs the test with it switched off.
"""

import functools
import importlib.util
import inspect
from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest
import sklearn.ensemble
from sklearn.linear_model import LogisticRegression, RidgeCV

import foldwise

HOME = "sklearn.ensemble.tests.test_stacking"


class StackingClassifier(foldwise.StackingClassifier):
    """Ours with every listed difference switched off."""

    def __init__(
        self,
        estimators,
        final_estimator=None,
        *,
        cv=None,
        stack_method="auto",
        passthrough=False,
        predict_with="refit",
        on_error="raise",
        n_jobs=None,
        random_state=0,
    ):
        super().__init__(
            estimators,
            final_estimator,
            cv=cv,
            stack_method=stack_method,
            passthrough=passthrough,
            predict_with=predict_with,
            on_error=on_error,
            n_jobs=n_jobs,
            random_state=random_state,
        )
