"""The run store: every finished fit is one immutable file in a folder.

**A run folder is trusted.** Results hold fitted models as pickles, and reading a pickle can run
code: who can write to the folder can run code as whoever continues the run. So a folder that
belongs to another user, or that everybody may write to, is refused where the system tells. Never
continue a run that came from somewhere else.
"""

import contextlib
import errno
import json
import os
import pickle
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from cloudpickle import dumps

from foldwise.engine.files import (
    DamagedFileError,
    bad_run_dir,
    packed,
    read_header,
    read_result,
    refuse_strangers,
    remove_leftovers,
    write_whole,
)
from foldwise.engine.versions import differences, library_versions
from foldwise.errors import FoldwiseWarning, InvalidParameterError, Plain, warn

FORMAT = 1
MANIFEST = "run.json"
RESULTS = "results"
PLAN = "plan.json"
SUFFIX = ".fit"
CANNOT_WRITE = {errno.EROFS, errno.EACCES, errno.EPERM}


class RunStore:
    """Finished fits in a folder, found again by their keys.

    Parameters
    ----------
    run_dir : str or path
        The folder; made if it is not there, with access for its owner only. It is trusted, see
        the module. It may be read-only as long as everything asked for is in it.
    owner : str, default="RunStore"
        Who complains.

    Attributes
    ----------
    run_dir : Path
        The folder.
    n_reused, n_stored : int
        Results found, and results written, by this object.

    Notes
    -----
    Several processes may use one folder at once: a file appears in one step, and two processes
    that store one key store the same. Results of other versions of Python, NumPy, SciPy,
    scikit-learn, pandas, LightGBM or foldwise are not used: opening warns, and they are fitted
    again.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = RunStore(folder)
    ...     store.put("key", [1.5], {"learner": "ridge"})
    ...     RunStore(folder).get("key")
    [1.5]
    """

    def __init__(self, run_dir: str | os.PathLike[str], owner: str = "RunStore") -> None:
        self.owner = owner
        self.run_dir = Path(run_dir)
        self.n_reused = self.n_stored = 0
        self.versions = library_versions()
        self._replace: set[str] = set()
        self._lock = threading.Lock()
        try:
            # One after the other: a parent made along the way gets the mode of the umask.
            if not self.run_dir.exists():
                self.run_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            (self.run_dir / RESULTS).mkdir(mode=0o700, exist_ok=True)
            for folder in (self.run_dir, self.run_dir / RESULTS):
                refuse_strangers(folder, owner)
            self._check_manifest()
            with contextlib.suppress(OSError):
                remove_leftovers(self.run_dir / RESULTS)
        except OSError as error:
            raise self._cannot(error) from error

    def get(self, key: str) -> Any | None:
        """Return a finished result.

        Parameters
        ----------
        key : str
            Its content key.

        Returns
        -------
        object or None
            None if it is not there, is damaged, or was made by other versions; a damaged file
            is named in a warning.
        """
        path = self._path(key)
        try:
            refuse_strangers(path, self.owner)
            header, payload = read_result(path)
            if header["versions"] != self.versions:
                self._replace.add(key)
                return None
            value = pickle.loads(payload)
        except FileNotFoundError:
            return None
        except InvalidParameterError:
            raise
        except Exception as error:
            self._replace.add(key)
            reason = str(error) if isinstance(error, DamagedFileError) else repr(error)
            warn(
                f"{self.owner}: the result {str(path)!r} is damaged ({reason}) and is fitted "
                "again. Check the disk.",
                FoldwiseWarning,
            )
            return None
        with self._lock:
            self.n_reused += 1
        return value

    def put(self, key: str, value: Any, about: Mapping[str, Any]) -> None:
        """Store a result; one that is there and whole stays as it is.

        Parameters
        ----------
        key : str
            Its content key.
        value : object
            The result. One that cannot be pickled is not stored, with a warning.
        about : mapping
            What :func:`describe` shows: "learner", "node", "seconds", whatever else JSON holds.

        Raises
        ------
        InvalidParameterError
            If the disk is full or the folder cannot be written; all stored before is kept.
        """
        path = self._path(key)
        if path.exists() and key not in self._replace:
            return
        payload = self._pickled(value, about)
        if payload is None:
            return
        header = {"key": key, "about": dict(about), "versions": self.versions}
        try:
            write_whole(path, packed(header, payload), mode=0o600)
        except OSError as error:
            raise self._cannot(error) from error
        self._replace.discard(key)
        with self._lock:
            self.n_stored += 1

    def expect(self, plan: Mapping[str, Mapping[str, Any]]) -> None:
        """Say what this run will store, so that :func:`describe` can tell what is missing.

        Parameters
        ----------
        plan : mapping from key to mapping
            What each result is about. It is added to what was said before; a folder that
            cannot be written is left as it is.
        """
        path = self.run_dir / PLAN
        merged = {**read_plan(self.run_dir), **{key: dict(about) for key, about in plan.items()}}
        with contextlib.suppress(OSError):
            write_whole(path, [json.dumps(merged).encode()])

    def _path(self, key: str) -> Path:
        return self.run_dir / RESULTS / f"{key}{SUFFIX}"

    def _check_manifest(self) -> None:
        manifest = read_manifest(self.run_dir, self.owner)
        changes = differences(manifest["versions"], self.versions) if manifest else []
        if changes:
            warn(
                f"{self.owner}: the results in run_dir {str(self.run_dir)!r} were made with other "
                f"versions ({', '.join(changes)}) and are fitted again. Use a run_dir for each "
                "environment to keep both.",
                FoldwiseWarning,
            )
        if changes or not manifest:
            now = {"format": FORMAT, "versions": self.versions}
            write_whole(self.run_dir / MANIFEST, [json.dumps(now, indent=1).encode()])

    def _pickled(self, value: Any, about: Mapping[str, Any]) -> bytes | None:
        try:
            return pickle.dumps(value, protocol=5)
        except Exception:
            # Functions and classes made on the fly go by value.
            try:
                return bytes(dumps(value, protocol=5))
            except Exception as error:
                whose = about.get("learner", "a learner")
                warn(
                    f"{self.owner}: a result of {whose!r} cannot be stored in run_dir "
                    f"({type(error).__name__}: {error}); it will be fitted again when the run is "
                    "continued. Use a learner that can be pickled.",
                    FoldwiseWarning,
                )
                return None

    def _cannot(self, error: OSError) -> InvalidParameterError:
        reason = os.strerror(error.errno) if error.errno else str(error)
        if error.errno in CANNOT_WRITE:
            fix = "Make it writable or use another"
        elif error.errno in (errno.ENOTDIR, errno.EEXIST):
            fix = "Name a folder"
        else:
            fix = "Make room and run the same call again"
        got = Plain(f"{str(self.run_dir)!r} ({reason})")
        must = "be a folder that results can be written to"
        return bad_run_dir(self.owner, must, got, f"{fix}; all results stored before are kept.")


def read_manifest(run_dir: Path, owner: str) -> dict[str, Any] | None:
    """Return what a run says of itself, None if it says nothing yet."""
    try:
        manifest: dict[str, Any] = json.loads((run_dir / MANIFEST).read_bytes())
        manifest["versions"].items()
    except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError, AttributeError):
        return None
    if manifest.get("format") != FORMAT:
        fix = "Use a new folder, or the version of foldwise that made this one."
        raise bad_run_dir(owner, f"hold a run of format {FORMAT}", manifest.get("format"), fix)
    return manifest


def read_plan(run_dir: Path) -> dict[str, dict[str, Any]]:
    """Return what a run was going to store, as far as it said so."""
    try:
        plan = json.loads((run_dir / PLAN).read_bytes())
    except (OSError, ValueError):
        return {}
    return plan if isinstance(plan, dict) else {}


STATES = ("done", "unfinished", "damaged", "other versions")


@dataclass(frozen=True)
class StoredFit:
    """One fit of a run.

    Attributes
    ----------
    key : str
        Its content key.
    state : {"done", "unfinished", "damaged", "other versions"}
        Whether it would be used when the run is continued, and why not.
    about : dict
        What is known of it: learner, node, seconds.
    size : int
        Bytes on disk.

    Examples
    --------
    >>> from foldwise.engine import StoredFit
    >>> fit = StoredFit("5f2a", "done", {"learner": "ridge", "node": [1]}, size=2048)
    >>> fit.state, fit.about["learner"]
    ('done', 'ridge')
    """

    key: str
    state: str
    about: dict[str, Any]
    size: int


@dataclass(frozen=True)
class RunDescription:
    """What is done in a run.

    Attributes
    ----------
    run_dir : Path
        The folder.
    versions : dict
        The versions it was last used with.
    fits : tuple of StoredFit
        Every fit that is stored or was planned, those of one learner together.
    """

    run_dir: Path
    versions: dict[str, str]
    fits: tuple[StoredFit, ...]

    def count(self, state: str) -> int:
        """Return how many fits are in a state.

        Parameters
        ----------
        state : {"done", "unfinished", "damaged", "other versions"}
            Which.
        """
        return sum(fit.state == state for fit in self.fits)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a fit: learner, node, state, seconds, bytes and what else is known."""
        columns = ["learner", "node", "state", "seconds", "bytes"]
        rows = [
            {**fit.about, "state": fit.state, "bytes": fit.size, "key": fit.key}
            for fit in self.fits
        ]
        frame = pd.DataFrame(rows, columns=None if rows else [*columns, "key"])
        for name in columns:
            if name not in frame:
                frame[name] = None
        others = [name for name in frame if name not in columns]
        return frame[[*columns, *others]]

    def __str__(self) -> str:
        states = [f"{n} {state}" for state in STATES if (n := self.count(state))]
        size = sum(fit.size for fit in self.fits) / 1e6
        lines = [f"{self.run_dir}: {', '.join(states) or 'nothing stored'}, {size:.1f} MB"]
        learners = Counter(str(fit.about.get("learner", "?")) for fit in self.fits)
        width = max(map(len, learners), default=0)
        for name, total in learners.items():
            own = [fit for fit in self.fits if str(fit.about.get("learner", "?")) == name]
            done = [fit for fit in own if fit.state == "done"]
            seconds = sum(float(fit.about.get("seconds") or 0.0) for fit in done)
            lines.append(f"  {name:{width}}  {len(done)} of {total} fits, {seconds:.1f} s")
        return "\n".join(lines)


def describe(run_dir: str | os.PathLike[str], *, verify: bool = True) -> RunDescription:
    """Return what is done in a run.

    Parameters
    ----------
    run_dir : str or path
        The folder given to an estimator as ``run_dir``.
    verify : bool, default=True
        Read every file whole to find changed bits; otherwise only headers and lengths.

    Returns
    -------
    RunDescription
        Print it, or use its ``to_frame()``.

    Notes
    -----
    No model is read, so no code of the folder runs.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = RunStore(folder)
    ...     store.expect({"a": {"learner": "ridge"}, "b": {"learner": "ridge"}})
    ...     store.put("a", 1, {"learner": "ridge", "node": [0, 1], "seconds": 0.5})
    ...     print(describe(folder))
    /...: 1 done, 1 unfinished, 0.0 MB
      ridge  1 of 2 fits, 0.5 s
    """
    folder = Path(run_dir)
    manifest = read_manifest(folder, "describe")
    if manifest is None:
        fix = "Give the folder that was given to fit."
        raise bad_run_dir("describe", "be the folder of a run", str(run_dir), fix)
    versions, plan = library_versions(), read_plan(folder)
    files = sorted((folder / RESULTS).glob(f"*{SUFFIX}"))
    stored = {path.stem: _stored(path, versions, plan, verify) for path in files}
    missing = [StoredFit(k, "unfinished", plan[k], 0) for k in plan if k not in stored]
    fits = sorted([*stored.values(), *missing], key=_order)
    return RunDescription(folder, manifest["versions"], tuple(fits))


def _stored(
    path: Path, versions: dict[str, str], plan: dict[str, dict[str, Any]], verify: bool
) -> StoredFit:
    size = path.stat().st_size
    try:
        header = read_result(path)[0] if verify else read_header(path)
    except (DamagedFileError, OSError):
        return StoredFit(path.stem, "damaged", plan.get(path.stem, {}), size)
    state = "done" if header["versions"] == versions else "other versions"
    return StoredFit(path.stem, state, header["about"], size)


def _order(fit: StoredFit) -> tuple[str, int, str, str]:
    node = str(fit.about.get("node", ""))
    return str(fit.about.get("learner", "")), len(node), node, fit.key
