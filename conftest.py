"""Which doctests can run here: those of the networks need torch."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("torch") else ["src/foldwise/nets/estimators.py"]
