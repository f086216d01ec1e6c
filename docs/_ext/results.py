"""The page of benchmarks, made from the files that ``benchmarks/record.py`` wrote."""

import json
from html import escape
from math import log2
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "generated" / "benchmarks.md"
ABOUT = """# Benchmarks

Every number here was printed by a script of the repository and kept, with the machine, the day and
the commit, by `benchmarks/record.py`; this page is made from those files. To check one, run its
command. A *ratio* compares with a peer or a goal in the same run: ours is better above 1.
Bars of less than 2 % either way are grey. Tables of real data are not part of the repository:
`FOLDWISE_DATA` names a folder of Parquet files with a column `target`.
"""
# What belongs together on the page; a script that is in none of them stands in the last part.
PARTS = {
    "How accurate?": ("accuracy", "portfolio", "combiners", "calibration", "nets", "isle"),
    "How honest?": ("scores", "real_scores", "honesty", "coverage", "bagging_intervals"),
    "How fast?": (
        "nested_stacking",
        "shortcuts",
        "engine",
        "bagging_boosting",
        "paths",
        "subsets",
        "rules",
    ),
    "How large?": ("memory", "budgets"),
    "What if it breaks?": (
        "kill_and_resume",
        "kill_command_line",
        "dask_faults",
        "fuzz_model_files",
        "clients",
    ),
    "The package itself": ("import_time", "shape"),
}
EVEN = 0.02
MISSING = """
Not recorded yet, so no number is shown. The command records it:

| command | what it measures |
|---|---|
"""


def picture(ratios: list[dict[str, Any]]) -> str:
    """Return bars of ratios on a scale of doublings, 1 in the middle line.

    Names are text beside the bars, so that they wrap on any screen and none is cut.
    """
    shown = [entry for entry in ratios if entry["ratio"] > 0]
    if not shown:
        return ""
    far = max(1.0, *(abs(log2(entry["ratio"])) for entry in shown))
    lines = ['<div class="ratios">']
    for entry in shown:
        step = 85 * log2(entry["ratio"]) / far
        even = abs(entry["ratio"] - 1) < EVEN
        tone = "even" if even else "good" if entry["ratio"] > 1 else "bad"
        x, width = 150 + min(step, 0), max(abs(step), 1.5)
        at, anchor = (x + width + 5, "start") if step >= 0 else (x - 5, "end")
        lines.append(
            f"<div><span>{escape(entry['what'])}</span>"
            '<svg width="300" height="22" role="img"><line x1="150" x2="150" y2="22"/>'
            f'<rect class="{tone}" x="{x:.1f}" y="4" width="{width:.1f}" height="14"/>'
            f'<text x="{at:.1f}" y="15" text-anchor="{anchor}">{entry["ratio"]:g}</text>'
            "</svg></div>"
        )
    return "".join([*lines, "</div>"])


def part(result: dict[str, Any]) -> str:
    """Return the part of the page about one benchmark."""
    name = Path(result["script"]).stem.replace("_", " ")
    facts = (
        f"{result['date']}, commit `{result['commit']}`, {result['machine']}; {result['versions']}"
    )
    lines = [
        f"\n### {name.capitalize()}\n",
        result["about"],
        "",
        f"`{result['command']}`: {facts}.",
        "",
    ]
    drawn = picture(result["ratios"])
    if drawn:
        lines += ["```{raw} html", drawn, "```", ""]
    return "\n".join([*lines, "```text", *result["output"], "```", ""])


def scripts() -> dict[str, str]:
    """Return every script that measures something, with its own first sentence."""
    found = {}
    for path in sorted((ROOT / "benchmarks").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "__main__" in text and path.stem != "record":
            found[path.stem] = " ".join(text.split('"""')[1].strip().split("\n\n")[0].split())
    return found


def page() -> str:
    """Return the page: what is recorded, and how to record what is not."""
    files = (ROOT / "benchmarks" / "results").glob("*.json")
    recorded = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in files}
    about, lines = scripts(), [ABOUT]
    *_, last = parts = {title: [n for n in names if n in about] for title, names in PARTS.items()}
    placed = {name for names in parts.values() for name in names}
    parts[last] += [name for name in about if name not in placed]
    for title, names in parts.items():
        lines.append(f"\n## {title}\n")
        lines += [part(recorded[name]) for name in names if name in recorded]
        missing = [name for name in names if name not in recorded]
        lines += [MISSING] if missing else []
        lines += [f"| `python benchmarks/record.py {n}` | {about[n]} |\n" for n in missing]
    return "".join(lines)


def write_page(_: Any, __: Any) -> None:
    """Write the page."""
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.connect("config-inited", write_page)
    return {"parallel_read_safe": True}
