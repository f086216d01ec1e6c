import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge

from foldwise.learners import NodeTask, TrainingData
from foldwise.learners.fitted import fitted, predicted_by_models

FRAME = pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [1.0, 1.0, 0.0]})


def test_a_model_made_from_numbers_predicts_and_knows_its_columns():
    learner = Ridge()
    model = fitted(learner, FRAME, 5, {"coef_": np.array([1.0, 10.0]), "intercept_": 0.5})
    assert list(model.feature_names_in_) == ["a", "b"]
    assert model.n_features_in_ == 2
    assert model.random_state == 5
    np.testing.assert_array_equal(model.predict(FRAME), [10.5, 11.5, 2.5])
    assert not hasattr(learner, "coef_")


def test_only_tasks_with_a_model_are_predicted_and_only_kept_models_are_kept():
    model = fitted(Ridge(), FRAME, None, {"coef_": np.array([1.0, 0.0]), "intercept_": 0.0})
    rows = np.arange(3)
    tasks = [NodeTask(rows, rows[:1]), NodeTask(rows, rows[1:]), NodeTask(rows, rows, None, False)]
    data = TrainingData(FRAME, np.zeros(3))
    fits = predicted_by_models([None, model, model], data, tasks, "predict", [1.0, 2.0, 3.0])
    assert fits[0] is None
    np.testing.assert_array_equal(fits[1].predictions, [[1.0], [2.0]])
    assert fits[1].model is model
    assert fits[2].model is None
    assert fits[2].fit_seconds == 3.0
