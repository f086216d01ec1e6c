"""AutoStack tries a network where torch is installed, and trains it at all nodes at once."""

from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

from foldwise import NetClassifier, NetRegressor
from foldwise.auto.portfolio.encodings import encoded
from foldwise.auto.portfolio.member import TableProfile
from foldwise.auto.portfolio.members import portfolio
from foldwise.auto.tables import column_kinds
from foldwise.learners import NodeTask, TrainingData, fit_nodes, shortcut_for


@pytest.mark.parametrize(("n_classes", "kind"), [(None, NetRegressor), (3, NetClassifier)])
def test_a_network_is_tried_where_torch_is_installed(n_classes, kind) -> None:
    members = {m.name: m for m in portfolio(TableProfile(500, 5, n_classes, 50), 2)}
    assert ("neural" in members) == (find_spec("torch") is not None)
    if find_spec("torch") is None:
        return
    net = members["neural"].build(TableProfile(500, 5, n_classes, 50))
    assert type(net) is kind
    net.set_params(width=8, epochs=2, device="cpu")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"number": rng.standard_normal(90), "word": rng.choice(list("abc"), 90)})
    table.loc[::9, "number"] = np.nan
    data = TrainingData(table, np.arange(90) % 3, n_classes=n_classes)
    learner = encoded(net, "numbers", column_kinds(table), regression=n_classes is None)
    assert shortcut_for(learner, data) is not None
    tasks = [
        NodeTask(np.arange(60), np.arange(60, 90), 0),
        NodeTask(np.arange(30, 90), np.arange(9)),
    ]
    method = "predict" if n_classes is None else "predict_proba"
    fits = fit_nodes(learner, data, tasks, method)
    assert [len(fit.predictions) for fit in fits] == [30, 9]
    assert len(fits[0].model.steps[-1][1].inputs_.missing) == 1
