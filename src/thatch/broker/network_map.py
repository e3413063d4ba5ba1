"""Which brokers there are and how they are linked, as each of them has reported.

Every broker reports its links, and reports travel everywhere, so that all brokers come to know the whole network. Which
links must go then follows from what is known, in whatever order it came: all links have one order, from the oldest to
the newest, and a link must go if older ones connect its ends already. What stays is the minimum spanning tree. A link
that goes is never missed: the older links that made it superfluous stay, or others that are older still connect the
same brokers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TypeAlias

from thatch.broker.channel import began, is_session
from thatch.broker.messages import Report

__all__ = ["Age", "NetworkMap", "age", "read_reports"]

Age: TypeAlias = tuple[tuple[float, int], str, str]


def age(one: str, other: str, since: str) -> Age:
    """The place of a link in the order of all links; the newest is the greatest."""
    return (began(since), *sorted((one, other)))  # type: ignore[return-value] # of two names


def read_reports(reports: object) -> tuple[Report, ...] | None:
    """Reports that a neighbour sent, None if they are malformed."""
    return reports if isinstance(reports, tuple) and all(map(_is_report, reports)) else None


def _is_report(report: object) -> bool:
    return (
        isinstance(report, tuple)
        and len(report) == 3
        and isinstance(report[0], str)
        and is_session(report[1])
        and isinstance(report[2], tuple)
        and all(
            isinstance(each, tuple) and len(each) == 2 and isinstance(each[0], str) and is_session(each[1])
            for each in report[2]
        )
    )


class NetworkMap:
    """The newest report of each broker."""

    def __init__(self, reports: Iterable[Report] = ()) -> None:
        self.reports: dict[str, Report] = {}
        self._links: dict[str, dict[str, str]] = {}
        for each in reports:
            self.put(each)

    def is_news(self, report: Report) -> bool:
        """Whether a report is newer than what is known."""
        known = self.reports.get(report[0])
        return known is None or began(report[1]) > began(known[1])

    def put(self, report: Report) -> None:
        """Replace the report of a broker."""
        self.reports[report[0]] = report
        self._links[report[0]] = dict(report[2])

    def forget(self, brokers: Iterable[str]) -> None:
        """Forget what some brokers reported."""
        for each in brokers:
            del self.reports[each], self._links[each]

    def reached(self, start: str) -> set[str]:
        """The brokers that are connected with one, as far as those on the way have reported, itself included."""
        found, pending = {start}, [start]
        while pending:
            for each in self._links.get(pending.pop(), ()):
                if each not in found:
                    found.add(each)
                    pending.append(each)
        return found

    def path(self, start: str, goal: str, before: Age) -> list[str] | None:
        """A shortest path over links that both ends have reported and that are older than some age, if there is one."""
        origin, pending = {start: start}, deque([start])
        while pending and goal not in origin:
            here = pending.popleft()
            for there, since in self._links.get(here, {}).items():
                if there not in origin and self._is_older(here, there, since, before):
                    origin[there] = here
                    pending.append(there)
        if goal not in origin:
            return None
        path = [goal]
        while path[-1] != start:
            path.append(origin[path[-1]])
        return path[::-1]

    def _is_older(self, here: str, there: str, since: str, before: Age) -> bool:
        return self._links.get(there, {}).get(here) == since and age(here, there, since) < before
