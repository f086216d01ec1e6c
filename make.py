"""Every command of the repository, on every system: ``python make.py test``.

``make test`` does the same where there is make; this needs Python 3.11 or later and nothing else.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
WINDOWS = os.name == "nt"
CACHES = (".mypy_cache", ".ruff_cache", ".pytest_cache", ".import_linter_cache")
SITE = ("docs/_build", "docs/generated", "docs/gallery", "build", "dist")
# The plain package brings gigabytes of CUDA on Linux; this build has 0.2.
TORCH = "torch==2.13.0+cpu"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def program(home: Path, name: str) -> str:
    """Return the path of a program of an environment."""
    return str(home / ("Scripts" if WINDOWS else "bin") / (f"{name}.exe" if WINDOWS else name))


def run(*command: str, cwd: Path = ROOT, **variables: str) -> None:
    """Run a command; end with its exit code if it fails."""
    print("+", " ".join(Path(command[0]).name if i == 0 else w for i, w in enumerate(command)))
    # What is on a path of the caller's own would be found before what is installed, and every
    # process of the tests would compile everything again.
    without = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
    own = {name: value for name, value in os.environ.items() if name not in without}
    code = subprocess.run(command, cwd=cwd, env=own | variables, check=False).returncode
    if code:
        sys.exit(code)


def environment(home: Path, *packages: str) -> Path:
    """Make an environment with these packages, unless it was made since pyproject.toml changed."""
    ready, wanted = home / "ready", ROOT / "pyproject.toml"
    if ready.exists() and ready.stat().st_mtime > wanted.stat().st_mtime:
        return home
    if not Path(program(home, "python")).exists():
        venv.create(home, with_pip=True)
    python = (program(home, "python"), "-m")
    pip = (*python, "pip", "install", "-q", "--disable-pip-version-check", "--no-compile")
    run(*pip, "--upgrade", "pip")
    run(*pip, *packages)
    # pip would compile in one process, and the tests of others too. What is no Python may fail.
    others = ("-q", "-q", "-j", "2", "-x", r"[/\\]tests[/\\]", str(home))
    subprocess.run((*python, "compileall", *others), check=False)
    ready.touch()
    return home


def environment_with_torch(home: Path, *packages: str) -> Path | None:
    """Make an environment with torch's build for processors; None where that cannot be had."""
    try:
        return environment(home, TORCH, *packages)
    except SystemExit:
        print(f"{TORCH} cannot be installed: what needs it is skipped.")
        return None


def developer() -> Path:
    """Return the environment of developers, made if need be."""
    return environment(ROOT / ".venv", "--editable", ".[dev]")


def setup() -> None:
    """Make .venv."""
    developer()


def lint() -> None:
    """Check style."""
    run(program(developer(), "ruff"), "check", ".")
    run(program(developer(), "ruff"), "format", "--check", ".")


def types() -> None:
    """Check types."""
    run(program(developer(), "mypy"), "--num-workers", "2")


def shape() -> None:
    """Check that imports go downwards."""
    run(program(developer(), "lint-imports"))


def unit() -> None:
    """Run the tests, with doctests and examples."""
    pytest = ("-m", "pytest", "-q", "-n", "2", "--dist", "worksteal")
    run(program(developer(), "python"), *pytest, **ONE_THREAD)


def test() -> None:
    """Run lint, types, shape and unit."""
    for target in (lint, types, shape, unit):
        target()


def test_nets() -> None:
    """Run the tests of the networks, in an environment with torch's build for processors."""
    home = environment_with_torch(ROOT / ".venv-nets", "--editable", ".[dev]")
    if home is None:
        return
    tests = ("tests/nets", "src/foldwise/nets", "tests/test_together.py", "tests/test_examples.py")
    pytest = ("-m", "pytest", "-q", "-n", "2", "--dist", "worksteal")
    run(program(home, "python"), *pytest, *tests, "-k", "nets or Net", **ONE_THREAD)


def demo() -> None:
    """Fit a table that comes along and write foldwise-demo.html."""
    run(program(developer(), "foldwise"), "demo")


def format() -> None:  # noqa: A001
    """Write what lint wants."""
    run(program(developer(), "ruff"), "check", "--fix", ".")
    run(program(developer(), "ruff"), "format", ".")


def docs() -> None:
    """Run the pages' code, build the site into docs/_build/html, and check it."""
    home, packages = ROOT / ".venv-docs", ("--editable", ".[docs]")
    python = program(
        environment_with_torch(home, *packages) or environment(home, *packages), "python"
    )
    run(python, "docs/pages.py", **ONE_THREAD)
    build = ("-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs", "docs/_build/html")
    run(python, *build, **ONE_THREAD)
    run(python, "docs/check.py")


def package() -> None:
    """Build sdist and wheel, and use the wheel where this repository is not."""
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        builder = Path(folder) / "builder"
        venv.create(builder, with_pip=True)
        run(program(builder, "python"), "-m", "pip", "install", "-q", "build", "mypy")
        run(program(builder, "python"), "-m", "build", "--outdir", "dist", ".")
        (wheel,) = (ROOT / "dist").glob("*.whl")
        fresh, away = Path(folder) / "fresh", Path(folder) / "away"
        away.mkdir()
        venv.create(fresh, with_pip=True)
        run(program(fresh, "python"), "-m", "pip", "install", "-q", str(wheel))
        shutil.copy(ROOT / "tests" / "package_check.py", away)
        run(program(fresh, "python"), "package_check.py", cwd=away)
        run(program(fresh, "foldwise"), "demo", cwd=away)
        # scikit-learn has no types of its own.
        strict = (
            "--strict",
            "--ignore-missing-imports",
            "--python-executable",
            program(fresh, "python"),
        )
        run(program(builder, "mypy"), *strict, str(away / "package_check.py"), cwd=away)


def clean() -> None:
    """Remove everything that was made."""
    for name in (".venv", ".venv-docs", ".venv-nets", *CACHES, *SITE):
        shutil.rmtree(ROOT / name, ignore_errors=True)


TARGETS = (test, test_nets, demo, docs, package, lint, types, shape, unit, format, setup, clean)


def main() -> None:
    """Run the targets that were named."""
    known = {target.__name__.replace("_", "-"): target for target in TARGETS}
    named = sys.argv[1:]
    if not named or any(name not in known for name in named):
        lines = [f"  {name:9s} {target.__doc__}" for name, target in known.items()]
        sys.exit("python make.py TARGET ...\n" + "\n".join(lines))
    for name in named:
        known[name]()


if __name__ == "__main__":
    main()
