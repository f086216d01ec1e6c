"""Nested parameters of a list of named learners, in one layer or several."""

from typing import Any, Self

from sklearn.base import BaseEstimator

from foldwise.stack.entries import as_layers


class NamedLearnersMixin(BaseEstimator):
    """Makes ``set_params(ridge__alpha=1)`` and ``set_params(ridge="drop")`` work."""

    estimators: Any

    def _learners(self) -> dict[str, Any]:
        entries = [entry for layer in as_layers(self.estimators) for entry in layer]
        return {entry[0]: entry[1] for entry in entries if len(entry) > 1}

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


def _replace(estimators: Any, replaced: dict[str, Any]) -> list[Any]:
    new: list[Any] = []
    for item in estimators:
        if isinstance(item[0], str):
            name = item[0]
            new.append((name, replaced[name], *item[2:]) if name in replaced else item)
        else:
            new.append(_replace(item, replaced))
    return new
