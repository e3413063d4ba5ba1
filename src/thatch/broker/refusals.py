"""How what others send is refused: a client is told, a neighbour is not, and both are counted."""

from __future__ import annotations

from typing import Any

from thatch.broker.outgoing import MERGER
from thatch.broker.step import Step
from thatch.broker.tables import Client, Hop, Tables
from thatch.errors import shown
from thatch.model.filters import Filter

__all__ = ["ignore", "refuse", "unusable_filter"]


def refuse(tables: Tables, step: Step, hop: Hop, about: object, reason: str, detail: str = "") -> None:
    """Tell a client, or count what a neighbour did.

    Parameters
    ----------
    reason : one of a few, so that they can be counted
    detail : what makes the reason clear to a client
    """
    if isinstance(hop, Client):
        tables.ignored[reason] += 1
        told = f"{reason}: {detail}" if detail else reason
        step.refuse(hop.name, about if isinstance(about, str) else shown(about), told)
        tables.facts.append((step.cause, about, "refused", hop.name, told))
    else:
        ignore(tables, step, hop.name, reason)
        tables.facts.append((step.cause, about, "ignored", hop.name, reason))


def ignore(tables: Tables, step: Step, sender: str, reason: str) -> None:
    """Count something that was of no use."""
    tables.ignored[reason] += 1
    step.ignore(sender, reason)


def unusable_filter(tables: Tables, hop: Hop, about: Any, filter: Any, expires: Any, now: float) -> str:
    """Why a subscription or an advertisement cannot be taken, empty if it can."""
    if not isinstance(about, str) or not about:
        return "an id that is no text"
    # Neighbours have mergers, too, but not under the numbers that they have on a link before they are told.
    if about.startswith(MERGER) and (isinstance(hop, Client) or about.removeprefix(MERGER).isdigit()):
        return "an id that is kept for mergers"
    if not isinstance(filter, Filter):
        return "a filter that cannot be read"
    if filter.schema != tables.schema:
        return "a filter with another schema"
    if not filter.conjunctions:
        return "a filter that never matches"
    if expires is not None:
        if isinstance(expires, bool) or not isinstance(expires, (int, float)) or expires != expires:
            return "an end that is no number"
        if expires <= now:
            return "an end that is past"
    return ""
