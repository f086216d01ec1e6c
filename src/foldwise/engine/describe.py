"""What is done in a run folder, without reading a model from it."""

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from foldwise.engine.files import DamagedFileError, read_header, read_result
from foldwise.engine.store import RESULTS, SUFFIX, read_manifest, read_plan
from foldwise.engine.versions import library_versions
from foldwise.errors import invalid_parameter

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
    >>> from foldwise.engine.store import RunStore
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
        raise invalid_parameter(
            "describe",
            "run_dir",
            must="be the folder of a run",
            got=str(run_dir),
            fix="Give the folder that was given to fit.",
        )
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
