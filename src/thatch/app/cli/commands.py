"""The subcommands of `thatch`, one file each."""

from __future__ import annotations

from typing import Annotated

import typer
from typer.main import get_command

from thatch import __version__
from thatch.app.cli.bench import bench
from thatch.app.cli.check import check
from thatch.app.cli.demo import demo
from thatch.app.cli.experiments import experiments
from thatch.app.cli.explain import explain
from thatch.app.cli.load import load
from thatch.app.cli.match import match
from thatch.app.cli.output import say
from thatch.app.cli.place import place
from thatch.app.cli.plan import plan
from thatch.app.cli.profile import profile
from thatch.app.cli.reduce import reduce
from thatch.app.cli.serve import serve
from thatch.app.cli.simulate import simulate

__all__ = ["app"]

_typed = typer.Typer(
    name="thatch",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for command in (match, explain, check, demo, load, profile, reduce, place, simulate, serve):
    _typed.command()(command)
_typed.add_typer(bench)
_typed.add_typer(experiments)
_typed.add_typer(plan)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        say(__version__)
        raise typer.Exit


@_typed.callback()
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

    \b
    Pages, in the source's folder docs:
      docs/reference/semantics.md     the languages of filters, and what matches
      docs/reference/files.md         files: columns, missing values, encodings, limits
      docs/reference/command-line.md  exit status, output, progress, environment variables
      docs/glossary.md                the words

    \b
    Exit status:
      0    done; for explain: the event matches
      1    done, and the answer is no: explain, the event does not match; check, there are errors; place, no plan within
           the limits; experiments, a trial failed
      2    not done: wrong arguments, input that cannot be read, output that would replace something
      130  interrupted (Ctrl-C);  143  ended (SIGTERM);  141  nobody reads the output any more
    """


app = get_command(_typed)  # once: a call of Typer's own object reads every signature anew
