"""The parameters of a stack: kept, read and set by name, copied, pickled and drawn."""

from copy import copy, deepcopy
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from foldwise._sklearn import VisualBlock
from foldwise.checks import check_number, check_whole
from foldwise.errors import unsupported
from foldwise.learners.prepare import cloned_within
from foldwise.stack.judge.thrift import Thrift
from foldwise.stack.problem import as_layers
from foldwise.stack.results.notebook import fitted_html

# Live objects: neither copied nor pickled with a stack.
LIVE = ("executor", "callback")
# Of deals that are made as long as there is time: each makes predictions slower. On six fits of
# three tables of 260 to 310 rows, two had .998 of the loss of one, four and twelve the same.
MOST_REPEATS = 3


@dataclass(eq=False, repr=False)
class StackParameters(BaseEstimator):
    """An estimator whose learners are parameters too."""

    estimators: Any
    final_estimator: Any = None
    _: KW_ONLY
    cv: Any = None
    stack_method: str = "auto"
    passthrough: Any = False
    predict_with: str = "auto"
    hold_out: str = "auto"
    tune: Any = None
    scoring: Any = None
    prune: float = 0.0
    predict_seconds: float | None = None
    score_se: str = "learners"
    partners: Any = "all"
    n_repeats: Any = 1
    n_jobs: int | None = None
    random_state: Any = None
    on_error: str = "drop"
    run_dir: Any = None
    time_budget: float | None = None
    executor: Any = None
    callback: Any = None
    on_interrupt: str = "raise"
    verbose: int = 0

    # Not among them, since it has no annotation: what messages call it, if not by its class.
    _called = ""

    @property
    def _owner(self) -> str:
        return self._called or type(self).__name__

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, with the learners and theirs by name.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the learners' own.

        Returns
        -------
        dict
            Parameter names mapped to values.
        """
        parameters = dict(super().get_params(deep=deep))
        if deep:
            for name, learner in self._learners().items():
                parameters[name] = learner
                if hasattr(learner, "get_params") and not isinstance(learner, type):
                    inner = learner.get_params(deep=True).items()
                    parameters.update({f"{name}__{key}": value for key, value in inner})
        return parameters

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the stack and of its learners.

        Parameters
        ----------
        **params : dict
            A learner's name replaces it ("drop" leaves it out); ``name__parameter`` changes it.

        Returns
        -------
        Self
            This estimator.
        """
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        replaced = {name: params.pop(name) for name in self._learners() if name in params}
        if replaced:
            self.estimators = _replace(self.estimators, replaced)
        super().set_params(**params)
        return self

    def _learners(self) -> dict[str, Any]:
        entries = [entry for layer in as_layers(self.estimators) for entry in layer]
        return {entry[0]: entry[1] for entry in entries if len(entry) > 1}

    def _thrift(self) -> Thrift | None:
        """Return which learners the stacker is given; None if that is all of them."""
        owner, seconds = self._owner, self.predict_seconds
        check_number(owner, "prune", self.prune, least=0, try_=0.1)
        if seconds is None:
            return Thrift(self.prune) if self.prune else None
        check_number(owner, "predict_seconds", seconds, above=0, try_=0.1)
        if len(as_layers(self.estimators)) > 1:
            must, fix = "be None with several layers", "Use prune."
            raise unsupported(owner, "predict_seconds", must=must, got=seconds, fix=fix)
        return Thrift(self.prune, seconds / most_repeats(owner, self.n_repeats, self.time_budget))

    def _gives_probabilities(self) -> bool:
        """Tell whether every stacker that may be chosen gives probabilities."""
        return all(
            top is None or isinstance(top, str) or hasattr(top, "predict_proba")
            for top in tops_of(self.final_estimator)
        )

    def __sklearn_clone__(self) -> Self:
        bare = copy(self)
        for name in LIVE:
            setattr(bare, name, None)
        bare.estimators = []
        new = super(StackParameters, bare).__sklearn_clone__()
        new.estimators = cloned_within(self.estimators)
        for name in LIVE:
            setattr(new, name, getattr(self, name))
        return new

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

    def _html_repr(self) -> str:
        return fitted_html(self) + str(super()._html_repr())

    def _sk_visual_block_(self) -> Any:
        """Return what a notebook draws: layers side by side, the stacker below."""
        layers = as_layers(self.estimators)
        rows = [([entry[1] for entry in layer], [entry[0] for entry in layer]) for layer in layers]
        tops = ["bake-off" if top is None else top for top in tops_of(self.final_estimator)]
        rows.append((tops, [m if isinstance(m, str) else "final_estimator" for m in tops]))
        blocks = [
            VisualBlock("parallel", models, names=[str(n) for n in names], dash_wrapped=False)
            for models, names in rows
        ]
        return VisualBlock("serial", tuple(blocks), dash_wrapped=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Only the first layer sees X.
        first = [entry[1] for entry in next(iter(as_layers(self.estimators)), []) if len(entry) > 1]
        learners = [m for m in first if hasattr(m, "fit") and not isinstance(m, type)]
        inputs = [get_tags(learner).input_tags for learner in learners]
        # A learner that cannot take missing values is dropped, so one that can is enough.
        enough = any if self.on_error == "drop" else all
        tags.input_tags.allow_nan = enough(t.allow_nan for t in inputs)
        tags.input_tags.sparse = enough(t.sparse for t in inputs)
        return tags


def _replace(estimators: Any, replaced: dict[str, Any]) -> list[Any]:
    new: list[Any] = []
    for item in estimators:
        if isinstance(item[0], str):
            name = item[0]
            new.append((name, replaced[name], *item[2:]) if name in replaced else item)
        else:
            new.append(_replace(item, replaced))
    return new


def without_live(state: dict[str, Any]) -> dict[str, Any]:
    """Return an estimator's state without what lives in this process only."""
    return {
        name: None if name in LIVE and not isinstance(value, str) else value
        for name, value in state.items()
    }


def tops_of(final_estimator: Any) -> list[Any]:
    """Return what may stand on top, without the grids."""
    items = final_estimator if isinstance(final_estimator, list) else [final_estimator]
    return [item[0] if isinstance(item, tuple) and item else item for item in items]


def most_repeats(owner: str, n_repeats: Any, budget: float | None) -> int:
    """Return how many deals there will be at most, or refuse."""
    if n_repeats == "auto":
        return 1 if budget is None else MOST_REPEATS
    check_whole(owner, "n_repeats", n_repeats, 1, try_=1)
    return int(n_repeats)
