"""The command ``foldwise``: its modules are light, the work is imported when a command runs."""

import click
from click.shell_completion import get_completion_class

from foldwise import __version__
from foldwise.cli import fitting, models, tables
from foldwise.cli.options import told_in_words
from foldwise.cli.screen import say


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@told_in_words
def completion(shell: str) -> None:
    """Print what completes commands with the Tab key.

    \b
    $ eval "$(foldwise completion bash)"      # in ~/.bashrc; zsh likewise
    $ foldwise completion fish | source       # in config.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    say(kind(app, {}, "foldwise", "_FOLDWISE_COMPLETE").source())


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
        completion,
    ],
)
@click.version_option(__version__, prog_name="foldwise")
def app() -> None:
    """Ensembles that know their own error.

    From a table to a model with an honest score: foldwise demo shows how. Nothing is written
    unless asked for, and nothing is ever sent anywhere.

    \b
    $ foldwise demo
    $ foldwise fit houses.csv --target price --out model
    $ foldwise predict model new.csv -o predictions.csv
    """
