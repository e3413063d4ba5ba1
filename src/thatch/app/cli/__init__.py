"""The `thatch` command: one file for each subcommand."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from thatch import __version__
from thatch.app.cli.bench import bench
from thatch.app.cli.check import check
from thatch.app.cli.demo import demo
from thatch.app.cli.experiments import experiments
from thatch.app.cli.explain import explain
from thatch.app.cli.load import load
from thatch.app.cli.match import match
from thatch.app.cli.output import fail, say
from thatch.app.cli.place import place
from thatch.app.cli.plan import plan
from thatch.app.cli.profile import profile
from thatch.app.cli.reduce import reduce
from thatch.app.cli.serve import serve
from thatch.app.cli.simulate import simulate
from thatch.errors import ThatchError

__all__ = ["app", "main"]

app = typer.Typer(
    name="thatch",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for command in (match, explain, check, demo, load, profile, reduce, place, simulate, serve):
    app.command()(command)
app.add_typer(bench)
app.add_typer(experiments)
app.add_typer(plan)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        say(__version__)
        raise typer.Exit


@app.callback()
def thatch(
    _: Annotated[
        bool,
        typer.Option("--version", help="Print the version and stop.", is_eager=True, callback=_print_version),
    ] = False,
) -> None:
    """Content-based publish/subscribe: match, explain and check large sets of subscriptions.

    \b
    Examples:
      $ thatch match subscriptions.csv events.jsonl
      $ thatch explain "price < 150" '{"price": 180}'
      $ thatch check subscriptions.csv
    """


def main() -> None:
    """Run the command line. Expected errors are printed as one message, without a traceback."""
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # here, so that its errors are handled below
    except ThatchError as error:
        fail(str(error))
    except BrokenPipeError:  # the reader is gone, as after `| head`
        _discard_output()
        sys.exit(1)
    except OSError as error:
        _discard_output()
        fail(str(error))


def _discard_output() -> None:
    """Discard further output, so that Python does not fail again when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
