"""What each condition requires of an event: constraints on the lines of attributes, and residual checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from thatch.errors import FilterError, FilterTooLargeError, shown
from thatch.model.derived import fold
from thatch.model.expressions import (
    Compare,
    CompareFormulas,
    ComparePair,
    Condition,
    Distinct,
    Exists,
    In,
    IsNull,
    Matches,
    Unlike,
    Within,
)
from thatch.model.lines import (
    COMPARABLE,
    MISSING,
    NULL,
    NUMBERS,
    PRESENT,
    TEXTS,
    TOP,
    WHOLE,
    Constraint,
    Literal,
    above,
    below,
    covers,
    difference,
    intersect,
    prefix_interval,
    segment_of,
    union,
    values_union,
)
from thatch.model.names import ANYWHERE, base_of, derived_key, split
from thatch.model.regexes import Pattern, Regex
from thatch.model.residuals import (
    AnywhereCheck,
    FormulaCheck,
    PairCheck,
    Residual,
    WildcardCheck,
    WithinCheck,
)
from thatch.model.schema import Schema, line_of, tighten
from thatch.model.shapes import LATITUDES, LONGITUDES
from thatch.model.wording import OPPOSITE, Simple, condition_words

__all__ = [
    "COMPARE",
    "MAX_INTERVALS",
    "MAX_VALUES",
    "Draft",
    "Normalisation",
    "Remark",
    "anywhere_check",
    "both_of",
    "checked_parts",
    "constraint_of",
    "formula_check",
    "gather",
    "like_parts",
    "may_be_folded",
    "only",
    "pair_check",
    "parts_of_condition",
    "size_of",
    "values_of",
]

MAX_VALUES = 1_000_000  # of one `in`
MAX_INTERVALS = MAX_VALUES + 1  # on one attribute: around so many values lie one more
_MAX_REMARKS = 100


@dataclass(frozen=True, slots=True)
class Remark:
    """A part of a filter that does nothing, which its writer may want to know."""

    kind: str  # "dead" or "covered"
    reason: str


@dataclass(slots=True)
class Draft:
    """A conjunction in the making; `constraints` may hold whole lines."""

    constraints: dict[str, Constraint]
    residuals: frozenset[Residual] = frozenset()

    def covers(self, other: Draft) -> bool:
        """Whether each constraint covers one of the other, and each residual is one of the other's."""
        for key, constraint in self.constraints.items():
            known = other.constraints.get(key)
            if known is None or not covers(constraint, known):
                return False
        return self.residuals <= other.residuals


@dataclass(slots=True)
class Normalisation:
    """The state of one normalisation."""

    schema: Schema | None
    remarks: dict[Remark, None] = field(default_factory=dict)  # in order, each once
    written: set[str] = field(default_factory=set)  # the keys of all conditions
    steps: int = 0
    looks_for_covered: bool = True  # remarks which alternatives add nothing
    has_products: bool = False  # then a conjunction may be no alternative that anybody wrote

    def remark(self, kind: str, reason: str) -> None:
        """Note a part of the filter that is dead, or covered by another."""
        if len(self.remarks) < _MAX_REMARKS:
            self.remarks[Remark(kind, reason)] = None


def only(value: Literal) -> Constraint:
    """The interval of a single value."""
    return (below(value), above(value))


def _others(value: Literal) -> Constraint:
    """The other values of its type."""
    if type(value) is int:
        return ((5,), (5, value, 0), (5, value, 1), (6,))
    if type(value) is str and value:
        return ((6,), (6, value, 0), (6, value, 1), TOP)
    return difference(segment_of(value), only(value))


def _less(value: Literal) -> Constraint:
    low, high = segment_of(value)[0], below(value)
    return (low, high) if low < high else ()


def _more(value: Literal) -> Constraint:
    low, high = above(value), segment_of(value)[1]
    return (low, high) if low < high else ()


# By the operator of `x operator value`.
COMPARE: dict[str, Callable[[Literal], Constraint]] = {
    "=": only,
    "!=": _others,
    "<": _less,
    "<=": lambda value: (segment_of(value)[0], above(value)),
    ">": _more,
    ">=": lambda value: (below(value), segment_of(value)[1]),
}


def parts_of_condition(condition: Condition, negated: bool, work: Normalisation) -> list[Draft]:
    """A condition, or its negation, as at most one part; none if no value satisfies it."""
    match condition:
        case Matches():
            return like_parts(condition.key, condition.pattern, work, TEXTS, negated=negated)
        case Unlike():
            return like_parts(condition.key, condition.pattern, work, PRESENT, negated=not negated)
        case Within():
            return _within(condition, negated, work)
        case ComparePair():
            return checked_parts(pair_check(condition, negated=negated), COMPARABLE, work)
        case CompareFormulas():
            return checked_parts(formula_check(condition, negated=negated), NUMBERS, work)
    constraint = tighten(constraint_of(condition, negated), line_of(condition.key, work.schema))
    if not constraint:
        words = condition_words(condition, negated=negated)
        work.remark("dead", f"no value of {condition.key} satisfies `{words}`")
        return []
    return [Draft({condition.key: constraint})]


def constraint_of(condition: Simple, negated: bool) -> Constraint:
    """The values that satisfy a condition without a pattern, or its negation."""
    match condition:  # the most common ones first
        case Compare():
            if negated:
                return COMPARE[OPPOSITE[condition.operator]](condition.value)
            return COMPARE[condition.operator](condition.value)
        case In():
            return values_of(condition, negated=negated)
        case IsNull():
            return difference(PRESENT, NULL) if negated else NULL
        case Distinct():
            value = only(condition.value)
            return value if negated else difference(PRESENT, value)
        case Exists():
            return MISSING if negated else PRESENT


def values_of(condition: In, *, negated: bool) -> Constraint:
    """The values of an `in`, or the others of their type."""
    if len(condition.values) > MAX_VALUES:
        raise FilterTooLargeError("values of one `in`", len(condition.values), MAX_VALUES, condition.key)
    values = values_union(condition.values)
    if not negated:
        return values
    segments = {segment_of(value) for value in condition.values}
    if len(segments) != 1:
        expected = "`not in` with values of one type (use `is distinct from` for several)"
        raise FilterError(expected, shown(condition.values), condition.key)
    return difference(segments.pop(), values)


def like_parts(
    key: str, pattern: Pattern, work: Normalisation, within: Constraint, *, negated: bool = False
) -> list[Draft]:
    """Text of a pattern's form, or (negated) what is `within` and not of that form."""
    if base_of(key) == ANYWHERE:
        return _anywhere(key, pattern, negated, work)
    if pattern.literal is not None:
        interval = only(pattern.literal)
    elif pattern.is_prefix:
        interval = prefix_interval(pattern.prefix)
    elif pattern.is_suffix and split(key)[0] in ((), ("lower",)):
        key, interval = derived_key(("reverse",), key), prefix_interval(pattern.suffix[::-1])
    else:
        return _residual_like(key, pattern, negated, within, work)
    constraint = difference(within, interval) if negated else interval
    constraint = tighten(constraint, line_of(key, work.schema))
    if not constraint:
        work.remark(
            "dead", f"no value of {key} satisfies `{'not ' if negated else ''}like {shown(pattern.text)}`"
        )
        return []
    return [Draft({key: constraint})]


def anywhere_check(key: str, pattern: Pattern, *, negated: bool) -> AnywhereCheck | bool:
    """The check that some text of an event has a form; a truth if no folded text ever has it."""
    if key != ANYWHERE and not may_be_folded(pattern):
        return negated
    return AnywhereCheck.of(key, (pattern,), negated=negated)


def _anywhere(key: str, pattern: Pattern, negated: bool, work: Normalisation) -> list[Draft]:
    check = anywhere_check(key, pattern, negated=negated)
    if isinstance(check, bool):
        if not check:
            work.remark("dead", f"{key}: it never gives such text; write it case-folded")
        return [Draft({})] if check else []
    return [Draft({}, frozenset({check}))]


def may_be_folded(pattern: Pattern) -> bool:
    """Whether folded text may begin and end as a pattern says."""
    if isinstance(pattern, Regex) or fold(pattern.text) == pattern.text:
        return True
    return all(fold(each) == each for each in (pattern.prefix, pattern.suffix))


def _residual_like(
    key: str, pattern: Pattern, negated: bool, within: Constraint, work: Normalisation
) -> list[Draft]:
    constraints = {key: within if negated else prefix_interval(pattern.prefix)}
    residuals: frozenset[Residual] = frozenset({WildcardCheck(key, pattern, negated)})
    if "lower" in split(key)[0] and not may_be_folded(pattern):
        if not negated:
            work.remark("dead", f"{key}: it never gives such text; write it case-folded")
            return []
        residuals = frozenset()
    if not negated and pattern.suffix and split(key)[0] in ((), ("lower",)):
        constraints[derived_key(("reverse",), key)] = prefix_interval(pattern.suffix[::-1])
        if pattern.is_prefix_and_suffix:
            residuals = frozenset()
    for name, constraint in constraints.items():
        constraints[name] = tighten(constraint, line_of(name, work.schema))
        if not constraints[name]:
            work.remark("dead", f"no value of {name} satisfies `like {shown(pattern.text)}`")
            return []
    return [Draft(constraints, residuals)]


def pair_check(condition: ComparePair, *, negated: bool) -> PairCheck:
    """The check of a comparison of two attributes, or of the opposite one."""
    operator = OPPOSITE[condition.operator] if negated else condition.operator
    return PairCheck.of(condition.left, operator, condition.right)


def formula_check(condition: CompareFormulas, *, negated: bool) -> FormulaCheck:
    """The check of a comparison of formulas, or of the opposite one."""
    operator = OPPOSITE[condition.operator] if negated else condition.operator
    return FormulaCheck.of(condition.left, operator, condition.right)


def checked_parts(check: PairCheck | FormulaCheck, within: Constraint, work: Normalisation) -> list[Draft]:
    """A check of attributes that are all `within` some values."""
    constraints = {key: tighten(within, line_of(key, work.schema)) for key in check.keys}
    for key, constraint in constraints.items():
        if not constraint:
            what = (
                "can be calculated with"
                if isinstance(check, FormulaCheck)
                else "can be compared with another attribute"
            )
            work.remark("dead", f"no value of {key} {what}")
            return []
    return [Draft(constraints, frozenset({check}))]


def _within(condition: Within, negated: bool, work: Normalisation) -> list[Draft]:
    latitudes, longitudes = (LATITUDES, LONGITUDES) if negated else condition.shape.bounds()
    constraints: dict[str, Constraint] = {}
    for key, constraint in ((condition.latitude, latitudes), (condition.longitude, longitudes)):
        constraints[key] = tighten(
            intersect(constraints.get(key, WHOLE), constraint), line_of(key, work.schema)
        )
        if not constraints[key]:
            work.remark("dead", f"no value of {key} lies in the shape")
            return []
    check = WithinCheck(condition.latitude, condition.longitude, condition.shape, negated)
    return [Draft(constraints, frozenset({check}))]


def size_of(drafts: list[Draft]) -> int:
    """The ends of intervals of drafts; a check counts as one."""
    return sum(len(draft.residuals) + sum(map(len, draft.constraints.values())) for draft in drafts)


def both_of(first: Draft, second: Draft) -> Draft | str:
    """Both parts at once, or the attribute on which they exclude each other."""
    constraints = dict(first.constraints)
    for key, constraint in second.constraints.items():
        known = constraints.get(key)
        if known is not None:
            constraint = intersect(known, constraint)
            if not constraint:
                return key
        constraints[key] = constraint
    return Draft(constraints, first.residuals | second.residuals)


def gather(parts: list[Draft]) -> list[Draft]:
    """The same parts with all plain conditions on one attribute made one."""
    if len(parts) < 2:
        return parts
    single: dict[str, list[Constraint]] = {}
    result: list[Draft] = []
    anywhere: dict[str, list[Pattern]] = {}
    for part in parts:
        if len(part.constraints) == 1 and not part.residuals:
            ((key, constraint),) = part.constraints.items()
            single.setdefault(key, []).append(constraint)
        elif (check := _positive_check(part)) is not None:
            anywhere.setdefault(check.key, []).extend(check.patterns)
        else:
            result.append(part)
    merged = (Draft({key: union(constraints)}) for key, constraints in single.items())
    texts = (Draft({}, frozenset({AnywhereCheck.of(*each)})) for each in anywhere.items())
    return [*merged, *texts, *result]


def _positive_check(part: Draft) -> AnywhereCheck | None:
    """The check of all texts that a part is, if it is nothing else."""
    if part.constraints or len(part.residuals) != 1:
        return None
    (check,) = part.residuals
    return check if isinstance(check, AnywhereCheck) and not check.negated else None
