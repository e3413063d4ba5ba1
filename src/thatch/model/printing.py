"""Canonical text of a normal form; parsing it gives the same normal form again.

A constraint is taken apart by segment of the line. What holds on NaN can only be said by exclusion (`exists`,
`is distinct from`, `is unlike`); everything else is said piece by piece and joined with `or`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thatch.model.conjunctions import Conjunction, points_of
from thatch.model.events import Record
from thatch.model.expressions import CompareFormulas, ComparePair, Expression, Matches, Not, Or, Within
from thatch.model.formulas import text_of as formula_text
from thatch.model.lines import (
    BOTTOM,
    MISSING,
    NULL,
    NUMBERS,
    PRESENT,
    RANK_TEXT,
    TEXTS,
    Constraint,
    Cut,
    contains,
    covers,
    difference,
    first_point,
    intersect,
    intervals,
    is_prefix,
    is_single,
    value_at,
)
from thatch.model.names import base_of
from thatch.model.normalise import normalise
from thatch.model.regexes import Regex
from thatch.model.residuals import AnywhereCheck, FormulaCheck, PairCheck, Residual, WildcardCheck
from thatch.model.schema import Schema, line_of, tighten
from thatch.model.types import Line
from thatch.model.wildcards import escape_wildcard
from thatch.model.wording import literal_text, quote_text

__all__ = ["PrintedCondition", "can_be_said", "constraint_text", "filter_text", "printed_conditions"]

_FALSE: Constraint = ((2,), (3,))
_TRUE: Constraint = ((3,), (4,))
_NAN: Constraint = ((4,), (5,))
_LIKE = ("like", "not like", "is unlike")


def filter_text(conjunctions: Sequence[Conjunction], schema: Schema | None) -> str:
    """The text of a whole normal form."""
    return " or ".join(conjunction_text(each, schema) for each in conjunctions)


def conjunction_text(conjunction: Conjunction, schema: Schema | None) -> str:
    return " and ".join(each.text for each in printed_conditions(conjunction, schema)) or "true"


@dataclass(frozen=True, slots=True)
class PrintedCondition:
    """One condition as text that can stand between two `and`, and what of the conjunction it stands for."""

    text: str
    constraints: tuple[tuple[str, Constraint], ...]
    residual: Residual | None = None

    @property
    def keys(self) -> list[str]:
        """The attributes that it is about, in its own order."""
        keys = [key for key, _ in self.constraints]
        return keys if self.residual is None else list(dict.fromkeys((*self.residual.keys, *keys)))

    def holds(self, flat: Record) -> bool:
        """Whether an event without lists satisfies it."""
        for key, constraint in self.constraints:
            if not contains(constraint, flat.point(key)):
                return False
        return self.residual is None or self.residual.holds([flat.point(key) for key in self.residual.keys])


def printed_conditions(conjunction: Conjunction, schema: Schema | None) -> list[PrintedCondition]:
    """The conditions of one conjunction. A residual also says what its own necessary constraints would."""
    said = _said_by_residuals(conjunction.residuals, schema)
    own = dict(conjunction.constraints)
    unsaid = [(key, constraint) for key, constraint in conjunction.constraints if said.get(key) != constraint]
    result = [
        PrintedCondition(constraint_text(key, constraint, schema), ((key, constraint),))
        for key, constraint in unsaid
    ]
    for residual in conjunction.residuals:
        is_plain = isinstance(residual, WildcardCheck) and own.get(residual.key) == _on(
            TEXTS, residual.key, schema
        )
        bases = {base_of(key) for key in residual.keys}
        stands_for = tuple(each for each in own.items() if each not in unsaid and base_of(each[0]) in bases)
        result.append(PrintedCondition(residual_text(residual, demands_text=is_plain), stands_for, residual))
    return result


def _said_by_residuals(residuals: Sequence[Residual], schema: Schema | None) -> dict[str, Constraint]:
    """What the texts of the residuals already say about their attributes."""
    said: dict[str, Constraint] = {}
    for residual in residuals:
        if isinstance(residual, WildcardCheck) and residual.negated:
            # Printed as `not like`, which says text, exactly where the constraint is all text.
            conditions: Sequence[tuple[str, Constraint]] = [(residual.key, _on(TEXTS, residual.key, schema))]
        else:
            conditions = normalise(_expression(residual), schema).conjunctions[0].constraints
        for key, constraint in conditions:
            said[key] = intersect(said.get(key, constraint), constraint)
    return said


def _expression(residual: Residual) -> Expression:
    if isinstance(residual, WildcardCheck):
        return Matches(residual.key, residual.pattern)
    if isinstance(residual, AnywhereCheck):
        found = Or(tuple(Matches(residual.key, pattern) for pattern in residual.patterns))
        return Not(found) if residual.negated else found
    if isinstance(residual, PairCheck):
        return ComparePair(residual.left, residual.operator, residual.right)
    if isinstance(residual, FormulaCheck):
        return CompareFormulas(residual.left, residual.operator, residual.right)
    within = Within(residual.latitude, residual.longitude, residual.shape)
    return Not(within) if residual.negated else within


def residual_text(residual: Residual, *, demands_text: bool) -> str:
    """A residual check as text; a negated pattern without a demand for text is `is unlike`."""
    if isinstance(residual, AnywhereCheck):
        single = (WildcardCheck(residual.key, each, residual.negated) for each in residual.patterns)
        texts = [residual_text(each, demands_text=True) for each in single]
        return " and ".join(texts) if residual.negated else _joined(texts, " or ")
    if isinstance(residual, WildcardCheck):
        pattern = quote_text(residual.pattern.text)
        yes, no, unlike = ("~", "!~", "is unlike ~") if isinstance(residual.pattern, Regex) else _LIKE
        verb = yes if not residual.negated else no if demands_text else unlike
        return f"{residual.key} {verb} {pattern}"
    if isinstance(residual, PairCheck):
        right = f"attr({residual.right})" if residual.right[0] == '"' else residual.right
        text = f"{residual.left} {residual.operator} {right}"
        return f"not {text}" if residual.negated else text
    if isinstance(residual, FormulaCheck):
        text = f"formula({formula_text(residual.left)} {residual.operator} {formula_text(residual.right)})"
        return f"not {text}" if residual.negated else text
    text = f"within({residual.latitude}, {residual.longitude}, {residual.shape})"
    return f"not {text}" if residual.negated else text


def can_be_said(key: str, constraint: Constraint, schema: Schema | None) -> bool:
    """Whether a filter can have the constraint: if it holds on NaN, it must hold on all but a few other numbers."""
    nan = _on(_NAN, key, schema)
    if not nan or not covers(constraint, nan):
        return bool(constraint)
    return points_of(difference(difference(PRESENT, constraint), TEXTS), None) is not None


def constraint_text(key: str, constraint: Constraint, schema: Schema | None) -> str:
    """A constraint that a filter can have (see `can_be_said`) as text that can stand between two `and`."""
    present = _on(PRESENT, key, schema)
    if constraint == present:
        return f"exists({key})"
    nan = _on(_NAN, key, schema)
    if nan and covers(constraint, nan):
        parts = [_exclusion(key, intersect(constraint, PRESENT))]
        if contains(constraint, BOTTOM):
            parts.insert(0, f"{key} is missing")
    else:
        parts = _pieces(key, constraint, schema)
    return _joined(parts, " or ")


def _on(constraint: Constraint, key: str, schema: Schema | None) -> Constraint:
    return tighten(constraint, line_of(key, schema))


# --- constraints that hold on NaN: everything present but for a few values or texts ------------------------------


def _exclusion(key: str, constraint: Constraint) -> str:
    left_out = difference(PRESENT, constraint)
    conditions = []
    places = points_of(difference(left_out, TEXTS), None)
    assert places is not None, "only single values can be left out below the texts"
    for place in places:
        said = "is not null" if place == (1,) else f"is distinct from {literal_text(key, value_at(place))}"
        conditions.append(f"{key} {said}")
    texts = list(intervals(intersect(left_out, TEXTS)))
    if all(is_single(low, high) for low, high in texts):
        conditions += [f"{key} is distinct from {_first_literal(key, low)}" for low, _ in texts]
    elif len(texts) == 1 and is_prefix(*texts[0]):
        shown, pattern = _pattern(key, texts[0][0])
        conditions.append(f"{shown} is unlike {pattern}")
    else:
        parts = [f"{key} is unlike '%'", *_segment_pieces(key, intersect(constraint, TEXTS), TEXTS, None)]
        conditions.append(_joined(parts, " or "))
    return _joined(conditions, " and ") if conditions else f"exists({key})"


def _joined(parts: list[str], word: str) -> str:
    return parts[0] if len(parts) == 1 else f"({word.join(parts)})"


# --- the other constraints: segment by segment --------------------------------------------------------------------


def _pieces(key: str, constraint: Constraint, schema: Schema | None) -> list[str]:
    line = line_of(key, schema)
    parts = []
    for name, part in (("is missing", MISSING), ("is null", NULL), ("= false", _FALSE), ("= true", _TRUE)):
        there = tighten(part, line)
        if there and covers(constraint, there):
            parts.append(f"{key} {name}")
    for segment in (tighten(NUMBERS, line), tighten(TEXTS, line)):
        parts += _segment_pieces(key, intersect(constraint, segment), segment, line)
    return parts


def _segment_pieces(key: str, part: Constraint, segment: Constraint, line: Line | None) -> list[str]:
    """Intervals of one segment as text: points together, then the rest."""
    if not part:
        return []
    if part == segment:
        return [f"{key} like '%'" if segment[0][0] == RANK_TEXT else f"{key} <= infinity"]
    left_out = _readable(difference(segment, part), segment, line)
    if all(is_single(low, high) for low, high in left_out):
        values = [_first_literal(key, low) for low, _ in left_out]
        return [f"{key} != {values[0]}" if len(values) == 1 else f"{key} not in ({', '.join(values)})"]
    if len(left_out) == 1 and is_prefix(*left_out[0]):
        shown, pattern = _pattern(key, left_out[0][0])
        return [f"{shown} not like {pattern}"]
    spans = _readable(part, segment, line)
    points = [_first_literal(key, low) for low, high in spans if is_single(low, high)]
    result = [_span(key, low, high, segment) for low, high in spans if not is_single(low, high)]
    if points:
        result.insert(0, f"{key} = {points[0]}" if len(points) == 1 else f"{key} in ({', '.join(points)})")
    return result


def _readable(part: Constraint, segment: Constraint, line: Line | None) -> list[tuple[Cut, Cut]]:
    """Intervals whose upper end, on a discrete line, names the last value inside: `<= 5` and not `< 6`."""
    if line is None:
        return list(intervals(part))
    return [(low, high if high == segment[-1] else line.before(high)) for low, high in intervals(part)]


def _span(key: str, low: Cut, high: Cut, segment: Constraint) -> str:
    """One interval with more than one value."""
    if is_prefix(low, high):
        shown, pattern = _pattern(key, low)
        return f"{shown} like {pattern}"
    lower = "" if low == segment[0] else f"{key} {'>' if low[2] else '>='} {literal_text(key, low[1])}"
    upper = "" if high == segment[-1] else f"{key} {'<=' if high[2] else '<'} {literal_text(key, high[1])}"
    if lower and upper:
        if not low[2] and high[2]:
            return f"{key} between {literal_text(key, low[1])} and {literal_text(key, high[1])}"
        return f"({lower} and {upper})"
    return lower or upper


def _first_literal(key: str, low: Cut) -> str:
    return literal_text(key, value_at(first_point(low)))


def _pattern(key: str, low: Cut) -> tuple[str, str]:
    """The attribute and the pattern that say `key` begins with a text: on `reverse(x)`, how `x` ends."""
    prefix = low[1]
    if key.startswith("reverse("):
        return key[len("reverse(") : -1], quote_text("%" + escape_wildcard(prefix[::-1]))
    return key, quote_text(escape_wildcard(prefix) + "%")
