"""From an expression to its normal form: a bounded disjunction of conjunctions.

Negation is pushed to the conditions, each of which becomes constraints and residuals. `or` over conditions on one
attribute becomes a union on that attribute's line and costs nothing; what is left is multiplied out, within
limits. Conjunctions that cannot be satisfied are dropped, those inside another are absorbed, and those that
differ on one attribute only are merged, until nothing changes: so the normal form of a printed normal form is
itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from thatch.errors import FilterError, FilterTooLargeError, NeverMatchesError, shown
from thatch.model.comparisons import COMPARE, only
from thatch.model.conjunctions import Conjunction, Dead, close
from thatch.model.expressions import (
    And,
    Compare,
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
from thatch.model.simplification import simplified
from thatch.model.wildcards import Wildcard
from thatch.model.wording import Simple, condition_words

__all__ = [
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
_MAX_COMPARED = 20  # alternatives of one `or` that are looked at two by two
_MAX_REMARKS = 100
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
    has_products: bool = False  # then a conjunction may be no alternative that anybody wrote

    def dead(self, reason: str) -> None:
        self._remark(Remark("dead", reason))

    def covered(self, reason: str) -> None:
        self._remark(Remark("covered", reason))

    def _remark(self, remark: Remark) -> None:
        if len(self.remarks) < _MAX_REMARKS:
            self.remarks[remark] = None


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
    if len(parts) > _MAX_PRODUCT:
        raise FilterTooLargeError("alternatives after normalisation", len(parts), MAX_CONJUNCTIONS)
    conjunctions: list[Conjunction] = []
    reasons: list[str] = []
    for part in parts:
        try:
            conjunctions.append(close(part.constraints, part.residuals, schema))
        except Dead as dead:
            reasons.append(str(dead))
    if not work.has_products or not conjunctions:
        for reason in reasons:
            work.dead(reason)
    if not conjunctions:
        deaths = [remark.reason for remark in work.remarks if remark.kind == "dead"]
        raise NeverMatchesError("; ".join(deaths[:3]) or "it is false")
    if len(conjunctions) > 1:
        conjunctions = simplified(conjunctions, schema)
        if len(conjunctions) > MAX_CONJUNCTIONS:
            raise FilterTooLargeError("alternatives after normalisation", len(conjunctions), MAX_CONJUNCTIONS)
    for conjunction in conjunctions:
        _check_pairs(conjunction)
        _check_intervals(conjunction)
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


def _check_intervals(conjunction: Conjunction) -> None:
    for key, constraint in conjunction.constraints:
        if len(constraint) > 2 * MAX_INTERVALS:
            raise FilterTooLargeError("intervals on one attribute", len(constraint) // 2, MAX_INTERVALS, key)


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
        if expression.value != negated:  # type: ignore[attr-defined]
            return [_Part({})]
        work.dead("it is false")
        return []
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
    is_dead = False
    for child in children:
        parts = _normal(child, negated, work, depth + 1)
        is_dead = is_dead or not parts  # the others are still read: what is refused in them is refused
        if len(parts) != 1:
            several.append(parts)
            continue
        residuals |= parts[0].residuals
        for key, constraint in parts[0].constraints.items():
            single.setdefault(key, []).append(constraint)
    if is_dead:
        return []
    common = _Part(
        {key: intersect_all(constraints) for key, constraints in single.items()}, frozenset(residuals)
    )
    for key, constraint in common.constraints.items():
        if not constraint:
            work.dead(f"the conditions on {key} exclude each other")
            return []
    result = [common]
    work.has_products |= len(several) > 1
    for parts in several:
        result = _gathered(_multiplied(result, parts, work))
        if not result:
            break
    return result


def _multiplied(first: list[_Part], second: list[_Part], work: _Work) -> list[_Part]:
    """Each part of the first with each of the second. One of the second that meets none of the first is dead."""
    count = len(first) * len(second)
    if count > _MAX_PRODUCT:
        raise FilterTooLargeError("alternatives after normalisation", count, MAX_CONJUNCTIONS)
    work.steps += count
    if work.steps > _MAX_STEPS:
        raise FilterTooLargeError("pairs of alternatives to multiply out", work.steps, _MAX_STEPS)
    result: list[_Part] = []
    for right in second:
        met = len(result)
        key = ""
        for left in first:
            both = _both(left, right)
            if isinstance(both, _Part):
                result.append(both)
            else:
                key = both
        if len(result) == met:
            work.dead(f"the conditions on {key} exclude each other")
    return result


def _both(first: _Part, second: _Part) -> _Part | str:
    """Both parts at once, or the attribute on which they exclude each other."""
    constraints = dict(first.constraints)
    for key, constraint in second.constraints.items():
        known = constraints.get(key)
        if known is not None:
            constraint = intersect(known, constraint)
            if not constraint:
                return key
        constraints[key] = constraint
    return _Part(constraints, first.residuals | second.residuals)


def _disjunction(children: Sequence[Expression], negated: bool, work: _Work, depth: int) -> list[_Part]:
    parts: list[_Part] = []
    ends: list[int] = []  # how many parts there are after each child
    for child in children:
        parts += _normal(child, negated, work, depth + 1)
        ends.append(len(parts))
        if len(parts) > 4 * _MAX_PRODUCT:
            parts = _gathered(parts)
            if len(parts) > _MAX_PRODUCT:
                raise FilterTooLargeError("alternatives after normalisation", len(parts), MAX_CONJUNCTIONS)
    gathered = _gathered(parts)
    is_small = len(ends) <= _MAX_COMPARED and max(ends, default=0) <= _MAX_COMPARED
    if is_small and _may_overlap(parts, gathered):
        _remark_covered(parts, ends, work)
    return gathered


def _may_overlap(parts: list[_Part], gathered: list[_Part]) -> bool:
    """False for conditions on one attribute each that have nothing in common: they keep all their cuts."""
    return any(len(part.constraints) != 1 or part.residuals for part in parts) or (
        sum(len(constraint) for part in parts for constraint in part.constraints.values())
        > sum(len(constraint) for part in gathered for constraint in part.constraints.values())
    )


def _remark_covered(parts: list[_Part], ends: list[int], work: _Work) -> None:
    """Say which alternatives add nothing to another one; of two that are equal it is the second."""
    alternatives = [parts[start:end] for start, end in pairwise([0, *ends])]
    for index, inner in enumerate(alternatives):
        for other, outer in enumerate(alternatives):
            if other == index or not inner or not _lie_inside(inner, outer):
                continue
            if other < index or not _lie_inside(outer, inner):
                keys = " and ".join(sorted({key for part in inner for key in part.constraints}))
                about = f", on {keys}," if keys else ""
                work.covered(
                    f"alternative {index + 1} of {len(alternatives)}{about} lies inside alternative {other + 1}"
                )
                break


def _lie_inside(inner: list[_Part], outer: list[_Part]) -> bool:
    return all(any(_lies_inside(part, wide) for wide in outer) for part in inner)


def _lies_inside(part: _Part, wide: _Part) -> bool:
    for key, constraint in wide.constraints.items():
        known = part.constraints.get(key)
        if known is None or not covers(constraint, known):
            return False
    return wide.residuals <= part.residuals


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
    return _on_line(condition, negated, constraint, work)


def _among(condition: In, negated: bool, work: _Work) -> list[_Part]:
    return _on_line(condition, negated, _in(condition, negated), work)


def _matches(condition: Matches, negated: bool, work: _Work) -> list[_Part]:
    return _like(condition.key, condition.pattern, negated, TEXTS, work)


def _unlike(condition: Unlike, negated: bool, work: _Work) -> list[_Part]:
    return _like(condition.key, condition.pattern, not negated, PRESENT, work)


def _is_null(condition: IsNull, negated: bool, work: _Work) -> list[_Part]:
    return _on_line(condition, negated, difference(PRESENT, NULL) if negated else NULL, work)


def _distinct(condition: Distinct, negated: bool, work: _Work) -> list[_Part]:
    value = only(condition.value)
    return _on_line(condition, negated, value if negated else difference(PRESENT, value), work)


def _exists(condition: Exists, negated: bool, work: _Work) -> list[_Part]:
    return _on_line(condition, negated, MISSING if negated else PRESENT, work)


def _in(condition: In, negated: bool) -> Constraint:
    if len(condition.values) > MAX_INTERVALS:
        raise FilterTooLargeError("values of one `in`", len(condition.values), MAX_INTERVALS, condition.key)
    values = union(map(only, condition.values))
    if not negated:
        return values
    segments = {segment_of(value) for value in condition.values}
    if len(segments) != 1:
        expected = "`not in` with values of one type (use `is distinct from` for several)"
        raise FilterError(expected, shown(condition.values), condition.key)
    return difference(segments.pop(), values)


def _on_line(condition: Simple, negated: bool, constraint: Constraint, work: _Work) -> list[_Part]:
    constraint = tighten(constraint, line_of(condition.key, work.schema))
    if not constraint:
        work.dead(f"no value of {condition.key} satisfies `{condition_words(condition, negated=negated)}`")
        return []
    return [_Part({condition.key: constraint})]


def _like(key: str, pattern: Wildcard, negated: bool, within: Constraint, work: _Work) -> list[_Part]:
    """Text of a pattern's form, or (negated) what is `within` and not of that form."""
    if pattern.literal is not None:
        interval = only(pattern.literal)
    elif pattern.is_prefix:
        interval = prefix_interval(pattern.prefix)
    elif pattern.is_suffix and split(key)[0] in ((), ("lower",)):
        key, interval = derived(("reverse",), key), prefix_interval(pattern.suffix[::-1])
    else:
        return _residual_like(key, pattern, negated, within, work)
    constraint = difference(within, interval) if negated else interval
    constraint = tighten(constraint, line_of(key, work.schema))
    if not constraint:
        work.dead(f"no value of {key} satisfies `{'not ' if negated else ''}like {shown(pattern.text)}`")
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
