"""The command ``foldwise``: its modules are light, the work is imported when a command runs."""

import click

from foldwise import __version__
from foldwise.cli import fitting, models, tables


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    commands=[
        fitting.demo,
        fitting.fit,
        fitting.resume,
        models.predict,
        models.report,
        models.leaderboard,
        models.explain,
        tables.rules,
        tables.inspect,
    ],
)
@click.version_option(__version__, prog_name="foldwise")
def app() -> None:
    """Ensembles that know their own error.

    From a table to a model with an honest score: foldwise demo shows how. Nothing is written
    unless asked for, and nothing is ever sent anywhere.
    """
