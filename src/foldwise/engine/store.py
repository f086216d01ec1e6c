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
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cloudpickle

from foldwise.engine.files import (
    DamagedFileError,
    packed,
    read_result,
    remove_leftovers,
    write_whole,
)
from foldwise.engine.versions import differences, library_versions
from foldwise.errors import FoldwiseWarning, InvalidParameterError, Plain, invalid_parameter, warn

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
                return bytes(cloudpickle.dumps(value, protocol=5))
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
        return invalid_parameter(
            self.owner,
            "run_dir",
            must="be a folder that results can be written to",
            got=Plain(f"{str(self.run_dir)!r} ({reason})"),
            fix=f"{fix}; all results stored before are kept.",
        )


def refuse_strangers(path: Path, owner: str) -> None:
    """Raise if somebody else could have put code into a folder or file we are going to unpickle."""
    if not hasattr(os, "getuid"):
        return
    status = path.lstat()
    if status.st_uid != os.getuid():
        got = f"{str(path)!r}, which belongs to user {status.st_uid}"
    elif status.st_mode & 0o002 and not path.is_symlink():
        got = f"{str(path)!r}, which everybody may write to"
    else:
        return
    raise invalid_parameter(
        owner,
        "run_dir",
        must="be yours alone, because reading its models can run code",
        got=Plain(got),
        fix="Use a new folder, or change owner and mode if you trust every file in it.",
    )


def read_manifest(run_dir: Path, owner: str) -> dict[str, Any] | None:
    """Return what a run says of itself, None if it says nothing yet."""
    try:
        manifest: dict[str, Any] = json.loads((run_dir / MANIFEST).read_bytes())
        manifest["versions"].items()
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return None
    if manifest.get("format") != FORMAT:
        raise invalid_parameter(
            owner,
            "run_dir",
            must=f"hold a run of format {FORMAT}",
            got=manifest.get("format"),
            fix="Use a new folder, or the version of foldwise that made this one.",
        )
    return manifest


def read_plan(run_dir: Path) -> dict[str, dict[str, Any]]:
    """Return what a run was going to store, as far as it said so."""
    try:
        plan = json.loads((run_dir / PLAN).read_bytes())
    except (OSError, ValueError):
        return {}
    return plan if isinstance(plan, dict) else {}
