"""Which learners of a model hold rows they were trained on."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

# Where scikit-learn's estimators keep rows of X: neighbours, kernels, support vectors.
HOLDING = {
    "X_",
    "X_fit_",
    "X_train_",
    "X_thresholds_",
    "_fit_X",
    "_tree",
    "components_indices_",
    "component_indices_",
    "support_vectors_",
}
ATOMS = (str, bytes, int, float, np.ndarray, np.generic, type(None), type)


def learners_with_rows(model: Any) -> list[str]:
    """Return the names of the learners that hold training rows.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> learners_with_rows(KNeighborsRegressor(1).fit([[1.0], [2.0]], [1.0, 2.0]))
    ['KNeighborsRegressor']
    """
    return sorted(set(_holders(model, "", set())))


def _holders(thing: Any, name: str, seen: set[int]) -> Iterator[str]:
    if isinstance(thing, ATOMS) or id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, dict):
        for key, value in thing.items():
            named = key[0] if isinstance(key, tuple) and key and isinstance(key[0], str) else name
            yield from _holders(value, name or named, seen)
    elif isinstance(thing, list | tuple | set | frozenset):
        for value in thing:
            yield from _holders(value, name, seen)
    elif hasattr(thing, "__dict__"):
        state = vars(thing)
        if any(_is_rows(state.get(attribute)) for attribute in HOLDING):
            yield name or type(thing).__name__
        for value in state.values():
            yield from _holders(value, name, seen)


def _is_rows(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.size > 0
    return sparse.issparse(value) or type(value).__name__ in ("KDTree", "BallTree")
