"""Run a benchmark and keep what it printed, for the page of benchmarks: nobody types a number in.

    python benchmarks/record.py honesty --quick     # writes benchmarks/results/honesty.json

The file says what was run, on which machine, when, at which commit, and what it printed.
"""

import json
import os
import platform
import re
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy
import sklearn

import foldwise

HERE = Path(__file__).parent
RATIO = re.compile(r"^(?P<before>.*?)ratio:\s*(?P<value>[-+.\d]+)(?P<after>.*)$")


def machine() -> str:
    """Return the processor and the number of its cores that may be used."""
    cpu = platform.processor() or platform.machine()
    facts = Path("/proc/cpuinfo")
    if facts.is_file():
        text = facts.read_text(encoding="utf-8")
        named = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
        cpu = named.group(1) if named else cpu
    usable = getattr(os, "sched_getaffinity", None)
    cores = len(usable(0)) if usable else os.cpu_count()
    return f"{cpu}, {cores} cores, {platform.system()}"


def commit() -> str:
    """Return the commit, marked if files were changed since."""
    said = ["git", "-C", str(HERE), "describe", "--always", "--dirty", "--exclude=*"]
    found = subprocess.run(said, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def ratios(lines: list[str]) -> list[dict[str, Any]]:
    """Return every ratio that was printed, with the words before it, or the line above.

    >>> ratios(["linear (goal 20)  ratio: 31.0", "trees", "ratio: 0.9  (ours / theirs)"])
    [{'what': 'linear (goal 20)', 'ratio': 31.0}, {'what': 'trees (ours / theirs)', 'ratio': 0.9}]
    """
    found = []
    for i, line in enumerate(lines):
        said = RATIO.match(line)
        if said:
            words = said["before"].strip() or (lines[i - 1].strip() if i else "")
            what = " ".join([words, said["after"].strip()]).strip()
            found.append({"what": what, "ratio": float(said["value"].rstrip("."))})
    return found


def main() -> None:
    """Run the named benchmark with the arguments that follow, and keep what it prints."""
    name, *arguments = sys.argv[1:]
    script = HERE / f"{Path(name).stem}.py"
    start, lines = time.perf_counter(), []
    with subprocess.Popen(
        [sys.executable, "-u", str(script), *arguments], stdout=subprocess.PIPE, text=True
    ) as run:
        for line in run.stdout or ():
            print(line, end="", flush=True)
            lines.append(line.rstrip("\n"))
    # What misses its bar ends with 1, too, but not before its last ratio.
    if run.returncode and not (lines and RATIO.match(lines[-1])):
        sys.exit(f"{script.name} failed; nothing was written.")
    about = (script.read_text(encoding="utf-8").split('"""')[1]).strip().split("\n\n")[0]
    result = {
        "script": f"benchmarks/{script.name}",
        "command": " ".join(["python", f"benchmarks/{script.name}", *arguments]),
        "about": " ".join(about.split()),
        "machine": machine(),
        "versions": f"Python {platform.python_version()}, foldwise {foldwise.__version__}, "
        f"scikit-learn {sklearn.__version__}, NumPy {numpy.__version__}",
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "commit": commit(),
        "seconds": round(time.perf_counter() - start),
        "ratios": ratios(lines),
        "output": lines,
    }
    folder = HERE / "results"
    folder.mkdir(exist_ok=True)
    text = json.dumps(result, indent=1, ensure_ascii=False) + "\n"
    (folder / f"{script.stem}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
