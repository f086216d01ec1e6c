"""Saving a fitted model to one file, and loading it without running code from the file."""

import json
import platform
import sys
import threading
import warnings
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sklearn.exceptions import InconsistentVersionWarning
from sklearn.utils.validation import check_is_fitted

from foldwise import __version__
from foldwise.errors import warn
from foldwise.files.allowed import name_of
from foldwise.files.archive import FORMAT, SCHEMA, parsed, read_archive, write_archive
from foldwise.files.decode import Decoder
from foldwise.files.encode import Encoder
from foldwise.files.refuse import refused
from foldwise.files.rows import learners_with_rows

_LOADING = threading.RLock()
DEPENDENCIES = ("numpy", "scipy", "scikit-learn", "pandas", "lightgbm")
OPTIONAL = {"xgboost": ("xgboost", "xgboost-cpu")}


def save(model: Any, path: Any, *, trusted: Sequence[Any] = ()) -> None:
    """Write a fitted model to one file.

    Parameters
    ----------
    model : fitted estimator
        Of foldwise, or of scikit-learn, LightGBM or XGBoost.
    path : str or Path
        Where to. The file is there whole or not at all; one that is there is replaced.
    trusted : sequence of classes and functions
        Of your own, that the model holds. :func:`load` will want them too.

    Notes
    -----
    The file is a zip: a manifest with versions, and the size and SHA-256 of every member; a
    description of the model in JSON; arrays as .npy; boosters in their own text formats;
    compiled parts of scikit-learn as the numbers they are made of. X is not in it, but for
    learners that keep rows of it, such as nearest neighbours, which the manifest names under
    ``training_rows``. A stack keeps the targets and its out-of-fold predictions. The same model
    gives the same file.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import make_regression
    >>> from sklearn.linear_model import LinearRegression, Ridge
    >>> from foldwise import StackingRegressor, load, save
    >>> X, y = make_regression(50, 3, random_state=0)
    >>> stack = StackingRegressor([("line", LinearRegression()), ("ridge", Ridge())]).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(stack, f"{folder}/stack.foldwise")
    ...     again = load(f"{folder}/stack.foldwise")
    >>> bool((again.predict(X) == stack.predict(X)).all())
    True
    """
    check_is_fitted(model)
    encoder = Encoder(trusted)
    document = {"model": encoder.value(model), "entries": encoder.entries}
    members = {"model.json": json.dumps(document, separators=(",", ":")).encode()}
    write_archive(Path(path), members | encoder.members, manifest_of(model))


def manifest_of(model: Any) -> dict[str, Any]:
    """Return what a file says about its model, members aside."""
    names = getattr(model, "feature_names_in_", None)
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "foldwise": __version__,
        "python": platform.python_version(),
        "dependencies": _versions(),
        "model": name_of(type(model)),
        "n_features": int(getattr(model, "n_features_in_", 0)),
        "feature_names": None if names is None else [str(name) for name in names],
        "training_rows": learners_with_rows(model),
    }


def _versions() -> dict[str, str]:
    found = {name: version(name) for name in DEPENDENCIES}
    for module, packages in OPTIONAL.items():
        for package in packages if module in sys.modules else ():
            try:
                found[module] = version(package)
            except PackageNotFoundError:
                continue
    return found


def load(path: Any, *, trusted: Sequence[Any] = ()) -> Any:
    """Return the model in a file; nothing the file says is run.

    Parameters
    ----------
    path : str or Path
        A file written by :func:`save`.
    trusted : sequence of classes and functions
        Of your own, that the model may hold.

    Returns
    -------
    estimator
        It predicts what the saved model did.

    Notes
    -----
    What is promised of any file, whoever made it: nothing in it is run or called, no loader of
    another library reads it, and no more memory is taken than what its size allows. Types and
    functions are looked up in a list of ours; members must have the names, sizes and hashes the
    manifest lists, and may not grow more than a hundredfold when unpacked; nothing in a model
    may be longer than the file has bytes. Compiled parts of scikit-learn are built again from
    numbers that were checked (trees) or from their rows (neighbours); texts of LightGBM and
    XGBoost are written anew from fields that were understood; estimators whose arrays do not
    belong together are refused where compiled code would follow them.

    What is not promised: that a model predicts anything sensible (hashes find damage, they do not
    prove where a file comes from); and for CatBoost's models, and estimators of
    scikit-learn beyond trees, forests, boosting, neighbours, support vectors, k-means and
    the common encoders, that forged numbers cannot trip compiled code when they predict.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.linear_model import LinearRegression
    >>> from foldwise import save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0]), f"{folder}/line.foldwise")
    ...     line = load(f"{folder}/line.foldwise")
    >>> line.predict([[2.0]]).round(6)
    array([2.])
    """
    manifest, members = read_archive(Path(path))
    if "model.json" not in members:
        raise refused("hold a model", "no model.json")
    # Two threads that catch warnings would catch them for ever.
    with _LOADING, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = Decoder(members, trusted).build(parsed(members["model.json"], "model.json"))
    _pass_on(caught, manifest)
    return model


def _pass_on(caught: list[warnings.WarningMessage], manifest: dict[str, Any]) -> None:
    """Warn once, not once a tree, when scikit-learn is not the one the model was fitted with."""
    if any(issubclass(w.category, InconsistentVersionWarning) for w in caught):
        then = dict(manifest.get("dependencies") or {}).get("scikit-learn")
        warn(
            f"load: the model was saved with scikit-learn {then}, this is "
            f"{version('scikit-learn')}. Compare some predictions, or fit again."
        )


def read_manifest(path: Any) -> dict[str, Any]:
    """Return the manifest of a model file, all members checked, the model not built.

    Parameters
    ----------
    path : str or Path
        A file written by :func:`foldwise.save`.

    Returns
    -------
    dict
        Format, schema, versions, class, features, who holds training rows, and members.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.linear_model import LinearRegression
    >>> from foldwise import save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0]), f"{folder}/line.foldwise")
    ...     manifest = read_manifest(f"{folder}/line.foldwise")
    >>> manifest["n_features"]
    1
    """
    return read_archive(Path(path))[0]
