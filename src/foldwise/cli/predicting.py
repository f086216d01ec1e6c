"""``predict``: new rows through a model, into a file or onto the screen."""

import sys
from pathlib import Path
from typing import Any

from foldwise.cli.failures import Failure, Misuse
from foldwise.cli.model_folder import load_model
from foldwise.cli.screen import note

RISKY = ("=", "+", "-", "@", "\t", "\r")


def predict(
    model_path: Path, table: Path, out: Path | None, *, proba: bool, interval: float | None
) -> None:
    """Predict the rows of a table."""
    from foldwise.auto.tables import read_table

    if out is not None and out.resolve() == table.resolve():
        raise Misuse("-o must not be the table itself; got the same file. Name another.")
    model = load_model(model_path)
    X = rows_for(model, read_table(table))
    predictions = predicted(model, X, proba=proba, interval=interval)
    if out is not None and out.suffix == ".parquet":
        predictions.to_parquet(out, index=False)
    else:
        harmless(predictions).to_csv(sys.stdout if out is None else out, index=False)
    if out is not None:
        note(f"Written: {out}, {len(predictions):,} predictions in the order of the table's rows.")


def rows_for(model: Any, frame: Any) -> Any:
    """Return the model's columns of a table, in the model's order."""
    from foldwise.errors import did_you_mean, listing

    wanted = [str(name) for name in model.feature_names_in_]
    missing = [name for name in wanted if name not in frame.columns]
    if missing:
        raise Failure(
            f"TABLE must have all columns the model was fitted on; got none named "
            f"{listing(missing)}. {did_you_mean(missing[0], [str(c) for c in frame.columns])}"
        )
    return frame[wanted]


def predicted(model: Any, X: Any, *, proba: bool, interval: float | None) -> Any:
    """Return predictions as a frame, one row a row of X."""
    import pandas as pd

    classes: Any = getattr(model, "classes_", None)
    columns: dict[str, Any] = {"prediction": model.predict(X)}
    if proba and classes is None:
        raise Misuse("--proba must be left out for a model of a quantity; got it. Use --interval.")
    if proba:
        shares = model.predict_proba(X)
        columns |= {f"probability of {c}": shares[:, k] for k, c in enumerate(classes)}
    if interval is not None and classes is None:
        columns["low"], columns["high"] = model.predict_interval(X, interval)
    elif interval is not None:
        inside = model.predict_set(X, interval)
        columns["set"] = ["|".join(str(c) for c in classes[row]) for row in inside]
    return pd.DataFrame(columns)


def harmless(frame: Any) -> Any:
    """Return the frame with text that a spreadsheet would run as a formula marked as text.

    Examples
    --------
    >>> import pandas as pd
    >>> harmless(pd.DataFrame({"a": ["=1+1", "b"], "n": [-1.0, 2.0]}))
           a    n
    0  '=1+1 -1.0
    1      b  2.0
    """
    safe = frame.copy()
    for name in safe.columns[[dtype.kind not in "iufb" for dtype in safe.dtypes]]:
        safe[name] = [
            f"'{cell}" if isinstance(cell, str) and cell.startswith(RISKY) else cell
            for cell in safe[name]
        ]
    return safe
