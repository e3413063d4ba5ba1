"""Who wants an event that is known only up to intervals: surely, possibly, or not at all (paper 000, section 2).

A subscription wants it *surely* if it matches whatever the event may be, *not* if it matches nothing that the event may
be, else *possibly*. Somebody wants it surely if the union of all subscriptions matches whatever it may be: a group may
be sure where none of its members is, which is the subsumption problem with the event box as its question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from thatch.errors import EventError, ParameterError, shown
from thatch.model.filters import Filter
from thatch.model.language import FilterSource, parse
from thatch.reduction.covering import covered_by
from thatch.reduction.event_boxes import EventBox
from thatch.reduction.problem import Verdict
from thatch.reduction.witnesses import Event

__all__ = ["EventBox", "Sureness", "Wanted", "sureness"]

Wanted = Literal["surely", "possibly", "not"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sureness:
    """How sure it is that an imprecise event is wanted.

    Parameters
    ----------
    each : by each filter
    together : by at least one of them
    verdict : the proof for `together`, or an event that none of them wants
    """

    each: tuple[Wanted, ...]
    together: Wanted
    verdict: Verdict[Event]


def sureness(box: EventBox, filters: Sequence[FilterSource], *, budget: float | None = None) -> Sureness:
    """How sure it is that filters, and that at least one of them, match an imprecise event.

    Parameters
    ----------
    box : all that the event may be
    filters : texts, JSON patterns, Python expressions or filters, all of one schema
    budget : as for `covered_by`; where it is not enough to be sure the answer is "possibly"

    Notes
    -----
    "surely" and "not" are proved; "possibly" says no more than that neither is.

    Examples
    --------
    >>> box = EventBox({"price": (100, 110)})
    >>> answer = sureness(box, ["price < 106", "price > 104", "price > 200"])
    >>> answer.each, answer.together
    (('possibly', 'possibly', 'not'), 'surely')
    """
    if not isinstance(box, EventBox):
        raise EventError("a thatch.EventBox", f"{shown(box)} of type {type(box).__name__}")
    if isinstance(filters, str) or not isinstance(filters, Sequence):
        raise ParameterError("a sequence of filters", shown(filters), "filters")
    schema = next((each.schema for each in filters if isinstance(each, Filter)), None)
    parsed = [parse(each, schema) for each in filters]
    verdict = covered_by(box, parsed, budget=budget)
    each = tuple(_wanted(box, filter, budget) for filter in parsed)
    if verdict.covered:
        return Sureness(each=each, together="surely", verdict=verdict)
    is_excluded = all(wanted == "not" for wanted in each)
    return Sureness(each=each, together="not" if is_excluded else "possibly", verdict=verdict)


def _wanted(box: EventBox, filter: Filter, budget: float | None) -> Wanted:
    if not filter.intersects(box.filter(filter)):
        return "not"
    return "surely" if covered_by(box, [filter], budget=budget).covered else "possibly"
