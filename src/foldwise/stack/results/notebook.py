"""What a notebook shows of a fitted stack: its score, its leaderboard, the way to its report."""

import html
import math
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from foldwise.wording import direction, metric_name, number, with_error

SHOWN = ("model", "se", "difference", "difference_se", "weight")
# Where the last report on a model was written; a model itself knows nothing of reports.
REPORTS: WeakKeyDictionary[Any, Path] = WeakKeyDictionary()


def fitted_html(model: Any) -> str:
    """Return the honest score and leaderboard of a stack as HTML; nothing before it is fitted."""
    board = getattr(getattr(model, "stack_", model), "leaderboard_", None)
    if board is None:
        return ""
    metric = str(board.columns[1])
    value = float(board.loc[board["model"] == "stack", metric].iloc[0])
    said = "No honest score: the folds cannot give one."
    if math.isfinite(value):
        sign = -1 if math.isclose(model.score_, -value) else 1
        score = f"{metric_name(metric)} {with_error(value, float(model.score_se_))}"
        said = f"Honest score: {score} ({direction(sign)})"
    shown = board[[name for name in board.columns if name in (*SHOWN, metric)]]
    table = shown.to_html(index=False, border=0, float_format=number, na_rep="")
    title, owner = html.escape(said), type(model).__name__
    more = 'The whole story: <code>foldwise.write_report(model, "report.html")</code>'
    if model in REPORTS:
        place = html.escape(str(REPORTS[model]))
        more = f'The whole story: <a href="{place}" target="_blank">{place}</a>'
    return f"<p><b>{owner}</b>. {title}</p>{table}<p>{more}</p>"
