"""The folder of a fitted model: what was asked for, the model, its report, its run."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from foldwise.cli.failures import Failure, Misuse

MODEL, REQUEST, REPORT, RUN = "model.foldwise", "request.json", "report.html", "run"
TABLE = "table_was"
WHEREVER = ("out", "time_budget", "n_jobs", "executor")


@dataclass(frozen=True)
class Request:
    """What ``foldwise fit`` was asked for, by the names of the parameters it sets."""

    table: str  # the file and the column
    target: str  # the file and the column
    out: str | None = None  # the folder; None to keep nothing
    time_budget: float | None = None  # in seconds
    preset: str = "balanced"  # as typed
    metric: str | None = None  # as typed
    task: str = "auto"  # as typed
    groups: str | None = None  # as typed
    time_column: str | None = None  # as typed
    weight: str | None = None  # as typed
    drop: tuple[str, ...] = ()  # as typed
    kinds: tuple[str, ...] = ()  # as typed
    random_state: int = 0  # as typed
    n_jobs: int = 1  # as typed
    executor: str | None = None  # as typed

    @property
    def title(self) -> str:
        """What the report is called."""
        return f"{self.target}, from {Path(self.table).name}"


def check_out(request: Request, *, force: bool) -> bool:
    """Refuse a folder with what is not ours or may not be replaced; return whether to continue."""
    if request.out is None:
        return False
    folder = Path(request.out)
    if folder.exists() and not folder.is_dir():
        raise Misuse(f"--out must be a folder; got the file {folder}. Name another.")
    if not folder.is_dir() or not any(folder.iterdir()):
        return False
    if not any(note.is_file() for note in _notes(folder)):
        if [path.name for path in folder.iterdir()] == [RUN] and not any((folder / RUN).iterdir()):
            # Of a fit that was killed before it could say what it was.
            return False
        raise Misuse(
            f"--out must be a new or empty folder, or one made by foldwise; got {folder}, which "
            "holds other files. Name another."
        )
    if force:
        return False
    if (folder / MODEL).exists():
        raise Misuse(
            f"--out must be a folder without a model; got {folder}, which holds one of "
            f"{request_in(folder)[0].target!r}. Name another, or replace it with --force."
        )
    if not _n_results(folder):
        return False
    other = different(pending_in(folder)[0], request)
    if other:
        raise Misuse(
            f"--out must be a folder of the same fit, or a new one; got {folder}, where another "
            f"was begun ({', '.join(other)}). Finish that with: foldwise resume {folder}; or "
            "start anew with --force."
        )
    return True


def different(before: Request, now: Request) -> list[str]:
    """Return what two requests do not have in common, in words; time and place do not count."""
    old, new = as_noted(before), as_noted(now)
    return [
        f"{name.replace('_', '-')} was {old[name]!r}, is {new[name]!r}"
        for name in old
        if name not in WHEREVER and old[name] != new[name]
    ]


def as_noted(request: Request) -> dict[str, Any]:
    """Return a request as it is noted, wherever it is typed from."""
    said = {**asdict(request), "drop": list(request.drop), "kinds": list(request.kinds)}
    return {**said, "table": str(Path(request.table).resolve())}


@contextmanager
def begun(
    request: Request, table: dict[str, Any], folder: Path, *, continued: bool
) -> Iterator[None]:
    """Make the folder and note in its run what was begun, for ``resume``.

    A finished model, its report and its request stay as they are until :func:`finish`; so does
    what ``resume`` means there, if what was begun fails before anything came of it.
    """
    from foldwise.engine.files import write_whole

    # Reading the results of a run can run code, so it is its owner's alone under any umask.
    (folder / RUN).mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in (MODEL, REPORT):
        # Of a fit that was killed before they were in their places.
        (folder / RUN / name).unlink(missing_ok=True)
    content = json.dumps({**as_noted(request), TABLE: table}, indent=2, ensure_ascii=False)
    write_whole(folder / RUN / REQUEST, [content.encode(), b"\n"])
    before = _n_results(folder)
    try:
        yield
    except Exception:
        if (folder / REQUEST).is_file() and not continued and _n_results(folder) == before:
            (folder / RUN / REQUEST).unlink(missing_ok=True)
        raise


def _n_results(folder: Path) -> int:
    return len(list((folder / RUN / "results").glob("*")))


def finish(folder: Path) -> list[str]:
    """Put the model, its report if there is one, and the request into their places."""
    run = folder / RUN
    if not (run / REPORT).exists():
        # That of another model would be taken for this one's.
        (folder / REPORT).unlink(missing_ok=True)
    done = [name for name in (MODEL, REPORT, REQUEST) if (run / name).exists()]
    for name in done:
        (run / name).replace(folder / name)
    return [str(folder / name) for name in done if name != REQUEST]


def pending_in(folder: Path) -> tuple[Request, dict[str, Any]]:
    """Return what was begun last in a folder, and what its table was."""
    return _read_note(folder, _notes(folder))


def request_in(folder: Path) -> tuple[Request, dict[str, Any]]:
    """Return what the model in a folder was asked for, and what its table was."""
    return _read_note(folder, _notes(folder)[::-1])


def _notes(folder: Path) -> list[Path]:
    """Return where it may be noted what was asked for: first what was begun, then what is done."""
    return [folder / RUN / REQUEST, folder / REQUEST]


def _read_note(folder: Path, notes: list[Path]) -> tuple[Request, dict[str, Any]]:
    note = next((note for note in notes if note.is_file()), None)
    if note is None:
        raise Misuse(
            f"DIR must be a folder given to foldwise fit as --out; got {folder}, which has no "
            f"{REQUEST}. Run foldwise fit with --out first."
        )
    try:
        said = json.loads(note.read_text("utf-8"))
        table = said.pop(TABLE, {})
        lists = {name: tuple(said.get(name, ())) for name in ("drop", "kinds")}
        request = Request(**{**said, **lists})
        if not isinstance(request.table, str) or not isinstance(request.target, str):
            raise TypeError("a name is not text")
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Failure(
            f"{note} must be as foldwise wrote it; got something else. Run foldwise fit again, "
            "with --force."
        ) from error
    return request, table


def table_facts(frame: Any, path: str) -> dict[str, Any]:
    """Return what a table is known by when it is read again."""
    facts: dict[str, Any] = {"rows": len(frame), "columns": [str(name) for name in frame.columns]}
    # What came through a pipe cannot be read twice.
    if Path(path).is_file():
        with Path(path).open("rb") as file:
            facts["sha256"] = hashlib.file_digest(file, "sha256").hexdigest()
    return facts


def check_same_table(folder: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
    """Refuse a table that is not the one a fit was begun with."""
    # Folders of earlier versions say nothing of their table.
    if "sha256" not in before or before["sha256"] == now.get("sha256"):
        return
    old, new = before["columns"], now["columns"]
    said = [
        *[f"column {name!r} is new" for name in new if name not in old],
        *[f"column {name!r} is gone" for name in old if name not in new],
    ]
    if before["rows"] != now["rows"]:
        said.append(f"{now['rows']:,} rows, {before['rows']:,} before")
    what = ", ".join(said[:5]) or "other cells in the same rows and columns"
    raise Failure(
        f"The table must be as it was when the fit in {folder} began; got changes: {what}. Put "
        "the old one back, or fit the new one with foldwise fit and --force."
    )


def load_model(path: Path) -> Any:
    """Return the model in a folder or file."""
    from foldwise.files import load

    ours = path.is_dir() and any(note.is_file() for note in _notes(path))
    file = path / MODEL if ours else path
    if not file.is_file():
        remedy = "Give the folder that foldwise fit wrote with --out."
        if ours:
            remedy = f"Finish it with: foldwise resume {path}"
        raise Misuse(f"MODEL must be there; got {path}, which holds no model. {remedy}")
    return load(file)
