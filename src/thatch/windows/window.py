"""`thatch.Window`: alerts when something happens often enough, or in a row, within some time."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from heapq import heapify, heappop, heappush
from typing import Any, Unpack

from thatch.errors import ParameterError, shown
from thatch.model.language import FilterSource, parse
from thatch.model.language.python import Attribute
from thatch.model.lines import value_at
from thatch.model.names import base_of, key_of, name_of
from thatch.model.values import is_id
from thatch.windows import files
from thatch.windows.language import rule_of_text, text_of_rule
from thatch.windows.occurrences import moment, occurrences_of
from thatch.windows.problem import (
    Alert,
    Fulfilment,
    Group,
    Occurrence,
    Rule,
    Step,
    WindowLimits,
    microseconds,
    seconds_of,
)
from thatch.windows.progress import Progress, progress_of

__all__ = ["Window"]

Names = str | Attribute | Sequence[str | Attribute]
Steps = Sequence[str | FilterSource]


class Window:
    """A rule over time. Made by `Window.count`, `Window.distinct`, `Window.sequence` or `Window.parse`.

    Events are given to `add` as they come, with the ids of the subscriptions that want them. The window is no engine for
    complex event processing: docs/how-to/windows.md says what it does not do. It is for one thread at a time; it can be
    pickled, and saved.

    Examples
    --------
    >>> import thatch
    >>> engine = thatch.Engine()
    >>> engine.subscribe("failure", "action = 'login' and outcome = 'failure'")
    >>> window = thatch.Window.count(at_least=3, within=60, by="user")
    >>> for second in (0, 20, 40):
    ...     event = {"time": second, "user": "ann", "action": "login", "outcome": "failure"}
    ...     for alert in window.add(event, engine.match(event)):
    ...         print(alert.subscription, alert.key, alert.first, alert.last)
    failure {'user': 'ann'} 0.0 40.0
    """

    def __init__(
        self,
        rule: Rule,
        *,
        lateness: float | str | timedelta = 0,
        max_keys: int = 100_000,
        max_waiting: int = 1_000_000,
    ) -> None:
        if not isinstance(rule, Rule):
            raise ParameterError(
                "Window.count, Window.distinct, Window.sequence or Window.parse", shown(rule)
            )
        for name, value in (("max_keys", max_keys), ("max_waiting", max_waiting)):
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ParameterError("a whole number of at least 1", shown(value), name)
        self.rule = rule
        self._lateness = microseconds(lateness, "lateness")
        self._max_keys, self._max_waiting = max_keys, max_waiting
        self._watermark: int | None = None
        self._waiting: list[Occurrence] = []  # a heap
        self._keys: OrderedDict[Group, Progress] = OrderedDict()  # by the time of the last occurrence
        self._counts = dict.fromkeys(files.COUNTS, 0)

    # --- rules ---------------------------------------------------------------------------------------------------

    @classmethod
    def count(
        cls,
        at_least: int,
        within: float | str | timedelta,
        by: Names = (),
        *,
        of: Steps = (),
        time: str = "time",
        **options: Unpack[WindowLimits],
    ) -> Window:
        """Alert when a key has `at_least` matches within a time.

        Parameters
        ----------
        at_least : how many
        within : a number of seconds, a timedelta or a text such as `5m`: how much later the last may be than the first
        by : the attributes by which matches are kept apart: names, or `thatch.attr("user").lower()`. An event that lacks
            one does not count; a list stands for its elements
        of : what counts, together: ids of subscriptions, or filters that are no text (`thatch.parse(…)`). By default
            every subscription counts by itself, and without `matches` every event counts
        time : the attribute that tells when an event happened: seconds since 1970, or a text such as
            `2026-01-31T12:00:00Z`
        lateness : how much later than others an event may come in any order (seconds, as `within`); what waits for others
            is counted when they can no longer come. With 0, events are taken as they come, and those earlier than one
            that was taken are late
        max_keys : the most keys to remember; beyond, the one without an occurrence for longest is forgotten
        max_waiting : the most occurrences to keep while others may still come; beyond, the earliest are taken
        """
        rule = Rule(
            kind="count",
            at_least=at_least,
            within=microseconds(within, "within"),
            by=_keys_of(by, "by"),
            steps=_steps_of(of, "of"),
            time=_key_of(time, "time"),
        )
        return cls(rule, **options)

    @classmethod
    def distinct(
        cls,
        attribute: str | Attribute,
        at_least: int,
        within: float | str | timedelta,
        by: Names = (),
        *,
        of: Steps = (),
        time: str = "time",
        **options: Unpack[WindowLimits],
    ) -> Window:
        """Alert when matches of a key have `at_least` different values of an attribute within a time.

        Parameters
        ----------
        attribute : its name; an event that lacks it does not count
        at_least, within, by, of, time, lateness, max_keys, max_waiting : as for `count`
        """
        rule = Rule(
            kind="distinct",
            attribute=_key_of(attribute, "attribute"),
            at_least=at_least,
            within=microseconds(within, "within"),
            by=_keys_of(by, "by"),
            steps=_steps_of(of, "of"),
            time=_key_of(time, "time"),
        )
        return cls(rule, **options)

    @classmethod
    def sequence(
        cls,
        steps: Steps,
        within: float | str | timedelta,
        by: Names = (),
        *,
        time: str = "time",
        **options: Unpack[WindowLimits],
    ) -> Window:
        """Alert when a key has an event for each step, in this order, within a time.

        One event is one step only. Of events of the same time, those of earlier steps come first.

        Parameters
        ----------
        steps : ids of subscriptions, or filters that are no text
        within, by, time, lateness, max_keys, max_waiting : as for `count`
        """
        taken = _steps_of(steps, "steps")
        rule = Rule(
            kind="sequence",
            at_least=len(taken),
            within=microseconds(within, "within"),
            by=_keys_of(by, "by"),
            steps=taken,
            time=_key_of(time, "time"),
        )
        return cls(rule, **options)

    @classmethod
    def parse(cls, text: str, *, time: str = "time", **options: Unpack[WindowLimits]) -> Window:
        """The window of a text such as `count 5 in 60s by user`; the other parameters are those of `count`.

        Examples
        --------
        >>> import thatch
        >>> thatch.Window.parse("distinct host 10 of failure in 5m by lower(user)")
        <thatch.Window distinct host 10 of failure in 300s by lower(user)>
        """
        return cls(rule_of_text(text, time=_key_of(time, "time")), **options)

    # --- events --------------------------------------------------------------------------------------------------

    def add(
        self,
        event: Mapping[str, Any],
        matches: Collection[str] | None = None,
        *,
        time: float | datetime | None = None,
    ) -> list[Alert]:
        """Take an event; return the alerts that are certain now, in the order of time.

        Parameters
        ----------
        matches : the ids of the subscriptions that want the event, as `Engine.match` gives them
        time : when it happened, in seconds since 1970 or as a datetime with a time zone; by default its attribute says so

        Raises
        ------
        EventError
            If the event is none, or would count and has no time. Nothing has changed then.
        """
        when, some, lacks_key = occurrences_of(self.rule, event, matches, time)
        self._counts["without_key"] += lacks_key
        if when is None:
            return []
        if some and self._watermark is not None and when < self._watermark:
            self._counts["late"] += 1
            return []
        for each in some:
            heappush(self._waiting, each)
        return self._take_until(when - self._lateness)

    def advance(self, time: float | datetime) -> list[Alert]:
        """Say that no event before this time will come any more; return the alerts that are certain now."""
        return self._take_until(moment(time, "time"))

    def finish(self) -> list[Alert]:
        """Say that no event at all will come any more; return the alerts that are left."""
        last = max((each.time for each in self._waiting), default=None)
        return [] if last is None else self._take_until(last)

    def attributes(self) -> frozenset[str]:
        """The names of the attributes that the window reads; with those of its filters, if it has any."""
        rule = self.rule
        keys = {*rule.by, rule.time, *([rule.attribute] if rule.attribute else ())}
        filters = (each for each in rule.steps if not isinstance(each, str))
        return frozenset(
            name_of(base_of(key)) for key in keys.union(*(each.attributes() for each in filters))
        )

    @property
    def watermark(self) -> float | None:
        """Events before this time are late, in seconds since 1970; None before the first event."""
        return None if self._watermark is None else seconds_of(self._watermark)

    def stats(self) -> dict[str, int]:
        """What is remembered, and what was left out.

        `keys` and `waiting` are held now. Counted so far: `alerts`; `late`, events that came too late to count;
        `without_key`, events that lack an attribute; `evicted_keys`, forgotten for `max_keys`; `hurried`, occurrences
        taken early for `max_waiting`.
        """
        return {"keys": len(self._keys), "waiting": len(self._waiting), **self._counts}

    # --- files ---------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the rule and all that is remembered to a file; raises `OutputError` as `Engine.save` does."""
        limits = {
            "lateness": self._lateness,
            "max_keys": self._max_keys,
            "max_waiting": self._max_waiting,
            "watermark": self._watermark,
            "counts": self._counts,
        }
        files.write_window(path, self.rule, limits, self._waiting, self._keys, overwrite=overwrite)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Window:
        """Open a saved window; raises `IndexFileError` for what is none."""
        rule, limits, waiting, keys = files.read_window(path)
        window = cls(rule, max_keys=limits["max_keys"], max_waiting=limits["max_waiting"])
        window._lateness, window._watermark = limits["lateness"], limits["watermark"]
        window._counts.update(limits["counts"])
        window._waiting, window._keys = waiting, keys
        heapify(window._waiting)
        return window

    def __repr__(self) -> str:
        return f"<thatch.Window {text_of_rule(self.rule)}>"

    # --- inside --------------------------------------------------------------------------------------------------

    def _take_until(self, time: int) -> list[Alert]:
        """Raise the watermark to a time, and take what lies no later."""
        watermark = time if self._watermark is None else max(self._watermark, time)
        waiting, alerts = self._waiting, list[Alert]()
        while waiting and (waiting[0].time <= watermark or len(waiting) > self._max_waiting):
            each = heappop(waiting)
            if each.time > watermark:
                watermark = each.time
                self._counts["hurried"] += 1
            found = self._take(each)
            if found is not None:
                alerts.append(self._alert(each, found))
        self._watermark = watermark
        self._counts["alerts"] += len(alerts)
        return alerts

    def _take(self, each: Occurrence) -> Fulfilment | None:
        keys = self._keys
        progress = keys.get(each.group)
        if progress is None:
            progress = keys[each.group] = progress_of(self.rule)
        else:
            keys.move_to_end(each.group)
        progress.last = each.time
        found = progress.take(self.rule, each.time, each.what)
        if found is not None:
            del keys[each.group]
        oldest = each.time - self.rule.within
        while keys and keys[group := next(iter(keys))].last < oldest:
            del keys[group]  # what it remembers is too old for anything that comes
        if len(keys) > self._max_keys:
            keys.popitem(last=False)
            self._counts["evicted_keys"] += 1
        return found

    def _alert(self, last: Occurrence, found: Fulfilment) -> Alert:
        subscription, place = last.group
        return Alert(
            subscription=subscription or None,
            key=dict(zip(map(_shown_key, self.rule.by), map(value_at, place), strict=True)),
            first=seconds_of(found.first),
            last=seconds_of(last.time),
            count=found.number,
            values=tuple(map(value_at, found.values)),
        )


def _shown_key(key: str) -> str:
    """A plain attribute by its name, others as filters write them."""
    return key if key[-1] == ")" else name_of(key)


def _key_of(value: Any, what: str) -> str:
    if isinstance(value, Attribute):
        return value.key
    if not is_id(value):
        raise ParameterError("the name of an attribute", shown(value), what)
    return key_of(value)


def _keys_of(value: Any, what: str) -> tuple[str, ...]:
    if isinstance(value, (str, Attribute)):
        return (_key_of(value, what),)
    if not isinstance(value, Sequence):
        raise ParameterError("names of attributes", shown(value), what)
    return tuple(_key_of(each, what) for each in value)


def _steps_of(values: Any, what: str) -> tuple[Step, ...]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise ParameterError("a list of ids of subscriptions, or of filters", shown(values), what)
    if not all(is_id(each) for each in values if isinstance(each, str)):
        raise ParameterError("ids of subscriptions", shown(values), what)
    return tuple(each if isinstance(each, str) else parse(each) for each in values)
