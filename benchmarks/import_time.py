"""What `from foldwise import StackingRegressor` costs beside `import sklearn.ensemble, pandas`.

Seconds of processor of fresh interpreters, in turn, with bytecode written before, as pip does.
The bar is 1.3 times.

    python benchmarks/import_time.py [--repeats 15]

The ratio is the bar over what was measured.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys

BAR = 1.3
OURS, THEIRS = "from foldwise import StackingRegressor", "import sklearn.ensemble, pandas"


def seconds(statement: str) -> float:
    """Return the seconds of processor of an interpreter that runs a statement."""
    own = {name: v for name, v in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", statement], env=own, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=15)
    repeats = parser.parse_args().repeats
    for statement in (OURS, THEIRS):
        seconds(statement)
    taken = [(seconds(OURS), seconds(THEIRS)) for _ in range(repeats)]
    times = statistics.median(ours / theirs for ours, theirs in taken)
    for statement, values in zip((OURS, THEIRS), zip(*taken, strict=True), strict=True):
        print(
            f"{statement:42s} median {statistics.median(values):.2f} s, least {min(values):.2f} s"
        )
    print(f"median of the pairs: {times:.2f} times as long")
    print(f"import (bar {BAR} times)  ratio: {BAR / times:.2f}")


if __name__ == "__main__":
    main()
