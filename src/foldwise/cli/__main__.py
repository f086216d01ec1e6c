"""``python -m foldwise.cli``."""

from foldwise.cli import main

main()
