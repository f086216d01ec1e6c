"""The folder of a fitted model: what was asked for, the model, its report, its run."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from foldwise.cli.failures import Failure, Misuse

MODEL, REQUEST, REPORT, RUN = "model.foldwise", "request.json", "report.html", "run"


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
    random_state: int = 0  # as typed
    n_jobs: int = 1  # as typed
    executor: str | None = None  # as typed


def begin(request: Request) -> Path | None:
    """Make the folder and note the request in it; None if nothing is to be kept."""
    if request.out is None:
        return None
    folder = Path(request.out)
    if folder.exists() and not folder.is_dir():
        raise Misuse(f"--out must be a folder; got the file {folder}. Name another.")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / REQUEST).is_file():
        raise Misuse(
            f"--out must be a new or empty folder, or one made by foldwise; got {folder}, which "
            "holds other files. Name another."
        )
    folder.mkdir(parents=True, exist_ok=True)
    noted = {**asdict(request), "table": str(Path(request.table).resolve())}
    (folder / REQUEST).write_text(json.dumps(noted, indent=2, ensure_ascii=False) + "\n", "utf-8")
    return folder


def request_in(folder: Path) -> Request:
    """Return what was asked for when the folder was made."""
    noted = folder / REQUEST
    if not noted.is_file():
        raise Misuse(
            f"DIR must be a folder given to foldwise fit as --out; got {folder}, which has no "
            f"{REQUEST}. Run foldwise fit with --out first."
        )
    try:
        said = json.loads(noted.read_text("utf-8"))
        return Request(**{**said, "drop": tuple(said["drop"])})
    except (ValueError, TypeError, KeyError) as error:
        raise Failure(
            f"{noted} must be as foldwise wrote it; got something else. Run foldwise fit again."
        ) from error


def load_model(path: Path) -> Any:
    """Return the model in a folder or file."""
    from foldwise.files import load

    file = path / MODEL if path.is_dir() and (path / REQUEST).is_file() else path
    if not file.exists():
        remedy = (
            f"Finish it with: foldwise resume {path}"
            if path.is_dir()
            else "Give the folder that foldwise fit wrote with --out."
        )
        raise Misuse(f"MODEL must be there; got {path}, which holds no model. {remedy}")
    return load(file)
