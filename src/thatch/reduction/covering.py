"""Is every event that matches this filter matched by one of those? With a proof, or with an event that is not.

A filter lies in the union of others exactly when each of its conjunctions does. Conjunctions become boxes, see
`coordinates`, and a checker of boxes gives a proof or a point outside. Around the point is a cell that no other reaches.
If there is an event in it, that is the witness. If it is proved that there is none (the cell's place on a derived
attribute contradicts that on the attribute itself, say), the cell counts as covered. If none was found otherwise, it
counts as covered by assumption, and a proof that rests on an assumption proves nothing.

The same loop serves sets too large to be written out (counterexample-guided refinement, CEGAR): it starts without
rows, asks who matches the event that was found, and adds what does.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from thatch.engine import Engine
from thatch.errors import ParameterError, UnknownSubscriptionError, shown
from thatch.model.conjunctions import Conjunction
from thatch.model.events import read_event
from thatch.model.filters import Filter
from thatch.model.language import FilterSource, parse
from thatch.model.matching import holds
from thatch.model.schema import Schema
from thatch.reduction.deciding import decider
from thatch.reduction.event_boxes import EventBox
from thatch.reduction.problem import Verdict, Work
from thatch.reduction.refinement import Asked, Refinement
from thatch.reduction.witnesses import Event, example

__all__ = ["covered_by"]

_MOST_LOOKED_AT = 8  # subscriptions that match one event and are added at once


def covered_by(
    filter: FilterSource | EventBox,
    others: Sequence[FilterSource] | Engine,
    *,
    algorithm: str = "exact",
    budget: float | None = None,
    delta: float | None = None,
    rng: np.random.Generator | None = None,
    literal: bool = False,
    cap: int | None = None,
) -> Verdict[Event]:
    """Whether the union of some filters is proved to contain a filter.

    Parameters
    ----------
    filter : text, a JSON pattern, a Python expression, a `thatch.Filter`, or an `EventBox`: an imprecise event
    others : a sequence of such filters, or an `Engine` for its subscriptions
    algorithm : "exact"; "pairwise" (only one of the others by itself); "rspc" (paper 000: random points)
    budget : exact: most cells looked at for one box, None for a default that follows the number of rows
    delta : rspc: the probability of a wrong yes that is accepted, between 0 and 1
    rng : rspc: where random points come from
    literal : rspc: as the paper has it, where the error is not bounded by `delta`
    cap : rspc: most points drawn for one box, None for as many as `delta` needs

    Returns
    -------
    A verdict; `used` are numbers of `others`, or ids of subscriptions. «No» comes with an event as witness that was
    matched against the filter and all others; it is None where all that may be uncovered holds no value (`decided_by`
    "gap"), or no event was found for derived attributes or checks ("residual").

    Raises
    ------
    FilterError
        If one of the filters is none.
    SchemaError
        If the filters have different schemas.
    ParameterError
        If another argument is out of its range.

    Examples
    --------
    >>> verdict = covered_by("price < 100", ["price < 60 and size > 5", "price < 100 and size <= 5"])
    >>> verdict.covered, verdict.witness
    (False, {'price': 60})
    >>> covered_by("price < 100", ["price < 60", "price between 50 and 100"]).used
    (0, 1)
    """
    decide = decider(algorithm, budget=budget, delta=delta, rng=rng, literal=literal, cap=cap)
    known, asked = _read(filter, others)
    if decide is None:
        return _pairwise(asked, known)
    return Refinement(asked, known, decide).verdict()


def _read(
    filter: FilterSource | EventBox, others: Sequence[FilterSource] | Engine
) -> tuple[_Listed | _Subscriptions, Asked]:
    if isinstance(others, Engine):
        known: _Listed | _Subscriptions = _Subscriptions(others)
    else:
        if isinstance(others, str | bytes | Mapping | Filter) or not isinstance(others, Iterable):
            raise ParameterError("a sequence of filters, or a thatch.Engine", shown(others), "others")
        sources = list(others)
        schemas = [each.schema for each in (filter, *sources) if isinstance(each, Filter)]
        schema = schemas[0] if schemas else None
        known = _Listed([parse(each, schema) for each in sources], schema)
    if isinstance(filter, EventBox):
        return known, _Imprecise(filter, known.schema)
    return known, _Precise(parse(filter, known.schema))


def _pairwise(asked: Asked, known: _Listed | _Subscriptions) -> Verdict[Event]:
    """Whether one of the others contains it by itself. «No» proves nothing, unless an event is matched by none."""
    event = next(
        (found for each in asked.conjunctions(()) if (found := example(each, known.schema)) is not None), None
    )
    looked_at = 0
    # What contains it matches any event of it.
    for name, each in known.all() if event is None else known.matching(event, limit=None):
        looked_at += 1
        if asked.covered_by(each):
            used: tuple[Any, ...] = (name,)
            return Verdict(
                covered=True, certain=True, decided_by="pairwise", used=used, work=Work(rows=looked_at)
            )
    if event is not None and not looked_at:
        return Verdict(covered=False, certain=True, decided_by="pairwise", witness=event)
    return Verdict(covered=None, certain=False, decided_by="pairwise", work=Work(rows=looked_at))


class _Precise:
    """A filter that is asked for."""

    def __init__(self, filter: Filter) -> None:
        self._filter = filter

    def conjunctions(self, bases: Iterable[str]) -> Sequence[Conjunction]:  # noqa: ARG002 - it knows them itself
        return self._filter.conjunctions

    def covered_by(self, other: Filter) -> bool:
        return other.covers(self._filter)


class _Imprecise:
    """An event box that is asked for; what it does not name is missing."""

    def __init__(self, box: EventBox, schema: Schema | None) -> None:
        self._box = box
        self._schema = schema

    def conjunctions(self, bases: Iterable[str]) -> Sequence[Conjunction]:
        return (self._box.conjunction(bases, self._schema),)

    def covered_by(self, other: Filter) -> bool:
        return other.covers(self._box.filter(other))


class _Listed:
    """Filters by their numbers."""

    def __init__(self, filters: list[Filter], schema: Schema | None) -> None:
        self.schema = schema
        self._filters = filters

    def all(self) -> Iterator[tuple[Hashable, Filter]]:
        return iter(enumerate(self._filters))

    def matching(self, event: Event, limit: int | None = None) -> Iterator[tuple[Hashable, Filter]]:  # noqa: ARG002
        record = read_event(event, self.schema)
        for number, each in enumerate(self._filters):
            if any(holds(conjunction, record) for conjunction in each.conjunctions):
                yield number, each


class _Subscriptions:
    """The subscriptions of an engine by their ids, known only as events find them."""

    def __init__(self, engine: Engine) -> None:
        self.schema = engine.schema
        self._engine = engine

    def all(self) -> Iterator[tuple[Hashable, Filter]]:
        return iter(())

    def matching(
        self, event: Event, limit: int | None = _MOST_LOOKED_AT
    ) -> Iterator[tuple[Hashable, Filter]]:
        for subscription in self._engine.match(event, limit=limit):
            try:
                found = self._engine.filter(subscription)
            except UnknownSubscriptionError:  # another thread took it away meanwhile
                continue
            yield subscription, found
