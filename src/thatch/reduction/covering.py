"""Does every event that matches this filter match one of those? Answered with a proof, or with an event that does not.

A filter lies in the union of others exactly when each of its conjunctions does. Conjunctions become boxes (see
`coordinates`), and a box checker returns a proof or an uncovered point. The point lies in a cell that none of the others
reaches, and one of three things follows:

- There is an event in the cell: it is the witness.
- There provably is none, for example because the cell's range for `lower(name)` contradicts its range for `name`: the
  cell counts as covered.
- None was found: the cell is assumed to be covered, and a proof that rests on an assumption proves nothing.

The same loop (`refinement`) handles sets too large to write out. It starts without rows, asks which subscriptions match
the event it found, and adds those (counterexample-guided refinement, CEGAR).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from thatch.engine import Engine
from thatch.errors import EventError, ParameterError, shown
from thatch.model.filters import Filter
from thatch.model.language import FilterSource, parse
from thatch.reduction.event_boxes import EventBox
from thatch.reduction.problem import BoxVerdict, Verdict, Work
from thatch.reduction.refinement import (
    Checker,
    EngineFilters,
    EventBoxTarget,
    FilterTarget,
    ListedFilters,
    Others,
    Refinement,
    Target,
)
from thatch.reduction.rows import NearbyRows
from thatch.reduction.tree_refinement import decide_by_events
from thatch.reduction.witnesses import Event, example

__all__ = ["Sureness", "covered_by", "sureness"]

_ALGORITHMS = ("exact", "pairwise", "rspc")


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
    """Decide whether the union of some filters contains a filter.

    Parameters
    ----------
    filter : text, a JSON pattern, a Python expression, a `thatch.Filter`, or an `EventBox` (an imprecise event)
    others : a sequence of such filters, or an `Engine` for its subscriptions
    algorithm : "exact"; "pairwise" (a single one of the others must contain it); "rspc" (random points, ouksel2006)
    budget : exact: most cells searched for one box, None for a default that depends on the number of rows
    delta : rspc: accepted probability of a wrong yes, between 0 and 1
    rng : rspc: source of random points
    literal : rspc: as in the paper, where `delta` does not bound the error
    cap : rspc: most points drawn for one box, None for as many as `delta` needs

    Returns
    -------
    A verdict; `used` has positions in `others`, or ids of subscriptions. A no has an event as witness, which was matched
    against the filter and all others. `covered` is None if the part that may be uncovered holds no value (`decided_by`
    is "gap"), or if no event was found for derived attributes or checks ("residual").

    Raises
    ------
    FilterError
        If one of the filters is invalid.
    SchemaError
        If the filters have different schemas.
    ParameterError
        If another argument is out of range.

    Examples
    --------
    >>> verdict = covered_by("price < 100", ["price < 60 and size > 5", "price < 100 and size <= 5"])
    >>> verdict.covered, verdict.witness
    (False, {'price': 60})
    >>> covered_by("price < 100", ["price < 60", "price between 50 and 100"]).used
    (0, 1)
    """
    checker = _make_checker(algorithm, budget, delta, rng, literal=literal, cap=cap)
    known, target = _read(filter, others)
    if checker is None:
        return _decide_pairwise(target, known)
    if algorithm != "exact":
        return Refinement(target, known, checker).verdict()
    return _decide_exactly(target, known, checker, budget)


# --- imprecise events ------------------------------------------------------------------------------------------------

Wanted = Literal["surely", "possibly", "not"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sureness:
    """How sure it is that filters match an imprecise event.

    Parameters
    ----------
    each : for each filter
    together : for at least one of them
    verdict : the proof for `together`, or a possible event that none of them matches
    """

    each: tuple[Wanted, ...]
    together: Wanted
    verdict: Verdict[Event]


def sureness(box: EventBox, filters: Sequence[FilterSource], *, budget: float | None = None) -> Sureness:
    """Say how sure it is that each filter, and at least one of them, matches an imprecise event.

    A filter matches *surely* if it matches everything the event may be, *not* if it matches nothing the event may be,
    and *possibly* otherwise. A group may be sure where no member is (ouksel2006, section 2).

    Parameters
    ----------
    box : all that the event may be
    filters : texts, JSON patterns, Python expressions or filters, all of one schema
    budget : as for `covered_by`; the answer is "possibly" where it runs out

    Notes
    -----
    "surely" and "not" are proved; "possibly" only says that neither was.

    Examples
    --------
    >>> box = EventBox({"price": (100, 110)})
    >>> answer = sureness(box, ["price < 106", "price > 104", "price > 200"])
    >>> answer.each, answer.together
    (('possibly', 'possibly', 'not'), 'surely')
    """
    if not isinstance(box, EventBox):
        raise EventError("a thatch.reduction.EventBox", f"{shown(box)} of type {type(box).__name__}")
    if isinstance(filters, str) or not isinstance(filters, Sequence):
        raise ParameterError("a sequence of filters", shown(filters), "filters")
    schema = next((each.schema for each in filters if isinstance(each, Filter)), None)
    parsed = [parse(each, schema) for each in filters]
    verdict = covered_by(box, parsed, budget=budget)
    each = tuple(_sureness_of_one(box, filter, budget) for filter in parsed)
    if verdict.covered:
        return Sureness(each=each, together="surely", verdict=verdict)
    is_excluded = all(wanted == "not" for wanted in each)
    return Sureness(each=each, together="not" if is_excluded else "possibly", verdict=verdict)


def _sureness_of_one(box: EventBox, filter: Filter, budget: float | None) -> Wanted:
    if not filter.intersects(box.filter(filter)):
        return "not"
    return "surely" if covered_by(box, [filter], budget=budget).covered else "possibly"


# --- algorithms ------------------------------------------------------------------------------------------------------


def _make_checker(
    algorithm: str,
    budget: float | None,
    delta: float | None,
    rng: np.random.Generator | None,
    *,
    literal: bool,
    cap: int | None,
) -> Checker | None:
    """Check the parameters and return the checker of boxes; None for "pairwise", which needs none."""
    if algorithm not in _ALGORITHMS:
        raise ParameterError(" or ".join(map(repr, _ALGORITHMS)), shown(algorithm), "algorithm")
    if budget is not None and not (_is_number(budget) and budget >= 1):
        raise ParameterError("at least 1 cell", shown(budget), "budget")
    if delta is not None and not (_is_number(delta) and 0 < delta < 1):
        raise ParameterError("between 0 and 1", shown(delta), "delta")
    if cap is not None and not (isinstance(cap, Integral) and _is_number(cap) and cap >= 1):
        raise ParameterError("at least 1 point", shown(cap), "cap")
    if rng is not None and not isinstance(rng, np.random.Generator):
        raise ParameterError("a numpy.random.Generator", shown(rng), "rng")
    if algorithm == "pairwise":
        return None
    if algorithm == "exact":
        return partial(_check_exactly, budget)
    if delta is None or rng is None:
        missing = "delta" if delta is None else "rng"
        raise ParameterError(f"The algorithm 'rspc' needs `{missing}`", where=missing)
    return partial(_check_by_points, {"rng": rng, "literal": literal, "cap": cap}, delta)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _check_exactly(budget: float | None, near: NearbyRows, _boxes: int) -> BoxVerdict:
    from thatch.reduction.branch_and_bound import search

    return near.trivial_verdict() or search(near.low, near.high, near.lows, near.highs, budget)


def _check_by_points(options: Mapping[str, Any], delta: float, near: NearbyRows, boxes: int) -> BoxVerdict:
    from thatch.reduction.probabilistic import decide_in_cells, rspc

    decide = partial(
        rspc, delta=delta / boxes, **options
    )  # all boxes must be covered: each gets its share of the error
    return near.trivial_verdict() or decide_in_cells(decide, near.low, near.high, near.lows, near.highs)


def _decide_exactly(target: Target, known: Others, checker: Checker, budget: float | None) -> Verdict[Event]:
    """Decide by boxes, and filters with patterns or very many alternatives by events."""
    if not known.suits_boxes or not target.suits_boxes:
        verdict = decide_by_events(target.filter_among(known), known, budget)
        if verdict.covered is not None:
            return verdict
        return Refinement(target, known, checker).verdict()
    verdict = Refinement(target, known, checker).verdict()
    if verdict.covered is None and (verdict.decided_by == "residual" or not known.suits_boxes):
        by_events = decide_by_events(target.filter_among(known), known, budget)
        return verdict if by_events.covered is None else by_events
    return verdict


def _decide_pairwise(target: Target, known: Others) -> Verdict[Event]:
    """Decide whether a single one contains it. If none does, that proves nothing, unless none matches some event of it."""
    conjunctions = target.conjunctions(()) if target.has_conjunctions else ()
    event = next(
        (found for each in conjunctions if (found := example(each, known.schema)) is not None),
        None,
    )
    tried = 0
    # A filter that contains it matches every event of it.
    for name, each in known.all() if event is None else known.find_matching(event, limit=None):
        tried += 1
        if target.is_covered_by(each):
            return Verdict(
                covered=True, certain=True, decided_by="pairwise", used=(name,), work=Work(rows=tried)
            )
    if event is not None and not tried:
        return Verdict(covered=False, certain=True, decided_by="pairwise", witness=event)
    return Verdict(covered=None, certain=False, decided_by="pairwise", work=Work(rows=tried))


def _read(filter: FilterSource | EventBox, others: Sequence[FilterSource] | Engine) -> tuple[Others, Target]:
    if isinstance(others, Engine):
        known: Others = EngineFilters(others)
    else:
        if isinstance(others, str | bytes | Mapping | Filter) or not isinstance(others, Iterable):
            raise ParameterError("a sequence of filters, or a thatch.Engine", shown(others), "others")
        sources = list(others)
        schemas = [each.schema for each in (filter, *sources) if isinstance(each, Filter)]
        schema = schemas[0] if schemas else None
        known = ListedFilters([parse(each, schema) for each in sources], schema)
    if isinstance(filter, EventBox):
        return known, EventBoxTarget(filter, known.schema)
    return known, FilterTarget(parse(filter, known.schema))
