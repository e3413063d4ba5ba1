"""Why an event does or does not match: every condition, whether it holds, and the value seen.

On an event with lists the flat event that meets most conditions of an alternative is shown, with the chosen
elements named. Lists are independent of each other, so the best element of each is found on its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thatch.model.conjunctions import Conjunction
from thatch.model.events import Record
from thatch.model.lines import Cut, contains, value_at
from thatch.model.matching import holds
from thatch.model.names import base_of
from thatch.model.printing import PrintedCondition, literal_text, printed_conditions
from thatch.model.residuals import Residual
from thatch.model.schema import Schema

__all__ = ["Alternative", "Explanation", "Finding", "explain"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One condition on the event: whether it holds, and the values seen, as text."""

    condition: str
    holds: bool
    seen: str


@dataclass(frozen=True, slots=True)
class Alternative:
    """One conjunction of the filter: its conditions, and which elements of lists were chosen to look at."""

    findings: tuple[Finding, ...]
    chosen: tuple[str, ...]
    holds: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """The whole answer; `str` draws it as a tree. True in a condition if the event matches."""

    matches: bool
    alternatives: tuple[Alternative, ...]

    def __bool__(self) -> bool:
        return self.matches

    def __str__(self) -> str:
        lines = ["matches" if self.matches else "does not match"]
        if len(self.alternatives) == 1:
            return "\n".join(lines + _drawn(self.alternatives[0], ""))
        lines[0] += f": {'one' if self.matches else 'none'} of {len(self.alternatives)} alternatives holds"
        for number, alternative in enumerate(self.alternatives, 1):
            is_last = number == len(self.alternatives)
            mark = "yes" if alternative.holds else "no "
            lines.append(f"{'└' if is_last else '├'} {mark} alternative {number}")
            lines += _drawn(alternative, "  " if is_last else "│ ")
        return "\n".join(lines)


def _drawn(alternative: Alternative, indent: str) -> list[str]:
    lines = [f"{indent}  with {place}" for place in alternative.chosen]
    width = max((len(finding.condition) for finding in alternative.findings), default=0)
    for finding in alternative.findings:
        branch = "└" if finding is alternative.findings[-1] else "├"
        mark = "yes" if finding.holds else "no "
        lines.append(f"{indent}{branch} {mark} {finding.condition:<{min(width, 60)}}  saw {finding.seen}")
    if not alternative.findings:
        lines.append(f"{indent}└ yes true")
    return lines


def explain(conjunctions: Sequence[Conjunction], schema: Schema | None, record: Record) -> Explanation:
    """Explain a filter's conjunctions on an event."""
    alternatives = tuple(_alternative(each, record, schema) for each in conjunctions)
    return Explanation(any(each.holds for each in alternatives), alternatives)


def _alternative(conjunction: Conjunction, record: Record, schema: Schema | None) -> Alternative:
    points, chosen = _best(conjunction, record)
    flat = Record(points)
    findings = [_finding(condition, flat) for condition in printed_conditions(conjunction, schema)]
    return Alternative(tuple(findings), tuple(chosen), holds(conjunction, record))


def _finding(condition: PrintedCondition, flat: Record) -> Finding:
    is_met = all(contains(constraint, flat.point(key)) for key, constraint in condition.constraints)
    keys: Sequence[str] = [key for key, _ in condition.constraints]
    if condition.residual is not None:
        keys = condition.residual.keys
        is_met = is_met and condition.residual.holds([flat.point(key) for key in keys])
    return Finding(condition.text, is_met, ", ".join(_seen(key, flat) for key in keys))


def _best(conjunction: Conjunction, record: Record) -> tuple[dict[str, Cut], list[str]]:
    """The flat event of a record that meets most conditions, and the elements chosen for it."""
    points = dict(record.points)
    chosen: list[str] = []
    for choice in record.choices:
        best: tuple[int, int, dict[str, Cut], list[str]] | None = None
        for index, element in enumerate(choice.elements):
            inner, names = _best(conjunction, element)
            score = _met(conjunction, choice.keys, {**points, **inner})
            if best is None or score > best[0]:
                best = (score, index, inner, names)
        assert best is not None
        _, index, inner, names = best
        points.update(inner)
        if any(base_of(key) in choice.keys for key, _ in conjunction.constraints):
            chosen += [f"element {index} of {choice.where} ({len(choice.elements)} elements)", *names]
    return points, chosen


def _met(conjunction: Conjunction, keys: frozenset[str], points: dict[str, Cut]) -> int:
    """How many conditions on these attributes hold; a residual counts once its attributes are known."""
    flat = Record(points)
    constraints = sum(
        contains(constraint, flat.point(key))
        for key, constraint in conjunction.constraints
        if base_of(key) in keys
    )
    return constraints + sum(_residual_met(residual, keys, flat) for residual in conjunction.residuals)


def _residual_met(residual: Residual, keys: frozenset[str], flat: Record) -> bool:
    names: Sequence[str] = residual.keys
    return any(base_of(key) in keys for key in names) and residual.holds([flat.point(key) for key in names])


def _seen(key: str, flat: Record) -> str:
    """The value at an attribute; for a derived one, what it was derived from."""
    base = base_of(key)
    place = flat.point(base)
    if place == (0,):
        return "missing"
    return "NaN" if place == (4,) else literal_text(base, value_at(place))
