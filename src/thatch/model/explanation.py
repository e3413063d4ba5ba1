"""Why an event does or does not match: every condition, whether it holds, and the value seen.

On an event with lists the flat event that meets most conditions of an alternative is shown, with the chosen
elements named. Lists are independent of each other, so the best element of each is found on its own; only lists
that a condition over two attributes ties together are looked at together, up to a limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from thatch.model.conjunctions import Conjunction
from thatch.model.events import Choice, Record
from thatch.model.lines import RANK_TEXTS, Cut, value_at
from thatch.model.matching import holds
from thatch.model.names import ANYWHERE, base_of, derived_key
from thatch.model.printing import printed_conditions
from thatch.model.residuals import Residual
from thatch.model.schema import Schema
from thatch.model.tree_matching import holds_on_tree
from thatch.model.tree_printing import tree_text
from thatch.model.trees import AllOf, AnyOf, Tree, bases_of
from thatch.model.wording import literal_text

__all__ = ["Alternative", "Explanation", "Finding", "explain", "explain_tree"]

_LONGEST = 200  # characters of a group of alternatives that are shown

_TEXTS = [ANYWHERE, derived_key(("lower",), ANYWHERE)]
_MAX_WAYS = 100_000  # to choose from lists that one condition ties together
_NUMBERS = {0: "none", 1: "one"}


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
    reason: str = ""  # why it does not match, whatever its filter says

    def __bool__(self) -> bool:
        return self.matches

    def overruled(self, reason: str) -> Explanation:
        """The explanation of a subscription that for some reason matches nothing."""
        return Explanation(matches=False, alternatives=self.alternatives, reason=reason)

    def __str__(self) -> str:
        told = (
            f"does not match, because {self.reason}; its filter alone:" if self.reason else "does not match"
        )
        lines = ["matches" if self.matches else told]
        if len(self.alternatives) == 1:
            return "\n".join(lines + _drawn(self.alternatives[0], ""))
        count = sum(alternative.holds for alternative in self.alternatives)
        lines[0] += f": {_NUMBERS.get(count, count)} of {len(self.alternatives)} alternatives hold"
        lines[0] += "s" if count < 2 else ""
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


def explain_tree(tree: Tree, schema: Schema | None, record: Record) -> Explanation:
    """Explain a factored filter on an event: a group of alternatives inside it is one condition."""
    parts = sorted(tree.children, key=str) if isinstance(tree, AnyOf) else [tree]
    alternatives = []
    for part in parts:
        conditions = sorted(part.children, key=str) if isinstance(part, AllOf) else [part]
        printed = [_TreeCondition(_shortened(tree_text(each, schema)), each) for each in conditions]
        alternatives.append(_explained(printed, record, is_so=holds_on_tree(part, record)))
    return Explanation(any(each.holds for each in alternatives), tuple(alternatives))


class _Condition(Protocol):
    """What is found to hold or not."""

    @property
    def text(self) -> str: ...

    @property
    def keys(self) -> list[str]: ...

    @property
    def residual(self) -> Residual | None: ...

    def holds(self, flat: Record) -> bool: ...


@dataclass(frozen=True, slots=True)
class _TreeCondition:
    """A part of a tree as one condition on all attributes that it is about."""

    text: str
    tree: Tree
    residual: None = None

    @property
    def keys(self) -> list[str]:
        return sorted(bases_of(self.tree))

    def holds(self, flat: Record) -> bool:
        """Whether an event without lists satisfies it."""
        return holds_on_tree(self.tree, flat)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _alternative(conjunction: Conjunction, record: Record, schema: Schema | None) -> Alternative:
    return _explained(printed_conditions(conjunction, schema), record, is_so=holds(conjunction, record))


def _explained(conditions: Sequence[_Condition], record: Record, *, is_so: bool) -> Alternative:
    texts = {key: record.point(key) for each in conditions for key in _texts_seen(each)}
    points, chosen = _best(conditions, record, texts)
    flat = Record({**points, **texts})
    findings = [Finding(each.text, each.holds(flat), _seen(each, flat)) for each in conditions]
    return Alternative(tuple(findings), tuple(chosen), is_so)


def _texts_seen(condition: _Condition) -> list[str]:
    """The keys of all texts of an event that a condition looks at."""
    return _TEXTS if ANYWHERE in map(base_of, condition.keys) else []


def _attributes(conditions: Sequence[_Condition]) -> frozenset[str]:
    """The attributes of events that conditions look at."""
    return frozenset(base_of(key) for condition in conditions for key in condition.keys)


# --- the flat event to show ------------------------------------------------------------------------------------

_Way = tuple[dict[str, Cut], list[str]]  # what a choice of elements gives, and the elements by name


def _best(conditions: Sequence[_Condition], record: Record, known: dict[str, Cut]) -> _Way:
    """What a record gives in the flat event that meets most conditions; `known` is given around the record."""
    found, chosen = dict(record.points), []
    known = {**known, **found}
    for choices in _tied(conditions, record.choices):
        given = frozenset().union(*(choice.keys for choice in choices))
        relevant = [condition for condition in conditions if _attributes([condition]) & given]
        points, names = max(
            _ways(relevant, choices, known), key=lambda way: _met(relevant, {**known, **way[0]})
        )
        found.update(points)
        chosen += names
    return found, chosen


def _met(conditions: Sequence[_Condition], points: dict[str, Cut]) -> int:
    flat = Record(points)
    return sum(condition.holds(flat) for condition in conditions)


def _tied(conditions: Sequence[_Condition], choices: Sequence[Choice]) -> list[list[Choice]]:
    """The lists that some condition looks at, those together that one condition looks at together."""
    if not choices:
        return []
    attributes = _attributes(conditions)
    groups = [[choice] for choice in choices if choice.keys & attributes]
    for condition in conditions:
        attributes = _attributes([condition])
        tied = [group for group in groups if any(choice.keys & attributes for choice in group)]
        if len(tied) > 1:
            together = [choice for group in tied for choice in group]
            groups = [together if group is tied[0] else group for group in groups if group not in tied[1:]]
    return groups


def _ways(
    conditions: Sequence[_Condition], choices: Sequence[Choice], known: dict[str, Cut]
) -> Iterator[_Way]:
    """The ways to choose from one list, each element at its best; or all ways to choose from tied lists."""
    if len(choices) > 1:
        yield from islice(_written_out({}, [], choices, _attributes(conditions)), _MAX_WAYS)
        return
    (choice,) = choices
    for index, element in enumerate(choice.elements):
        points, names = _best(conditions, element, known)
        yield points, [_named(choice, index), *names]


def _written_out(
    points: dict[str, Cut], names: list[str], choices: Sequence[Choice], attributes: frozenset[str]
) -> Iterator[_Way]:
    """Every way to choose from lists, as far as the attributes are concerned."""
    if not choices:
        yield points, names
        return
    choice = choices[0]
    if not choice.keys & attributes:
        yield from _written_out(points, names, choices[1:], attributes)
        return
    for index, element in enumerate(choice.elements):
        inner = (*element.choices, *choices[1:])
        yield from _written_out(
            {**points, **element.points}, [*names, _named(choice, index)], inner, attributes
        )


def _named(choice: Choice, index: int) -> str:
    count = len(choice.elements)
    return f"element {index} of {choice.where} ({count} element{'s' if count > 1 else ''})"


def _seen(condition: _Condition, flat: Record) -> str:
    """The values that a condition looks at; for a derived attribute, what it was derived from."""
    residual = condition.residual
    keys = condition.keys if residual is None else residual.keys
    return ", ".join(_value_text(base_of(key), flat) for key in keys)


def _value_text(key: str, flat: Record) -> str:
    place = flat.point(key)
    if place[0] == RANK_TEXTS:
        return f"{len(place[1])} texts"
    if place == (0,):
        return "missing"
    return "NaN" if place == (4,) else literal_text(key, value_at(place))
