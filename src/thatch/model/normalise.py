"""From an expression to its normal form: a bounded disjunction of conjunctions.

Negation is pushed to the conditions, each of which becomes constraints and residuals. `or` over conditions on one
attribute becomes a union on that attribute's line and costs nothing; what is left is multiplied out, within
limits. Conjunctions that cannot be satisfied are dropped, those inside another are absorbed, and those that
differ on one attribute only are merged, until nothing changes: so the normal form of a printed normal form is
itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from thatch.errors import FilterError, FilterTooLargeError, NeverMatchesError
from thatch.model.conditions import (
    COMPARE,
    MAX_INTERVALS,
    Draft,
    Normalisation,
    Remark,
    both_of,
    gather,
    parts_of_condition,
    size_of,
    values_of,
)
from thatch.model.conjunctions import Conjunction, Dead, close, count_tests
from thatch.model.expressions import (
    And,
    Compare,
    CompareFormulas,
    ComparePair,
    Constant,
    Expression,
    In,
    Matches,
    Not,
    Or,
    Within,
)
from thatch.model.grouping import joined
from thatch.model.lines import Constraint, intersect, intersect_all, prefix_interval
from thatch.model.names import base_of
from thatch.model.residuals import Residual, WithinCheck
from thatch.model.schema import Schema
from thatch.model.simplification import simplify

__all__ = [
    "MAX_CONJUNCTIONS",
    "NormalForm",
    "all_parts",
    "any_parts",
    "conjunctions_of",
    "normalise",
    "plain_conjunction",
]

MAX_CONJUNCTIONS = 1_024
_MAX_PRODUCT = 4 * MAX_CONJUNCTIONS  # conjunctions written out before simplifying
_MAX_STEPS = 100 * _MAX_PRODUCT  # pairs of conjunctions looked at while multiplying out
_MAX_TESTS = 1_000_000
_MAX_CUTS = 5_000_000  # ends of intervals in all conjunctions while multiplying out
_MAX_DEPTH = 200
_FEW = 1_000
_MAX_COMPARED = 20  # alternatives of one `or` that are looked at two by two


@dataclass(frozen=True, slots=True)
class NormalForm:
    """Conjunctions in their fixed order, and what was noticed on the way."""

    conjunctions: tuple[Conjunction, ...]
    remarks: tuple[Remark, ...] = ()
    also_named: frozenset[str] = frozenset()  # attributes that were written and are not needed


def normalise(expression: Expression, schema: Schema | None = None) -> NormalForm:
    """The normal form of an expression.

    Raises
    ------
    NeverMatchesError
        If no event can ever match.
    FilterTooLargeError
        If a limit is passed; the message says the count.
    """
    plain = plain_conjunction(expression) if schema is None else None
    if plain is not None:
        return NormalForm((plain,))
    work = Normalisation(schema)
    conjunctions = conjunctions_of(_normal(expression, False, work, 0), work)
    needed = {base for conjunction in conjunctions for base in conjunction.attributes()}
    also_named = frozenset(map(base_of, work.written)) - needed
    return NormalForm(tuple(conjunctions), tuple(work.remarks), also_named)


def conjunctions_of(parts: list[Draft], work: Normalisation) -> list[Conjunction]:
    """The fewest conjunctions that say the same as parts, in their fixed order; raises what `normalise` does."""
    if len(parts) > _MAX_PRODUCT:
        raise FilterTooLargeError("alternatives after normalisation", len(parts), MAX_CONJUNCTIONS)
    conjunctions, reasons = _closed(parts, work.schema)
    if not work.has_products or not conjunctions:
        for reason in reasons:
            work.remark("dead", reason)
    if not conjunctions:
        deaths = [remark.reason for remark in work.remarks if remark.kind == "dead"]
        raise NeverMatchesError("; ".join(deaths[:3]) or "it is false")
    if len(conjunctions) > 1:
        conjunctions = simplify(conjunctions, work.schema)
        if len(conjunctions) > MAX_CONJUNCTIONS:
            raise FilterTooLargeError("alternatives after normalisation", len(conjunctions), MAX_CONJUNCTIONS)
    for conjunction in conjunctions:
        _check_pairs(conjunction)
        _check_intervals(conjunction)
    return conjunctions


def _closed(parts: list[Draft], schema: Schema | None) -> tuple[list[Conjunction], list[str]]:
    """The conjunctions that can hold, and why the others cannot."""
    conjunctions: list[Conjunction] = []
    reasons: list[str] = []
    tests = 0
    for part in parts:
        if len(part.residuals) > 1:
            tests += count_tests(part.constraints, part.residuals, schema)
            if tests > _MAX_TESTS:
                what = "tests of single values against `like` or `within`"
                raise FilterTooLargeError(what, tests, _MAX_TESTS)
        try:
            conjunctions.append(close(part.constraints, part.residuals, schema))
        except Dead as dead:
            reasons.append(str(dead))
    return conjunctions, reasons


def plain_conjunction(expression: Expression) -> Conjunction | None:
    """A few comparisons joined by `and`, which most filters are; None for anything else."""
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
            constraint = values_of(each, negated=False)
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
    return close(constraints, (), None)


def _check_intervals(conjunction: Conjunction) -> None:
    for key, constraint in conjunction.constraints:
        if len(constraint) > 2 * MAX_INTERVALS:
            raise FilterTooLargeError("intervals on one attribute", len(constraint) // 2, MAX_INTERVALS, key)


def _check_pairs(conjunction: Conjunction) -> None:
    """An attribute takes part in one coordinate pair only, which keeps events with lists cheap to decide."""
    partner: dict[str, tuple[str, ...]] = {}
    for residual in conjunction.residuals:
        if isinstance(residual, WithinCheck):
            for key in residual.keys:
                if partner.setdefault(key, residual.keys) != residual.keys:
                    expected = "an attribute in one pair of coordinates"
                    raise FilterError(expected, f"{key} in two, {partner[key]} and {residual.keys}")


# --- negation, and, or -----------------------------------------------------------------------------------------


def _normal(expression: Expression, negated: bool, work: Normalisation, depth: int) -> list[Draft]:
    """The parts of an expression or of its negation; none if it can never hold."""
    while type(expression) is Not:
        expression, negated = expression.child, not negated
    if depth > _MAX_DEPTH:
        raise FilterTooLargeError("levels of nesting", depth, _MAX_DEPTH)
    if isinstance(expression, (And, Or)):
        combine = all_parts if isinstance(expression, And) != negated else any_parts
        return combine((_normal(child, negated, work, depth + 1) for child in joined(expression)), work)
    if isinstance(expression, Constant):
        if expression.value != negated:
            return [Draft({})]
        work.remark("dead", "it is false")
        return []
    if isinstance(expression, Within):
        work.written.update((expression.latitude, expression.longitude))
    elif isinstance(expression, ComparePair):
        work.written.update((expression.left, expression.right))
    elif isinstance(expression, CompareFormulas):
        work.written.update(expression.keys)
    else:
        work.written.add(expression.key)  # type: ignore[attr-defined]  # all other kinds have one
    return parts_of_condition(expression, negated, work)  # type: ignore[arg-type]  # all other kinds are conditions


def all_parts(children: Iterable[list[Draft]], work: Normalisation) -> list[Draft]:
    """The parts of what all children, given as their parts, say together."""
    single: dict[str, list[Constraint]] = {}
    residuals: set[Residual] = set()
    several: list[list[Draft]] = []
    is_dead = False
    for parts in children:
        is_dead = is_dead or not parts  # the others are still read: what is refused in them is refused
        if len(parts) != 1:
            several.append(parts)
            continue
        residuals |= parts[0].residuals
        for key, constraint in parts[0].constraints.items():
            single.setdefault(key, []).append(constraint)
    if is_dead:
        return []
    common = Draft(
        {key: intersect_all(constraints) for key, constraints in single.items()}, frozenset(residuals)
    )
    for key, constraint in common.constraints.items():
        if not constraint:
            work.remark("dead", f"the conditions on {key} exclude each other")
            return []
    result = [common]
    work.has_products |= len(several) > 1
    for parts in several:
        result = gather(_multiplied(result, parts, work))
        if not result:
            break
    return result


def _multiplied(first: list[Draft], second: list[Draft], work: Normalisation) -> list[Draft]:
    """Each part of the first with each of the second. One of the second that meets none of the first is dead."""
    count = len(first) * len(second)
    if count > _MAX_PRODUCT:
        raise FilterTooLargeError("alternatives after normalisation", count, MAX_CONJUNCTIONS)
    work.steps += count
    if work.steps > _MAX_STEPS:
        raise FilterTooLargeError("pairs of alternatives to multiply out", work.steps, _MAX_STEPS)
    ends = len(second) * size_of(first) + len(first) * size_of(second)
    if ends > _MAX_CUTS:
        raise FilterTooLargeError("ends of intervals in alternatives to multiply out", ends, _MAX_CUTS)
    result: list[Draft] = []
    for right in second:
        met = len(result)
        key = ""
        for left in first:
            both = both_of(left, right)
            if isinstance(both, Draft):
                result.append(both)
            else:
                key = both
        if len(result) == met:
            work.remark("dead", f"the conditions on {key} exclude each other")
    return result


def any_parts(children: Iterable[list[Draft]], work: Normalisation) -> list[Draft]:
    """The parts of what at least one child, given as its parts, says."""
    parts: list[Draft] = []
    ends: list[int] = []  # how many parts there are after each child
    for child in children:
        parts += child
        ends.append(len(parts))
        if len(parts) > 4 * _MAX_PRODUCT:
            parts = gather(parts)
            if len(parts) > _MAX_PRODUCT:
                raise FilterTooLargeError("alternatives after normalisation", len(parts), MAX_CONJUNCTIONS)
    gathered = gather(parts)
    is_small = len(ends) <= _MAX_COMPARED and max(ends, default=0) <= _MAX_COMPARED
    if work.looks_for_covered and is_small and _may_overlap(parts, gathered):
        _remark_covered(parts, ends, work)
    return gathered


def _may_overlap(parts: list[Draft], gathered: list[Draft]) -> bool:
    """False for conditions on one attribute each that have nothing in common: they keep all their cuts."""
    return any(len(part.constraints) != 1 or part.residuals for part in parts) or (
        sum(len(constraint) for part in parts for constraint in part.constraints.values())
        > sum(len(constraint) for part in gathered for constraint in part.constraints.values())
    )


def _remark_covered(parts: list[Draft], ends: list[int], work: Normalisation) -> None:
    """Say which alternatives add nothing to another one; of two that are equal it is the second."""
    alternatives = [parts[start:end] for start, end in pairwise([0, *ends])]
    for index, inner in enumerate(alternatives):
        for other, outer in enumerate(alternatives):
            if other == index or not inner or not _lie_inside(inner, outer):
                continue
            if other < index or not _lie_inside(outer, inner):
                keys = " and ".join(sorted({key for part in inner for key in part.constraints}))
                about = f", on {keys}," if keys else ""
                work.remark(
                    "covered",
                    f"alternative {index + 1} of {len(alternatives)}{about} lies inside alternative {other + 1}",
                )
                break


def _lie_inside(inner: list[Draft], outer: list[Draft]) -> bool:
    return all(any(wide.covers(part) for wide in outer) for part in inner)
