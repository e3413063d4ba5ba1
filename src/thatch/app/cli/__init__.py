"""The `thatch` command: one file a command."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from thatch import __version__
from thatch.app.cli.check import check
from thatch.app.cli.demo import demo
from thatch.app.cli.explain import explain
from thatch.app.cli.match import match
from thatch.app.cli.output import fail
from thatch.errors import ThatchError

__all__ = ["app", "main"]

app = typer.Typer(
    name="thatch",
    help="Content-based publish/subscribe: match, explain and check large sets of standing queries.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for command in (match, explain, check, demo):
    app.command()(command)


@app.callback()
def version(
    show: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", is_eager=True)
    ] = False,
) -> None:
    """Content-based publish/subscribe: match, explain and check large sets of standing queries.

    \b
    Examples:
      $ thatch match subscriptions.csv events.jsonl
      $ thatch explain "price < 150" '{"price": 180}'
      $ thatch check subscriptions.csv
    """
    if show:
        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line; an error of ours is one message, not a traceback."""
    try:
        app()
    except ThatchError as error:
        fail(str(error))
    except BrokenPipeError:  # the reader went away, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
