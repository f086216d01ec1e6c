"""A stacker on learners that are fitted already."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from foldwise.errors import NoScoreWarning, invalid_parameter, warn
from foldwise.folds import EVERYTHING, Block, Lattice, Reading, Ref
from foldwise.learners import respond
from foldwise.stack.fit import FittedStack, StackOptions, judged_stack
from foldwise.stack.judge.judge import Contest
from foldwise.stack.parameters import most_repeats
from foldwise.stack.problem import Entry, StackProblem
from foldwise.stack.results.fold_models import Recoded
from foldwise.stack.table.read import Layer, NodeTable, compact


def prefit_stack(
    problem: StackProblem, layers: list[list[Entry]], contest: Contest, options: StackOptions
) -> FittedStack:
    """Put a stacker on learners that are fitted already."""
    most_repeats(options.owner, options.n_repeats, None)  # refuses what is no number of them
    paired = not (isinstance(options.partners, str) and options.partners == "all")
    if len(layers) > 1 or options.tune is not None or options.score_se == "nested" or paired:
        must = "not be 'prefit' with several layers, tune, partners or score_se='nested'"
        raise invalid_parameter(options.owner, "cv", must=must, got=options.cv, fix="Use cv=5.")
    warn(
        f"{options.owner}: no honest score with cv='prefit', the learners may have seen these "
        "rows. Use cv=5 for a score.",
        NoScoreWarning,
    )
    table, rows = NodeTable(), np.arange(problem.n_rows)
    for entry in layers[0]:
        check_is_fitted(entry.learner)
        model = Recoded.where_needed(entry.learner, problem.labels)
        values = respond(model, problem.data.X, entry.method, problem.data, problem.n_rows)
        cell = (entry.name, EVERYTHING, None)
        table.predictions[cell] = (rows, compact(values, entry.kind, problem.data.n_classes))
        table.models[cell] = model
    everywhere = (Ref(EVERYTHING),)
    reading = Reading((), (Block(rows, everywhere),), everywhere, predict_with="refit")
    lattice = Lattice(problem.n_rows, (), (), "single")
    layer = Layer(tuple(layers[0]), table, problem)
    return judged_stack(lattice, (layer,), reading, contest, options.seed)
