"""What people see: the commands of the pages are run, and a report is taken apart, at build time.

Everything lands in ``generated/screens``; what is there is not made again (``make clean``).
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

GENERATED = Path(__file__).parents[1] / "generated"
SCREENS = GENERATED / "screens"
WORK = GENERATED / "work"
FIT = "foldwise fit diabetes.csv --target progression --out model --preset fast"
COMMANDS = {
    "help": "foldwise --help",
    "help_fit": "foldwise fit --help",
    "inspect": "foldwise inspect diabetes.csv --target progression",
    "fit": FIT,
    "leaderboard": "foldwise leaderboard model",
    "predict": "foldwise predict model new.csv --interval 0.9",
    "explain": "foldwise explain model new.csv --row 1",
    "rules": "foldwise rules diabetes.csv --target progression --most 6",
}
DARK = re.compile(r"@media \(prefers-color-scheme: dark\) \{\s*:root \{.*?\}\s*\}", re.DOTALL)
PROGRESS = re.compile(r": \d+/\d+ fits")
KILLED = "foldwise fit diabetes.csv --target progression --out killed --preset fast"


def make_table() -> None:
    """Write the table of the walk: a real one that comes along with scikit-learn."""
    from sklearn.datasets import load_diabetes

    table = load_diabetes(as_frame=True, scaled=False).frame
    table = table.rename(columns={"target": "progression"})
    table["sex"] = table["sex"].map({1.0: "male", 2.0: "female"})
    table.insert(0, "patient_id", range(1001, 1001 + len(table)))
    table[:-5].to_csv(WORK / "diabetes.csv", index=False)
    table[-5:].drop(columns="progression").to_csv(WORK / "new.csv", index=False)


def environment() -> dict[str, str]:
    home = Path(sys.executable).parent
    return os.environ | {"PATH": f"{home}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "110"}


def screen(command: str) -> str:
    """Return a command and what it prints."""
    ran = subprocess.run(
        shlex.split(command),
        cwd=WORK,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    return f"$ {command}\n{shortened(ran.stdout.replace(f'{WORK}{os.sep}', ''))}"


def shortened(text: str) -> str:
    """Return what was printed with the first and the last line of progress only."""
    lines = text.splitlines()
    progress = [k for k, line in enumerate(lines) if PROGRESS.search(line)]
    for k in progress[1:-1]:
        lines[k] = "..." if k == progress[1] else ""
    return "\n".join(line for k, line in enumerate(lines) if line or k not in progress) + "\n"


def killed_and_resumed() -> str:
    """Return the screen of a fit that is killed half way, and of the command that goes on."""
    results = WORK / "killed" / "run" / "results"
    begun = subprocess.Popen(
        shlex.split(KILLED), cwd=WORK, env=environment(), stderr=subprocess.DEVNULL
    )
    while begun.poll() is None and len(list(results.glob("*"))) < 20:
        time.sleep(0.05)
    begun.kill()
    begun.wait()
    return f"$ {KILLED}\nKilled\n" + screen("foldwise resume killed")


def take_apart(page: str) -> None:
    """Write each section of a report as a piece of HTML with a style of its own.

    In a declarative shadow root neither the site's style nor the report's reaches the other; the
    colours come from the site, so that they follow its dark and light.
    """
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL).group(1)
    light, dark = re.findall(r":root \{(.*?)\}", style, re.DOTALL)[:2]
    style = DARK.sub("", style)
    style = re.sub(r":root \{.*?\}", "", style, flags=re.DOTALL).replace("body {", ".body {")
    colours = f".report {{{light}}}\nhtml[data-theme='dark'] .report {{{dark}}}\n"
    (GENERATED / "static" / "report.css").write_text(colours, encoding="utf-8")
    found = re.findall(
        r'<(section|details) id="(\w+)".*?</\1>(?=\s*<(?:nav|details|/main))', page, re.DOTALL
    )
    for tag, key in found:
        piece = re.search(
            rf'<{tag} id="{key}".*?</{tag}>(?=\s*<(?:nav|details|/main))', page, re.DOTALL
        )
        text = re.sub(
            rf'<details id="{key}" class="section">',
            f'<details id="{key}" class="section" open>',
            piece.group(0),
        )
        # The report's tables and figures are made for a whole page.
        style_here = f"<style>{style} .body {{ padding: 1rem; zoom: .85; }}</style>"
        inside = f"{style_here}<div class='body'>{text}</div>"
        html = f'<div class="report"><template shadowrootmode="open">{inside}</template></div>\n'
        (SCREENS / f"report_{key}.html").write_text(html, encoding="utf-8")


def make_screens(_: Any, __: Any) -> None:
    """Run every command and take the report apart, unless that was done."""
    done = SCREENS / "done"
    if done.exists():
        return
    # What a build that was cut short left there is in the way of the fits.
    shutil.rmtree(WORK, ignore_errors=True)
    for folder in (SCREENS, WORK, GENERATED / "static"):
        folder.mkdir(parents=True, exist_ok=True)
    make_table()
    for name, command in COMMANDS.items():
        (SCREENS / f"{name}.txt").write_text(screen(command), encoding="utf-8")
    (SCREENS / "resume.txt").write_text(killed_and_resumed(), encoding="utf-8")
    report = (WORK / "model" / "report.html").read_text(encoding="utf-8")
    (GENERATED / "static" / "report.html").write_text(report, encoding="utf-8")
    take_apart(report)
    done.touch()


def written_report(_: Any, variables: dict[str, Any], __: Any) -> str:
    """Show the report that an example has written, as the page it is."""
    page = str(variables["example_globals"].get("text", ""))
    if not page.lower().startswith("<!doctype html"):
        return ""
    folder = GENERATED / "static"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "example_report.html").write_text(page, encoding="utf-8")
    style = DARK.sub("", page.split("<style>")[1].split("</style>")[0])
    figure = max(re.findall(r"<svg.*?</svg>", page, re.DOTALL), key=len)
    start = '<svg xmlns="http://www.w3.org/2000/svg" style="background: #fff" '
    thumb = figure.replace("<svg ", start, 1).replace(">", f"><style>{style}</style>", 1)
    (folder / "report_thumb.svg").write_text(thumb, encoding="utf-8")
    frame = '<iframe class="page" src="../../_static/example_report.html" title="report"></iframe>'
    return f".. raw:: html\n\n    {frame}\n"


def whole_pictures(_: Any, __: Any) -> None:
    """Let every picture of an example be as large as its labels need."""
    import matplotlib as mpl

    mpl.rcParams["savefig.bbox"] = "tight"


def setup(app: Any) -> dict[str, bool]:
    app.connect("config-inited", make_screens)
    app.config.html_static_path.append("generated/static")
    return {"parallel_read_safe": True}
