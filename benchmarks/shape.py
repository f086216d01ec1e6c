"""The shape of the source: how much of it there is, and how far a plain fit walks through it.

Counts files, lines and code lines (without docstrings, comments and blanks) of each room; class
names that stand for two things; mixins of ours that set attributes; and, for one plain stack, the
files of ours that run and the frames of ours between ``fit`` and the first ``learner.fit``.
With ``--duplicates COMMAND``, a program that lists pairs of places sharing six or more lines and
says their number first, that number too.

``ratio`` is the bar of 24,500 code lines over the code lines there are.
"""

import argparse
import ast
import io
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Ridge

import foldwise
from foldwise import StackingRegressor

SOURCE = Path(foldwise.__file__).parent
MOST_CODE = 24_500
NOTHING = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstring_lines(tree: ast.Module) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            lines |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return lines


def counts(path: Path) -> Counter[str]:
    """Return the lines, code lines, docstring lines and comments of a file."""
    text = path.read_text()
    described = docstring_lines(ast.parse(text))
    code: set[int] = set()
    comments = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        comments += token.type == tokenize.COMMENT
        if token.type not in NOTHING:
            code |= set(range(token.start[0], token.end[0] + 1))
    return Counter(
        files=1,
        lines=text.count("\n"),
        code=len(code - described),
        docstrings=len(described),
        comments=comments,
    )


def classes() -> tuple[dict[str, list[str]], list[str]]:
    """Return class names with more than one home, and mixins that set attributes."""
    homes: dict[str, list[str]] = defaultdict(list)
    setting = []
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.ClassDef):
                continue
            homes[node.name].append(str(path.relative_to(SOURCE)))
            stores = any(
                isinstance(part, ast.Attribute)
                and isinstance(part.ctx, ast.Store)
                and isinstance(part.value, ast.Name)
                and part.value.id == "self"
                for part in ast.walk(node)
            )
            if node.name.endswith("Mixin") and stores:
                setting.append(node.name)
    return {name: where for name, where in homes.items() if len(where) > 1}, setting


class Plain(RegressorMixin, BaseEstimator):
    """A learner without a shortcut that notes who called it first."""

    frames: tuple[str, ...] = ()

    def fit(self, X, y):
        if not Plain.frames:
            frame, found = sys._getframe(1), []
            while frame is not None:
                name = frame.f_code.co_filename
                if name.startswith(str(SOURCE)):
                    found.append(f"{Path(name).relative_to(SOURCE)}:{frame.f_code.co_name}")
                frame = frame.f_back
            Plain.frames = tuple(reversed(found))
        self.mean_ = float(np.mean(y))
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def walk() -> tuple[list[str], tuple[str, ...]]:
    """Return the files of ours that a plain fit runs, and its frames down to a learner's fit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X[:, 0] + rng.normal(size=60)
    learners = [("plain", Plain()), ("ridge", Ridge())]
    StackingRegressor(learners, final_estimator=Ridge()).fit(X, y)
    seen: set[str] = set()

    def trace(frame, *_):
        name = frame.f_code.co_filename
        if name.startswith(str(SOURCE)):
            seen.add(str(Path(name).relative_to(SOURCE)))

    stack = StackingRegressor(learners, final_estimator=Ridge())
    sys.setprofile(trace)
    stack.fit(X, y)
    sys.setprofile(None)
    return sorted(seen), Plain.frames


def main(duplicates: str | None) -> None:
    rooms: dict[str, Counter[str]] = defaultdict(Counter)
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE)
        rooms[place.parts[0] if len(place.parts) > 1 else "(top)"] += counts(path)
    total = sum(rooms.values(), Counter())
    columns = ("files", "lines", "code", "docstrings", "comments")
    print(f"{'room':12s}" + "".join(f"{name:>12s}" for name in columns))
    for room, found in [*rooms.items(), ("all", total)]:
        print(f"{room:12s}" + "".join(f"{found[name]:12,d}" for name in columns))
    twice, setting = classes()
    print("class names for two things:", twice or "none")
    print("mixins that set attributes:", setting or "none")
    files, frames = walk()
    print(f"a plain fit runs {len(files)} files:", dict(Counter(Path(f).parts[0] for f in files)))
    print(f"{len(frames)} frames from fit to learner.fit:", " > ".join(frames))
    if duplicates:
        command = [*duplicates.split(), "--repo", str(SOURCE.parent), "--seconds", "60"]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        print("pairs of places that share six lines:", run.stdout.split("\n")[0])
    print(f"bar over code lines  ratio: {MOST_CODE / total['code']:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--duplicates", help="a command that counts repeated places")
    main(parser.parse_args().duplicates)
