"""From an expression to its normal form: a bounded disjunction of conjunctions.

Negation is pushed to the conditions, each of which becomes constraints and residuals. `or` over conditions on one
attribute becomes a union on that attribute's line and costs nothing; what is left is multiplied out, within
limits. Conjunctions that cannot be satisfied are dropped, those inside another are absorbed, and those that
differ on one attribute only are merged, until nothing changes: so the normal form of a printed normal form is
itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from thatch.errors import FilterError, FilterTooLargeError, NeverMatchesError, shown
from thatch.model.conjunctions import Conjunction, Dead, close
from thatch.model.expressions import (
    And,
    Compare,
    Condition,
    Constant,
    Distinct,
    Exists,
    Expression,
    In,
    IsNull,
    Matches,
    Not,
    Or,
    Unlike,
    Within,
)
from thatch.model.lines import (
    MISSING,
    NULL,
    PRESENT,
    TEXTS,
    WHOLE,
    Constraint,
    Literal,
    above,
    below,
    covers,
    difference,
    intersect,
    intersect_all,
    prefix_interval,
    segment_of,
    union,
)
from thatch.model.names import derived, split
from thatch.model.residuals import Residual, WildcardCheck, WithinCheck
from thatch.model.schema import Schema, line_of, tighten
from thatch.model.shapes import LATITUDES, LONGITUDES
from thatch.model.wildcards import Wildcard

__all__ = [
    "COMPARE",
    "MAX_CONDITIONS",
    "MAX_CONJUNCTIONS",
    "MAX_INTERVALS",
    "NormalForm",
    "Remark",
    "normalise",
]

MAX_CONJUNCTIONS = 1_024
MAX_INTERVALS = 100_000
_MAX_PRODUCT = 4 * MAX_CONJUNCTIONS  # conjunctions written out before simplifying
_MAX_STEPS = 100 * _MAX_PRODUCT  # pairs of conjunctions looked at while multiplying out
_MAX_DEPTH = 200
_FEW = 1_000
MAX_CONDITIONS = MAX_INTERVALS  # joined by one `and` or `or`


@dataclass(frozen=True, slots=True)
class Remark:
    """Something in a filter that its writer may want to know: a part that does nothing."""

    kind: str  # "dead" or "covered"
    reason: str


@dataclass(frozen=True, slots=True)
class NormalForm:
    """Conjunctions in their fixed order, and what was noticed on the way."""

    conjunctions: tuple[Conjunction, ...]
    remarks: tuple[Remark, ...] = ()


@dataclass(slots=True)
class _Part:
    """A conjunction in the making; `constraints` may hold whole lines."""

    constraints: dict[str, Constraint]
    residuals: frozenset[Residual] = frozenset()


@dataclass(slots=True)
class _Work:
    """What one normalisation carries along."""

    schema: Schema | None
    remarks: dict[Remark, None] = field(default_factory=dict)  # in order, each once
    steps: int = 0

    def dead(self, reason: str) -> None:
        if len(self.remarks) < 100:
            self.remarks[Remark("dead", reason)] = None


def normalise(expression: Expression, schema: Schema | None = None) -> NormalForm:
    """The normal form of an expression.

    Raises
    ------
    NeverMatchesError
        If no event can ever match.
    FilterTooLargeError
        If a limit is passed; the message says the count.
    """
    plain = _plain_conjunction(expression) if schema is None else None
    if plain is not None:
        return NormalForm((close(plain, (), None),))
    work = _Work(schema)
    parts = _normal(expression, False, work, 0)
    conjunctions: list[Conjunction] = []
    for part in parts:
        try:
            conjunctions.append(close(part.constraints, part.residuals, schema))
        except Dead as dead:
            work.dead(str(dead))
    if not conjunctions:
        raise NeverMatchesError(
            "; ".join(remark.reason for remark in list(work.remarks)[:3]) or "it is false"
        )
    if len(conjunctions) > 1:
        conjunctions = _simplified(conjunctions, work)
        if len(conjunctions) > MAX_CONJUNCTIONS:
            raise FilterTooLargeError("alternatives after normalisation", len(conjunctions), MAX_CONJUNCTIONS)
    for conjunction in conjunctions:
        _check_pairs(conjunction)
        for key, constraint in conjunction.constraints:
            if len(constraint) > 2 * MAX_INTERVALS:
                raise FilterTooLargeError(
                    "intervals on one attribute", len(constraint) // 2, MAX_INTERVALS, key
                )
    return NormalForm(tuple(conjunctions), tuple(work.remarks))


def _plain_conjunction(expression: Expression) -> dict[str, Constraint] | None:
    """The constraints of a few comparisons joined by `and`, which most filters are; None for anything else."""
    constraints: dict[str, Constraint] = {}
    pending = [expression]
    seen = 0
    while pending:
        each = pending.pop()
        seen += 1
        if type(each) is And:
            pending.extend(each.children)
            continue
        if type(each) is Compare:
            constraint = COMPARE[each.operator](each.value)
        elif type(each) is In and len(each.values) <= _FEW:
            constraint = _in(each, negated=False)
        elif type(each) is Matches and each.pattern.is_prefix:
            constraint = prefix_interval(each.pattern.prefix)
        else:
            return None
        key = each.key
        known = constraints.get(key)
        if known is not None:
            constraint = intersect(known, constraint)
        if not constraint or key[-1] == ")" or seen + len(pending) > _FEW:
            return None  # the long way also tells why, and knows derived attributes and limits
        constraints[key] = constraint
    return constraints


def _check_pairs(conjunction: Conjunction) -> None:
    """An attribute takes part in one coordinate pair only, which keeps events with lists cheap to decide."""
    partner: dict[str, tuple[str, ...]] = {}
    for residual in conjunction.residuals:
        if len(residual.keys) == 2:
            for key in residual.keys:
                if partner.setdefault(key, residual.keys) != residual.keys:
                    expected = "an attribute in one pair of coordinates"
                    raise FilterError(expected, f"{key} in two, {partner[key]} and {residual.keys}")


# --- negation, and, or -----------------------------------------------------------------------------------------


def _normal(expression: Expression, negated: bool, work: _Work, depth: int) -> list[_Part]:
    """The parts of an expression or of its negation; none if it can never hold."""
    while type(expression) is Not:
        expression, negated = expression.child, not negated
    if depth > _MAX_DEPTH:
        raise FilterTooLargeError("levels of nesting", depth, _MAX_DEPTH)
    kind = type(expression)
    if kind is And or kind is Or:
        combine = _conjunction if (kind is And) != negated else _disjunction
        return combine(_joined(expression, kind), negated, work, depth)
    if kind is Constant:
        return [_Part({})] if expression.value != negated else []  # type: ignore[attr-defined]
    return _CONDITIONS[kind](expression, negated, work)


def _joined(expression: Expression, kind: type) -> list[Expression]:
    """What one `and` or `or` joins, with `a & b & c` seen as one and not as two inside each other."""
    result: list[Expression] = []
    pending = [expression]
    while pending:
        each = pending.pop()
        if type(each) is kind:
            pending.extend(reversed(each.children))  # type: ignore[attr-defined]
        else:
            result.append(each)
        if len(result) + len(pending) > MAX_CONDITIONS:
            count = len(result) + len(pending)
            raise FilterTooLargeError("conditions joined by one `and` or `or`", count, MAX_CONDITIONS)
    return result


def _conjunction(children: Sequence[Expression], negated: bool, work: _Work, depth: int) -> list[_Part]:
    single: dict[str, list[Constraint]] = {}
    residuals: set[Residual] = set()
    several: list[list[_Part]] = []
    for child in children:
        parts = _normal(child, negated, work, depth + 1)
        if not parts:
            return []
        if len(parts) > 1:
            several.append(parts)
            continue
        residuals |= parts[0].residuals
        for key, constraint in parts[0].constraints.items():
            single.setdefault(key, []).append(constraint)
    common = _Part(
        {key: intersect_all(constraints) for key, constraints in single.items()}, frozenset(residuals)
    )
    for key, constraint in common.constraints.items():
        if not constraint:
            work.dead(f"the conditions on {key} exclude each other")
            return []
    result = [common]
    for parts in several:
        count = len(result) * len(parts)
        work.steps += count
        if count > _MAX_PRODUCT or work.steps > _MAX_STEPS:
            raise FilterTooLargeError("alternatives after normalisation", count, MAX_CONJUNCTIONS)
        result = _gathered(
            [both for first in result for second in parts if (both := _both(first, second, work))]
        )
    return result


def _both(first: _Part, second: _Part, work: _Work) -> _Part | None:
    """Both parts at once, None if they exclude each other."""
    constraints = dict(first.constraints)
    for key, constraint in second.constraints.items():
        known = constraints.get(key)
        if known is not None:
            constraint = intersect(known, constraint)
            if not constraint:
                work.dead(f"the conditions on {key} exclude each other")
                return None
        constraints[key] = constraint
    return _Part(constraints, first.residuals | second.residuals)


def _disjunction(children: Sequence[Expression], negated: bool, work: _Work, depth: int) -> list[_Part]:
    parts: list[_Part] = []
    for child in children:
        parts += _normal(child, negated, work, depth + 1)
        if len(parts) > 4 * _MAX_PRODUCT:
            parts = _gathered(parts)
            if len(parts) > _MAX_PRODUCT:
                raise FilterTooLargeError("alternatives after normalisation", len(parts), MAX_CONJUNCTIONS)
    return _gathered(parts)


def _gathered(parts: list[_Part]) -> list[_Part]:
    """The same parts with all plain conditions on one attribute made one."""
    if len(parts) < 2:
        return parts
    single: dict[str, list[Constraint]] = {}
    result: list[_Part] = []
    for part in parts:
        if len(part.constraints) == 1 and not part.residuals:
            ((key, constraint),) = part.constraints.items()
            single.setdefault(key, []).append(constraint)
        else:
            result.append(part)
    merged = (_Part({key: union(constraints)}) for key, constraints in single.items())
    return [*merged, *result]


# --- conditions ------------------------------------------------------------------------------------------------


def _compare(condition: Compare, negated: bool, work: _Work) -> list[_Part]:
    constraint = COMPARE[condition.operator](condition.value)
    if negated:
        constraint = difference(segment_of(condition.value), constraint)
    return _on_line(condition.key, constraint, condition, work)


def _among(condition: In, negated: bool, work: _Work) -> list[_Part]:
    return _on_line(condition.key, _in(condition, negated), condition, work)


def _matches(condition: Matches, negated: bool, work: _Work) -> list[_Part]:
    return _like(condition.key, condition.pattern, negated, TEXTS, work)


def _unlike(condition: Unlike, negated: bool, work: _Work) -> list[_Part]:
    return _like(condition.key, condition.pattern, not negated, PRESENT, work)


def _is_null(condition: IsNull, negated: bool, work: _Work) -> list[_Part]:
    return _on_line(condition.key, difference(PRESENT, NULL) if negated else NULL, condition, work)


def _distinct(condition: Distinct, negated: bool, work: _Work) -> list[_Part]:
    value = _only(condition.value)
    return _on_line(condition.key, value if negated else difference(PRESENT, value), condition, work)


def _exists(condition: Exists, negated: bool, work: _Work) -> list[_Part]:
    return _on_line(condition.key, MISSING if negated else PRESENT, condition, work)


def _only(value: Literal) -> Constraint:
    """The interval of a single value."""
    return (below(value), above(value))


def _other(value: Literal) -> Constraint:
    return difference(segment_of(value), _only(value))


def _less(value: Literal) -> Constraint:
    low, high = segment_of(value)[0], below(value)
    return (low, high) if low < high else ()


def _at_most(value: Literal) -> Constraint:
    return (segment_of(value)[0], above(value))


def _more(value: Literal) -> Constraint:
    low, high = above(value), segment_of(value)[1]
    return (low, high) if low < high else ()


def _at_least(value: Literal) -> Constraint:
    return (below(value), segment_of(value)[1])


# The constraint of `x operator value`: an interval of the segment of the value's type.
COMPARE: dict[str, Callable[[Literal], Constraint]] = {
    "=": _only,
    "!=": _other,
    "<": _less,
    "<=": _at_most,
    ">": _more,
    ">=": _at_least,
}


def _in(condition: In, negated: bool) -> Constraint:
    if len(condition.values) > MAX_INTERVALS:
        raise FilterTooLargeError("values of one `in`", len(condition.values), MAX_INTERVALS, condition.key)
    values = union(map(_only, condition.values))
    if not negated:
        return values
    segments = {segment_of(value) for value in condition.values}
    if len(segments) != 1:
        expected = "`not in` with values of one type (use `is distinct from` for several)"
        raise FilterError(expected, shown(condition.values), condition.key)
    return difference(segments.pop(), values)


def _on_line(key: str, constraint: Constraint, condition: Condition, work: _Work) -> list[_Part]:
    constraint = tighten(constraint, line_of(key, work.schema))
    if not constraint:
        work.dead(f"no value of {key} satisfies {_words(condition)}")
        return []
    return [_Part({key: constraint})]


def _words(condition: Condition) -> str:
    match condition:
        case Compare():
            return f"`{condition.operator} {shown(condition.value)}`"
        case In():
            return f"`in {shown(condition.values)}`"
        case _:
            return f"`{type(condition).__name__.lower()}`"


def _like(key: str, pattern: Wildcard, negated: bool, within: Constraint, work: _Work) -> list[_Part]:
    """Text of a pattern's form, or (negated) what is `within` and not of that form."""
    if pattern.literal is not None:
        interval = _only(pattern.literal)
    elif pattern.is_prefix:
        interval = prefix_interval(pattern.prefix)
    elif pattern.is_suffix and split(key)[0] in ((), ("lower",)):
        key, interval = derived(("reverse",), key), prefix_interval(pattern.suffix[::-1])
    else:
        return _residual_like(key, pattern, negated, within, work)
    constraint = difference(within, interval) if negated else interval
    constraint = tighten(constraint, line_of(key, work.schema))
    if not constraint:
        work.dead(f"no value of {key} satisfies `like {shown(pattern.text)}`")
        return []
    return [_Part({key: constraint})]


def _residual_like(
    key: str, pattern: Wildcard, negated: bool, within: Constraint, work: _Work
) -> list[_Part]:
    check = WildcardCheck(key, pattern, negated)
    constraints = {key: within if negated else prefix_interval(pattern.prefix)}
    residuals = frozenset({check})
    if not negated and pattern.suffix and split(key)[0] in ((), ("lower",)):
        constraints[derived(("reverse",), key)] = prefix_interval(pattern.suffix[::-1])
        if pattern.is_prefix_and_suffix:
            residuals = frozenset()
    for name, constraint in constraints.items():
        constraints[name] = tighten(constraint, line_of(name, work.schema))
        if not constraints[name]:
            work.dead(f"no value of {name} satisfies `like {shown(pattern.text)}`")
            return []
    return [_Part(constraints, residuals)]


def _within(condition: Within, negated: bool, work: _Work) -> list[_Part]:
    latitudes, longitudes = (LATITUDES, LONGITUDES) if negated else condition.shape.bounds()
    constraints: dict[str, Constraint] = {}
    for key, constraint in ((condition.latitude, latitudes), (condition.longitude, longitudes)):
        constraints[key] = tighten(
            intersect(constraints.get(key, WHOLE), constraint), line_of(key, work.schema)
        )
        if not constraints[key]:
            work.dead(f"no value of {key} lies in the shape")
            return []
    check = WithinCheck(condition.latitude, condition.longitude, condition.shape, negated)
    return [_Part(constraints, frozenset({check}))]


_CONDITIONS: dict[type, Callable[[Any, bool, _Work], list[_Part]]] = {
    Compare: _compare,
    In: _among,
    Matches: _matches,
    Unlike: _unlike,
    IsNull: _is_null,
    Distinct: _distinct,
    Exists: _exists,
    Within: _within,
}


# --- one form --------------------------------------------------------------------------------------------------


def _simplified(conjunctions: Iterable[Conjunction], work: _Work) -> list[Conjunction]:
    """Merge, absorb, and put into the fixed order, until nothing changes."""
    current = sorted(set(conjunctions), key=Conjunction.sort_key)
    while True:
        count = len(current)
        while len(merged := _merged(current, work.schema)) < len(current):
            current = merged
        current = _absorbed(current, work)
        if len(current) == count:
            return current


def _absorbed(conjunctions: list[Conjunction], work: _Work) -> list[Conjunction]:
    """Without those that lie inside another one.

    Only a conjunction with fewer attributes, or with just the same, can hold another; so they are kept by their
    attributes, and those with few come first.
    """
    kept: dict[frozenset[str], list[_Entry]] = {}
    by_size = sorted(conjunctions, key=lambda each: len(each.constraints) + len(each.residuals))
    for inner in by_size:
        entry = (inner, dict(inner.constraints), frozenset(inner.residuals))
        keys = frozenset(entry[1])
        rivals = [other for others, group in kept.items() if others < keys for other in group]
        same = kept.setdefault(keys, [])
        if any(_holds_all(other, entry) for other in (*rivals, *same)):
            work.remarks[Remark("covered", "one alternative lies inside another")] = None
            continue
        same[:] = [other for other in same if not _holds_all(entry, other)]
        same.append(entry)
    return sorted((entry[0] for group in kept.values() for entry in group), key=Conjunction.sort_key)


_Entry = tuple[Conjunction, dict[str, Constraint], frozenset[Residual]]


def _holds_all(outer: _Entry, inner: _Entry) -> bool:
    return outer[2] <= inner[2] and all(
        covers(constraint, inner[1][key]) for key, constraint in outer[1].items()
    )


def _merged(conjunctions: list[Conjunction], schema: Schema | None) -> list[Conjunction]:
    """Unite groups of conjunctions that differ on a single attribute."""
    for position in range(max((len(each.constraints) for each in conjunctions), default=0)):
        groups: dict[object, list[Conjunction]] = {}
        for each in conjunctions:
            constraints = each.constraints
            if position < len(constraints):
                rest = (*constraints[:position], constraints[position][0], *constraints[position + 1 :])
                groups.setdefault((rest, each.residuals), []).append(each)
            else:
                groups[each] = [each]
        if len(groups) < len(conjunctions):
            united = [_united(group, position, schema) for group in groups.values()]
            return sorted(set(united), key=Conjunction.sort_key)
    return conjunctions


def _united(group: list[Conjunction], position: int, schema: Schema | None) -> Conjunction:
    if len(group) == 1:
        return group[0]
    first = group[0]
    key = first.constraints[position][0]
    constraints = dict(first.constraints)
    line = line_of(key, schema)
    constraints[key] = tighten(union(each.constraints[position][1] for each in group), line)
    return close(constraints, first.residuals, schema)
