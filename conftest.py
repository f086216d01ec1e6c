"""Which tests can run here: the networks' need torch, and some what Windows does not have."""

import os
import re
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parent
POSIX = (
    r"import (resource|fcntl)$|/proc/|\.chmod\(|\.symlink_to\(|signal\.SIG(KILL|STOP|ALRM)"
    r"|os\.(fork|getuid|killpg|umask)\(|get_context\(.forkserver"
)


def needing_posix() -> list[str]:
    """Return the tests that fork, signal or change modes, themselves or by their helpers."""
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").glob("**/*.py")}
    words, found = POSIX, set[Path]()
    while more := {p for p, text in texts.items() if re.search(words, text, re.MULTILINE)} - found:
        found |= more
        helpers = [p.relative_to(ROOT).with_suffix("") for p in more if p.name[:5] != "test_"]
        words = "|".join(rf"from {'.'.join(path.parts)} import" for path in helpers) or "$^"
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


collect_ignore = [] if find_spec("torch") else ["src/foldwise/nets/estimators.py"]
collect_ignore += needing_posix() if os.name == "nt" else []
