"""A line of the table: our figure, a peer's, how they compare, and what was to be reached."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

__all__ = ["Goal", "Row", "at_least", "at_most", "slower_than", "times_faster"]

Verdict = Literal["aim", "yes", "no", "reported"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What a figure or ratio must reach, and what it aims at.

    Parameters
    ----------
    sign : whether it must be at least (≥) or at most (≤) this
    """

    sign: Literal["≥", "≤"]
    must: float
    aim: float | None = None

    def verdict(self, value: float) -> Verdict:
        """How far a value comes."""
        if self.aim is not None and self._reaches(value, self.aim):
            return "aim"
        return "yes" if self._reaches(value, self.must) else "no"

    def _reaches(self, value: float, limit: float) -> bool:
        return value >= limit if self.sign == "≥" else value <= limit


def at_least(must: float, aim: float | None = None) -> Goal:
    """More is better."""
    return Goal(sign="≥", must=must, aim=aim)


def at_most(must: float, aim: float | None = None) -> Goal:
    """Less is better."""
    return Goal(sign="≤", must=must, aim=aim)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One comparison.

    Parameters
    ----------
    what : what was measured
    subscriptions : how many there were
    matches : an event, where that was counted
    ours, unit : our figure
    peer, theirs : the other figure, of the same unit
    ratio : of the two: of `times_faster` theirs to ours, of `slower_than` ours to theirs
    goal : for the ratio if there is one, else for our figure
    details : more figures of the same measurement, by name
    workload, way : which workload was matched, and whether one event a call or in a batch ("single", "batch");
        results of native peers are set beside rows that have these
    """

    what: str
    subscriptions: int
    ours: float
    unit: str
    matches: float | None = None
    peer: str = ""
    theirs: float | None = None
    ratio: float | None = None
    goal: Goal | None = None
    details: dict[str, float] = field(default_factory=dict)
    workload: str = ""
    way: str = ""

    def verdict(self) -> Verdict:
        """Whether the goal is reached."""
        if self.goal is None:
            return "reported"
        return self.goal.verdict(self.ours if self.ratio is None else self.ratio)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "verdict": self.verdict()}


def times_faster(row: Row, peer: str, theirs: float, goal: Goal | None = None) -> Row:
    """The same measurement beside a peer: how many times as long the peer takes."""
    return Row(
        what=row.what,
        subscriptions=row.subscriptions,
        matches=row.matches,
        ours=row.ours,
        unit=row.unit,
        peer=peer,
        theirs=theirs,
        ratio=theirs / row.ours,
        goal=goal,
    )


def slower_than(row: Row, base: str, theirs: float, goal: Goal | None = None) -> Row:
    """The same measurement beside an easier one of our own: how many times as long this one takes."""
    return Row(
        what=row.what,
        subscriptions=row.subscriptions,
        matches=row.matches,
        ours=row.ours,
        unit=row.unit,
        peer=base,
        theirs=theirs,
        ratio=row.ours / theirs,
        goal=goal,
        details=row.details,
        workload=row.workload,
        way=row.way,
    )
