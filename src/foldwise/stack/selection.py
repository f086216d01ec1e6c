"""Greedy ensemble selection as an estimator of its own, over the same lattice as stacking."""

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.model_selection import ParameterGrid
from sklearn.utils.validation import check_is_fitted

from foldwise.checks import check_number, check_whole
from foldwise.errors import invalid_parameter
from foldwise.scores.metric import Metric
from foldwise.stack.classifier import StackingClassifier
from foldwise.stack.estimator import KEEP, BaseStacking
from foldwise.stack.problem import StackProblem
from foldwise.stack.regressor import StackingRegressor
from foldwise.stack.stackers.candidates import Candidate, linear_weights
from foldwise.stack.stackers.greedy import GreedyStacker


@dataclass(eq=False, repr=False)
class BaseSelection(BaseStacking):
    """What the two greedy selections share."""

    final_estimator: Any = field(default="greedy", init=False)
    stack_method: str = field(default="auto", init=False)
    passthrough: Any = field(default=False, init=False)
    _: KW_ONLY
    n_steps: Any = 50
    replace: bool = True
    patience: int | None = None
    n_bags: int = 0
    fraction: float = 0.5
    shrinkage: Any = 0.0

    @property
    def weights_(self) -> pd.Series:
        """The learners' weights by name, the mean over repeats; zero for those not picked."""
        check_is_fitted(self, "deals_")
        each = []
        for stack in self.deals_:
            every = [entry.name for entry in stack.top.entries]
            names, own = stack.verdict.names or every, stack.verdict.stacker.weights_
            shown = linear_weights(stack.verdict.stacker, [1] * len(names))
            mean = shown if own.ndim == 1 else own.mean(axis=0)
            each.append(pd.Series(mean, index=names).reindex(every, fill_value=0.0))
        return pd.concat(each, axis=1).mean(axis=1)

    def _candidates(self, metric: Metric, problem: StackProblem) -> tuple[Candidate, ...]:
        owner = self._owner
        grid = {name: _as_list(getattr(self, name)) for name in ("n_steps", "shrinkage")}
        for step in grid["n_steps"]:
            check_whole(owner, "n_steps", step, 1, try_=50)
        check_whole(owner, "patience", self.patience, 1, none=True)
        check_whole(owner, "n_bags", self.n_bags, 0)
        check_number(owner, "fraction", self.fraction, above=0, most=1, try_=0.5)
        for shrinkage in grid["shrinkage"]:
            check_number(owner, "shrinkage", shrinkage, least=0, most=1, try_=0.25)
        for name, values in grid.items():
            if not values:
                must, fix = "hold a value", "Leave it out."
                raise invalid_parameter(owner, name, must=must, got=values, fix=fix)
        own = self._parameters("replace", "patience", "n_bags", "fraction")
        top = GreedyStacker(metric, problem.labels, **own)
        return (Candidate("greedy", top, tuple(ParameterGrid(grid))),)


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple | np.ndarray) else [value]


@dataclass(eq=False, repr=False)
class EnsembleSelectionRegressor(BaseSelection, StackingRegressor):
    """Pick regressors greedily, one after the other, and average them.

    Parameters
    ----------
    estimators : list of (name, learner) or (name, learner, columns), or list of such lists
        The learners, as in stacking.
    n_steps : int or list of int, default=50
        Number of picks; the best prefix counts. Of a list the best is chosen over the folds.
    replace : bool, default=True
        Whether a learner may be picked again, so that it gets more weight.
    patience : int or None, default=None
        Stop after so many picks without gain: 1 is the plain multistep approach. None goes on.
    n_bags : int, default=0
        Number of random parts of the learners to pick from and average over (Caruana's
        bagging); 0 picks once, from all.
    fraction : float, default=0.5
        Share of the learners in such a part.
    shrinkage : float or list of float, default=0.0
        Share of the plain mean of all learners. Of a list the best is chosen over the folds.
    cv, predict_with, hold_out, tune, score_se, partners, n_repeats, n_jobs, random_state
        As in stacking.
    prune, predict_seconds
        As in stacking.
    on_error, run_dir, time_budget, executor, callback, on_interrupt, verbose
        As in stacking.
    scoring : None, str or callable, default=None
        What is selected for and what the score is; None is the root mean squared error.

    Attributes
    ----------
    weights_ : Series
        The learners' weights by name; zero for those not picked.
    score_, score_se_, score_interval_, score_uncorrected_, score_correction_, fold_scores_,
    leaderboard_, oof_, stacker_, estimators_, deals_
        As in stacking: the score is honest, a judged fold is never looked at in selection.

    Notes
    -----
    Start from the best learner; at each step add the one whose addition lowers the loss of the
    mean most; keep the best prefix. Ties go to learners that are already in.

    References
    ----------
    .. [1] Caruana, Niculescu-Mizil, Crew, Ksikes (2004). Ensemble selection from libraries of
       models. ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> learners = [("ridge", Ridge(0.1)), ("5nn", KNeighborsRegressor(5)),
    ...             ("20nn", KNeighborsRegressor(20))]
    >>> selection = EnsembleSelectionRegressor(learners, n_steps=10, random_state=0).fit(X, y)
    >>> selection.weights_.round(2).to_dict()
    {'ridge': 0.83, '5nn': 0.0, '20nn': 0.17}
    >>> print(f"{-selection.score_:.1f} ± {selection.score_se_:.1f}")
    55.2 ± 1.8
    """

    def restack(  # type: ignore[override]
        self, *, scoring: Any = KEEP, X: Any = None
    ) -> Self:
        """Return a new selection for another metric; no learner is fitted again.

        Parameters
        ----------
        scoring : object
            As in the constructor; left out, it stays.
        X : array or frame, optional
            As in stacking.

        Returns
        -------
        Self
            A fitted selection; this one is not changed.
        """
        return self._restacked(X, scoring=scoring)


@dataclass(eq=False, repr=False)
class EnsembleSelectionClassifier(BaseSelection, StackingClassifier):
    """Pick classifiers greedily, one after the other, and average their probabilities.

    Parameters
    ----------
    estimators : list of (name, learner) or (name, learner, columns), or list of such lists
        The learners, as in stacking.
    n_steps : int or list of int, default=50
        Number of picks; the best prefix counts. Of a list the best is chosen over the folds.
    replace : bool, default=True
        Whether a learner may be picked again, so that it gets more weight.
    patience : int or None, default=None
        Stop after so many picks without gain: 1 is the plain multistep approach. None goes on.
    n_bags : int, default=0
        Number of random parts of the learners to pick from and average over (Caruana's
        bagging); 0 picks once, from all.
    fraction : float, default=0.5
        Share of the learners in such a part.
    shrinkage : float or list of float, default=0.0
        Share of the plain mean of all learners. Of a list the best is chosen over the folds.
    cv, predict_with, hold_out, tune, calibrate, threshold, score_se, partners, n_repeats
        As in stacking.
    n_jobs, random_state
        As in stacking.
    prune, predict_seconds
        As in stacking.
    on_error, run_dir, time_budget, executor, callback, on_interrupt, verbose
        As in stacking.
    scoring : None, str or callable, default=None
        What is selected for and what the score is; None is log-loss.

    Attributes
    ----------
    weights_ : Series
        The learners' weights by name; zero for those not picked.
    score_, score_se_, score_interval_, score_uncorrected_, score_correction_, fold_scores_,
    leaderboard_, oof_, stacker_, estimators_, deals_
        As in stacking: the score is honest, a judged fold is never looked at in selection.

    Notes
    -----
    As :class:`EnsembleSelectionRegressor`.

    References
    ----------
    .. [1] Caruana, Niculescu-Mizil, Crew, Ksikes (2004). Ensemble selection from libraries of
       models. ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> learners = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3))]
    >>> selection = EnsembleSelectionClassifier(learners, scoring="accuracy", random_state=0)
    >>> selection.fit(X, y).weights_.to_dict()
    {'bayes': 1.0, 'tree': 0.0}
    """

    def restack(  # type: ignore[override]
        self, *, scoring: Any = KEEP, calibrate: Any = KEEP, threshold: Any = KEEP, X: Any = None
    ) -> Self:
        """Return a new selection for another metric; no learner is fitted again.

        Parameters
        ----------
        scoring, calibrate, threshold : object
            As in the constructor; left out, they stay.
        X : array or frame, optional
            As in stacking.

        Returns
        -------
        Self
            A fitted selection; this one is not changed.
        """
        return self._restacked(X, scoring=scoring, calibrate=calibrate, threshold=threshold)
