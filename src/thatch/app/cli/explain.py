"""`thatch explain`: why does an event match a filter, or not?"""

from __future__ import annotations

import json
from typing import Annotated

import typer

from thatch import EventError, parse
from thatch.app.cli.options import reads_files
from thatch.app.cli.output import say
from thatch.app.cli.sources import load_engine
from thatch.errors import shown
from thatch.formats.reading import Reading
from thatch.formats.rules import pipeline_given
from thatch.model.values import reason_of

__all__ = ["explain"]


@reads_files
def explain(
    filter: Annotated[str, typer.Argument(help="Filter text or JSON pattern; with --subscriptions, an id.")],
    event: Annotated[str, typer.Argument(help="The event as JSON.")],
    subscriptions: Annotated[
        str | None, typer.Option(help="File of subscriptions in which to find the id.")
    ] = None,
    *,
    reading: Reading,
) -> None:
    """Show which conditions of a filter hold for an event, and the values seen.

    Exits with status 0 if the event matches, and with status 1 if it does not.

    \b
    Examples:
      $ thatch explain "symbol = 'IBM' and price < 150" '{"symbol": "IBM", "price": 180}'
      $ thatch explain '{"price": [{"numeric": ["<", 150]}]}' '{"price": 120}'
      $ thatch explain "env in (prod, test)" '{"env": "prod"}' --language labels
      $ thatch explain cheap-ibm '{"symbol": "IBM", "price": 180}' --subscriptions subscriptions.csv
    """
    try:
        read = json.loads(event)
    except (ValueError, RecursionError) as error:
        raise EventError("an event as JSON", f"{shown(event)} ({reason_of(error)})") from None
    if subscriptions is None:
        found = parse(filter, reading.schema, language=reading.language, pipeline=pipeline_given(reading))
    else:
        found = load_engine(subscriptions, reading).filter(filter)
    explanation = found.explain(read)
    say(str(explanation))
    if not explanation.matches:
        raise typer.Exit(1)
