"""What an event is for a window: when it happened, for which keys it counts, and as what."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any, NamedTuple

from thatch.errors import EventError, ParameterError, shown
from thatch.model.derived import FIRST_MICROSECOND, LAST_MICROSECOND, microseconds_of
from thatch.model.events import Record, read_event
from thatch.model.lines import RANK_NUMBER, RANK_TEXT, Cut
from thatch.model.names import base_of, holds_named, name_of
from thatch.model.values import canonical_number, is_id
from thatch.windows.problem import Occurrence, Rule

__all__ = ["MAX_KEYS_AN_EVENT", "Occurrences", "moment", "occurrences_of"]

MAX_KEYS_AN_EVENT = 1_000  # lists of one event side by side multiply
MAX_OCCURRENCES_AN_EVENT = 1_000_000  # keys times subscriptions
_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
_A_TIME = "seconds since 1970 or a time such as '2026-01-31T12:00:00Z', of the years 1 to 9999"


class Occurrences(NamedTuple):
    """The time of an event, None if it has none and none is needed, and what it counts as."""

    time: int | None
    some: list[Occurrence]
    lacks_key: bool = False  # it would have counted, but for an attribute that is missing


def occurrences_of(
    rule: Rule, event: Mapping[str, Any], matches: Collection[str] | None, time: float | datetime | None
) -> Occurrences:
    """What an event is for a window.

    Parameters
    ----------
    matches : the ids of the subscriptions that want it, as an engine gave them
    time : when it happened, if its attribute does not say so

    Raises
    ------
    EventError
        If the event is none, or would count and has no time.
    """
    _check_matches(rule, matches)
    wants = _wants(rule, event, matches)
    needed = [*rule.by, rule.attribute] if rule.attribute else rule.by
    record = _read(event, [*needed, rule.time] if time is None else needed)
    if time is not None:
        when: int | None = moment(time, "time")
    else:
        when = _time_of(record, rule.time, is_needed=bool(wants))
    if not wants:
        return Occurrences(when, [])
    assert when is not None
    rows = [row for row in _rows(record, list(needed)) if all(cut[0] not in (0, 4) for cut in row)]
    if len(wants) * len(rows) > MAX_OCCURRENCES_AN_EVENT:
        raise EventError(
            f"at most {MAX_OCCURRENCES_AN_EVENT:,} keys of all subscriptions for one event",
            f"{len(rows):,} keys for each of {len(wants):,} subscriptions",
        )
    width = len(rule.by)
    some = [
        Occurrence(when, (subscription, row[:width]), row[width:] or what)
        for subscription, what in wants
        for row in rows
    ]
    return Occurrences(when, some, not rows)


def _check_matches(rule: Rule, matches: Collection[str] | None) -> None:
    if isinstance(matches, (str, bytes)) or not isinstance(matches, (Collection, type(None))):
        raise ParameterError("a list of ids", shown(matches), "matches")
    if matches is None:
        needed = next((each for each in rule.steps if isinstance(each, str)), None)
        if needed is not None:
            expected = f"the ids that `Engine.match` gives, since the window counts those of {shown(needed)}"
            raise ParameterError(expected, "none", "matches")
    elif not all(map(is_id, matches)):
        raise ParameterError("ids", shown(matches), "matches")


def _wants(
    rule: Rule, event: Mapping[str, Any], matches: Collection[str] | None
) -> list[tuple[str, tuple[int, ...]]]:
    """For which subscriptions the event counts, and as which steps."""
    if not rule.steps:
        return [("", ())] if matches is None else [(each, ()) for each in sorted(set(matches))]
    among = set(matches or ())
    steps = tuple(
        number
        for number, step in enumerate(rule.steps)
        if (step in among if isinstance(step, str) else step.matches(event))
    )
    if not steps:
        return []
    return [("", steps if rule.kind == "sequence" else ())]


def _read(event: Mapping[str, Any], keys: Collection[str]) -> Record:
    """The part of an event that has these attributes, read."""
    if type(event) is not dict and not isinstance(event, Mapping):
        return read_event(event)  # refuses it
    names = {name_of(base_of(key)) for key in keys}
    return read_event(
        {
            name: value
            for name, value in event.items()
            if not isinstance(name, str) or holds_named(name, names)
        }
    )


def moment(value: float | datetime, where: str) -> int:
    """Microseconds since 1970 of seconds or of a datetime with a time zone."""
    number: Any = value
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            expected = "a datetime with a time zone, such as datetime.now(UTC)"
            raise EventError(expected, f"{shown(value)} without one", where)
        return (value - _EPOCH) // _MICROSECOND
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise EventError(_A_TIME, shown(value), where)
    return _of_number(number, where)


def _is_time(number: float) -> bool:
    return FIRST_MICROSECOND <= number * 10**6 <= LAST_MICROSECOND  # NaN is not


def _of_number(number: float, where: str) -> int:
    if not _is_time(number):
        raise EventError(_A_TIME, shown(number), where)
    return number * 10**6 if isinstance(number, int) else round(number * 10**6)


def _time_of(record: Record, key: str, *, is_needed: bool) -> int | None:
    """When an event happened, by its attribute."""
    place = record.point(key)
    if place[0] == RANK_NUMBER and (is_needed or _is_time(place[1])):
        return _of_number(place[1], name_of(key))
    if place[0] == RANK_TEXT:
        time = microseconds_of(place[1])
        if time is not None:
            return time
    if not is_needed:
        return None
    is_listed = any(key in choice.keys for choice in record.choices)
    got = "a list" if is_listed else "nothing" if place[0] == 0 else shown(place[1] if place[1:] else place)
    raise EventError(_A_TIME, got, name_of(key))


def _rows(record: Record, keys: list[str]) -> set[tuple[Cut, ...]]:
    """The points of these attributes in every flat event of a record."""
    held = [[key for key in keys if base_of(key) in choice.keys] for choice in record.choices]
    listed = set().union(*held) if held else set()
    plain = [key for key in keys if key not in listed]
    parts = [(plain, {tuple(_canonical(record.point(key)) for key in plain)})]
    for choice, some in zip(record.choices, held, strict=True):
        if some:
            parts.append((some, set().union(*(_rows(element, some) for element in choice.elements))))
    count = 1
    for _, rows in parts:
        count *= len(rows)
        if count > MAX_KEYS_AN_EVENT:
            raise EventError(
                f"at most {MAX_KEYS_AN_EVENT:,} keys of one event", f"lists of {count:,}", ", ".join(keys)
            )
    names = [key for some, _ in parts for key in some]
    order = [names.index(key) for key in keys]
    joined = (sum(rows, ()) for rows in product(*(rows for _, rows in parts)))
    return {tuple(row[position] for position in order) for row in joined}


def _canonical(place: Cut) -> Cut:
    """A point that is written in one way only, whichever equal number came first."""
    return (RANK_NUMBER, canonical_number(place[1]), 0) if place[0] == RANK_NUMBER else place
