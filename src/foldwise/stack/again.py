"""Changing a fitted stack without fitting again what is there."""

from copy import deepcopy
from dataclasses import replace
from typing import Any, Self

from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from foldwise.checks import check_lengths
from foldwise.engine import RunSummary
from foldwise.errors import invalid_parameter
from foldwise.scores.metric import as_metric
from foldwise.stack.build import Deal, build_deal
from foldwise.stack.entries import as_layers, checked_layers
from foldwise.stack.inputs import checked_table
from foldwise.stack.recipe import build_deals
from foldwise.stack.running import LIVE, without_live

KEEP: Any = "keep what it is"


def with_rows(deal: Deal, X: Any) -> Deal:
    """Return the deal with other training rows, or None for none."""
    problem = deal.top.problem
    problem = replace(problem, data=replace(problem.data, X=X), given=None)
    for reader in deal.readers:
        reader.table.forget_places()
    return replace(deal, readers=tuple(replace(r, problem=problem) for r in deal.readers))


class AgainMixin(BaseEstimator):
    """Another top, or one learner more, on learners that are fitted already."""

    def restack(self, final_estimator: Any = KEEP, *, scoring: Any = KEEP, X: Any = None) -> Self:
        """Return a new stack with another top; no learner is fitted again.

        Parameters
        ----------
        final_estimator : object
            As in the constructor; left out, it stays.
        scoring : object
            As in the constructor; left out, it stays.
        X : array or frame, optional
            The training rows, needed only for a stack that passes columns through and was
            pickled since it was fitted.

        Returns
        -------
        Self
            A fitted stack; this one is not changed.

        Notes
        -----
        Learners tuned by ``tune`` keep the parameters they were given by the old scoring.
        """
        return self._restacked(X, final_estimator=final_estimator, scoring=scoring)

    def _restacked(self, X: Any, **changes: Any) -> Self:
        check_is_fitted(self, "deals_")
        new = self._copy(**changes)
        passes = self.deals_[0].top.problem.passthrough is not None
        X = self._training_rows(X) if passes else self._X
        deals = [with_rows(d, X) for d in self.deals_]
        problem = deals[0].top.problem
        metric = as_metric(
            new.scoring,
            owner=new._owner,
            classify=new._classifies,
            has_probabilities=new._gives_probabilities(),
        )
        candidates = new._candidates(metric, problem)
        with threadpool_limits(1, user_api="blas"):
            deals = [
                build_deal(d.readers, d.lattice, d.reading, candidates, metric, self._seed)
                for d in deals
            ]
            new._set_run(RunSummary(partial=self.partial_, reason=self.run_.reason))
            return new._settle(deals, metric, self._seed)

    def add(self, name: str, estimator: Any, *, X: Any = None) -> Self:
        """Return a new stack with one learner more in its last layer; only that one is fitted.

        Parameters
        ----------
        name : str
            Its name.
        estimator : estimator
            The learner.
        X : array or frame, optional
            The training rows, needed only if the stack was pickled since it was fitted.

        Returns
        -------
        Self
            A fitted stack; this one is not changed.
        """
        check_is_fitted(self, "deals_")
        if isinstance(self.cv, str):
            raise invalid_parameter(
                self._owner, "cv", must="not be 'prefit' for add", got=self.cv, fix="Fit anew."
            )
        layers = as_layers(self.estimators)
        layers[-1] = [*layers[-1], (name, estimator)]
        new = self._copy(estimators=layers if len(layers) > 1 else layers[0])
        problem = self.deals_[0].top.problem
        problem = replace(problem, data=replace(problem.data, X=self._training_rows(X)))
        checked = checked_layers(
            new._owner,
            new.estimators,
            classify=new._classifies,
            stack_method=new.stack_method,
            weighted=problem.data.sample_weight is not None,
            reserved=new._get_param_names(),
        )
        checked[0] = [new._on_columns(entry, problem.data.X) for entry in checked[0]]
        candidates = new._candidates(self._metric, problem)
        checked = [[e for e in layer if e.name not in self.failures_] for layer in checked]
        with threadpool_limits(1, user_api="blas"):
            recipe = new._recipe(self._seed, new._clock())
            deals, run = build_deals(
                recipe, problem, checked, candidates, self._metric, self.deals_
            )
            new._set_run(replace(run, partial=run.partial or self.partial_))
            new._settle(deals, self._metric, self._seed)
        new.failures_ = {**self.failures_, **new.failures_}
        return new

    def _copy(self, **changes: Any) -> Self:
        """Return an unfitted clone with changed parameters that knows the same columns."""
        new = clone(self)
        new.set_params(**{k: v for k, v in changes.items() if v is not KEEP})
        for known in ("n_features_in_", "feature_names_in_", "classes_", "_index"):
            if hasattr(self, known):
                setattr(new, known, getattr(self, known))
        return new

    def _training_rows(self, X: Any) -> Any:
        X = X if X is not None else self._X
        if X is None:
            raise invalid_parameter(
                self._owner,
                "X",
                must="be given after unpickling, since training rows are not pickled",
                got=None,
                fix="Give the rows the stack was fitted on.",
            )
        check_lengths(self._owner, self.deals_[0].lattice.n_rows, X=X)
        X = checked_table(self._owner, X)
        validate_data(self, X, skip_check_array=True, reset=False)
        return X

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        new = object.__new__(type(self))
        kept = {key: value for key, value in vars(self).items() if key != "_X"}
        new.__dict__ = deepcopy(without_live(kept), memo)
        new.__dict__.update({name: kept[name] for name in LIVE})
        if "_X" in vars(self):
            new._X = self._X
        return new

    def __getstate__(self) -> dict[str, Any]:
        state = without_live(dict(super().__getstate__()))
        if "_X" in state:
            state["_X"] = None
        return state
