from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from foldwise.learners import NodeFit, NodeTask, TrainingData


def test_what_goes_into_a_fit_cannot_be_exchanged_on_the_way():
    for thing, name in [
        (TrainingData(np.eye(2), np.zeros(2)), "y"),
        (NodeTask(np.arange(2), np.arange(0)), "train"),
        (NodeFit(), "model"),
    ]:
        with pytest.raises(FrozenInstanceError):
            setattr(thing, name, None)


def test_a_fit_without_predictions_has_an_empty_matrix_of_its_own():
    assert NodeFit().predictions.shape == (0, 0)
    assert NodeFit().predictions is not NodeFit().predictions
