"""Conjunctions: at most one constraint per attribute, plus residual checks. A box with unions in it.

Derived attributes and residuals are closed over: where the attribute itself can only have finitely many values,
each is tested against the conditions derived from it; a prefix implies a prefix of `lower(x)`; a condition on a
derived attribute implies the type of the attribute. What is implied is not stored, so that two ways of writing
the same conjunction are equal, and `implied` gives it back to whoever asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from thatch.model.derived import derive, fold
from thatch.model.frozen import quick_value
from thatch.model.lines import (
    BOTTOM,
    EMPTY,
    MISSING,
    NUMBERS,
    RANK_NUMBER,
    TEXTS,
    TOP,
    WHOLE,
    Constraint,
    Cut,
    around,
    contains,
    difference,
    first_point,
    intersect,
    intervals,
    prefix_interval,
    union,
)
from thatch.model.names import base_of, split
from thatch.model.residuals import AnywhereCheck, Residual, implies
from thatch.model.schema import Schema, line_of, tighten
from thatch.model.types import Line

__all__ = [
    "Box",
    "Conjunction",
    "Dead",
    "base_of_derived",
    "boxes_of",
    "close",
    "count_tests",
    "implied_constraint",
    "implies_residual",
    "in_image",
    "points_of",
]

_MAX_NAMED = 100_000  # values named one by one, as `in` does
_MAX_DECLARED = 4_096  # values of a declared range that are still worth looking at one by one

_SEGMENTS: tuple[Constraint, ...] = (*(((rank,), (rank + 1,)) for rank in range(5)), NUMBERS)


class Dead(Exception):  # noqa: N818 - not an error: an answer of normalisation
    """No flat event can satisfy these conditions together; the argument says why."""


@quick_value
class Conjunction:
    """What one flat event must satisfy all of.

    `constraints` are sorted by key and never the whole line; `residuals` are sorted by their text.
    """

    constraints: tuple[tuple[str, Constraint], ...]
    residuals: tuple[Residual, ...] = ()

    def attributes(self) -> set[str]:
        """The keys of the attributes that it is about, without functions of them."""
        checked = (key for residual in self.residuals for key in residual.keys)
        return {base_of(key) for key in (*dict(self.constraints), *checked)}

    def box_count(self) -> int:
        """How many boxes `boxes` would give, without making them."""
        count = 1
        for _, constraint in self.constraints:
            count *= len(constraint) // 2
        return count

    def sort_key(self) -> tuple[object, ...]:
        return (self.constraints, tuple(map(repr, self.residuals)))


def close(
    constraints: Mapping[str, Constraint], residuals: Iterable[Residual], schema: Schema | None
) -> Conjunction:
    """The conjunction of these conditions in its one form.

    Raises `Dead` if no flat event can satisfy all of them.
    """
    checks = set(residuals)
    if not checks:
        kept = sorted(constraints.items())
        if all(key[-1] != ")" and constraint != WHOLE for key, constraint in kept):
            return Conjunction(tuple(kept))
    if checks or ")" in {key[-1] for key in constraints}:
        constraints, checks = _closed(dict(constraints), checks, schema)
    kept = sorted([each for each in constraints.items() if each[1] != WHOLE])
    return Conjunction(tuple(kept), tuple(sorted(checks, key=repr)) if checks else ())


def _closed(
    constraints: dict[str, Constraint], checks: set[Residual], schema: Schema | None
) -> tuple[dict[str, Constraint], set[Residual]]:
    negated = [check for check in checks if check.negated]
    if len(negated) < len(checks):
        for check in negated:
            if check.opposite() in checks:
                raise Dead(f"{' and '.join(check.keys)} cannot both have and not have one form")
    derived: dict[str, list[str]] = {base_of(key): [] for check in checks for key in check.keys}
    tests: dict[str, list[Residual]] = {}
    for key in sorted(constraints):
        if key[-1] == ")":
            derived.setdefault(base_of(key), []).append(key)
    for check in checks:
        if len(check.keys) == 1:
            tests.setdefault(base_of(check.keys[0]), []).append(check)
    for base in sorted(derived):
        _close_attribute(base, derived[base], tests.get(base, []), constraints, checks, schema)
    return constraints, checks


def _close_attribute(
    base: str,
    derived: list[str],
    tests: list[Residual],
    constraints: dict[str, Constraint],
    checks: set[Residual],
    schema: Schema | None,
) -> None:
    """Make the conditions on one attribute, on what is derived from it, and the checks of its values agree."""
    for key in derived:
        constraints[key] = in_image(key, constraints[key])
        _require(key, constraints[key], "it never gives such text; write it case-folded")
    line = line_of(base, schema)
    own = constraints.get(base, WHOLE)
    if line is None and not derived and own[-1] == TOP:
        return  # texts are not finitely many
    for key in derived:
        own = tighten(intersect(own, base_of_derived(key, constraints[key])), line)
    _require(base, own, "its conditions exclude each other")
    places = points_of(own, line)
    if places is not None:
        constraints[base] = own
        _test_each_value(base, places, derived, tests, constraints, line)
        checks.difference_update(tests)
        return
    for key in derived:
        forced = tighten(_derived_of_base(key, own, constraints, line), line_of(key, schema))
        narrowed = intersect(constraints[key], forced)
        _require(key, narrowed, f"what {base} must be excludes it")
        constraints[key] = narrowed if narrowed != forced else WHOLE
    implied_base = WHOLE
    for key in derived:
        implied_base = intersect(implied_base, base_of_derived(key, constraints[key]))
    constraints[base] = own if own != tighten(implied_base, line) else WHOLE


def count_tests(
    constraints: Mapping[str, Constraint], checks: Iterable[Residual], schema: Schema | None
) -> int:
    """How many times `close` would test a single value against a check; none where there are few of both."""
    numbers: dict[str, int] = {}
    for check in checks:
        if len(check.keys) == 1:
            base = base_of(check.keys[0])
            numbers[base] = numbers.get(base, 0) + 1
    count = 0
    for base, number in numbers.items():
        if number > 1:
            line = line_of(base, schema)
            places = points_of(tighten(constraints.get(base, WHOLE), line), line)
            count += number * len(places or ())
    return count


def _test_each_value(
    base: str,
    places: list[Cut],
    derived: list[str],
    tests: list[Residual],
    constraints: dict[str, Constraint],
    line: Line | None,
) -> None:
    """The attribute has finitely many values: keep those that satisfy everything derived from them."""
    kept = [
        place
        for place in places
        if all(contains(constraints[key], derive(key, place)) for key in derived)
        and all(check.holds([derive(check.keys[0], place)]) for check in tests)
    ]
    if not kept:
        raise Dead(f"no value that {base} may have satisfies all conditions on it")
    if len(kept) < len(places):
        constraints[base] = tighten(union(map(around, kept)), line)
    for key in derived:
        del constraints[key]


def _require(key: str, constraint: Constraint, reason: str) -> None:
    if not constraint:
        raise Dead(f"{key}: {reason}")


def points_of(constraint: Constraint, line: Line | None) -> list[Cut] | None:
    """The points of all values that satisfy a constraint, None if they are not known to be finitely many."""
    result: list[Cut] = []
    if line is None and constraint:
        low, high = constraint[:2]
        is_range = low[0] == RANK_NUMBER and len(low) == len(high) == 3 and low[1] != high[1]
        if is_range or constraint[-1] == TOP:
            return None  # no end of numbers between two, nor of texts
    limit = _MAX_NAMED if line is None else _MAX_DECLARED
    for low, high in intervals(constraint):
        while low < high:
            place = first_point(low)
            if (len(place) == 3 and place[2] == 1) or len(result) == limit:
                return None
            low = around(place)[1] if line is None else line.tighten(around(place)[1])
            if low > high:
                return None
            result.append(place)
    return result


def in_image(key: str, constraint: Constraint) -> Constraint:
    """Without the texts that `lower` never gives: single values and prefixes that are not folded."""
    if "lower(" not in key:
        return constraint
    functions, _ = split(key)
    if "lower" not in functions:
        return constraint
    never = []
    for low, high in intervals(intersect(constraint, TEXTS)):
        text = low[1] if len(low) == 3 else ""
        shown = text[::-1] if functions[0] == "reverse" else text
        if fold(shown) != shown and (high == (6, text, 1) or (low, high) == prefix_interval(text)):
            never.append((low, high))
    return difference(constraint, union(never)) if never else constraint


def base_of_derived(key: str, constraint: Constraint) -> Constraint:
    """Where the attribute itself must lie for the derived one to satisfy a constraint."""
    function = split(key)[0][0]
    has_text = intersect(constraint, TEXTS) != EMPTY
    if function in ("lower", "reverse"):
        others = difference(constraint, TEXTS)
        return union([others, TEXTS]) if has_text else others
    return WHOLE if contains(constraint, BOTTOM) else TEXTS


def _derived_of_base(
    key: str, own: Constraint, constraints: Mapping[str, Constraint], line: Line | None
) -> Constraint:
    """Where a derived attribute must lie, given where the attribute itself does."""
    functions, base = split(key)
    if functions[0] in ("ip", "time"):
        readable = intersect(own, TEXTS) != EMPTY
        return union([MISSING, TEXTS if functions[0] == "ip" else NUMBERS]) if readable else MISSING
    others, text = difference(own, TEXTS), intersect(own, TEXTS)
    if line is not None:
        # A declared line names cuts by its own values; on the undeclared line of lower(x) they would be intervals.
        others = union(part for part in _SEGMENTS if intersect(others, part))
    if not text:
        return others
    if functions == ("lower",):
        forced = _folded_prefix(text, "")
    elif functions == ("reverse", "lower"):
        forced = _folded_prefix(intersect(constraints.get(f"reverse({base})", WHOLE), TEXTS), "reverse")
    else:
        forced = TEXTS
    return union([others, forced])


def _folded_prefix(text: Constraint, function: str) -> Constraint:
    """What case folding makes of a constraint that is one prefix; all texts if it is not."""
    if len(text) != 2 or len(text[0]) != 3 or text != prefix_interval(text[0][1]):
        return TEXTS
    prefix = text[0][1]
    return prefix_interval(fold(prefix[::-1])[::-1] if function == "reverse" else fold(prefix))


def implied_constraint(conjunction: Conjunction, key: str, schema: Schema | None) -> Constraint:
    """Where an attribute, derived or not, must lie for the conjunction to hold: a superset, as tight as is known."""
    constraints = dict(conjunction.constraints)
    known = constraints.get(key, WHOLE)
    base = base_of(key)
    own = constraints.get(base, WHOLE)
    for other, constraint in constraints.items():
        if other[-1] == ")" and base_of(other) == base:
            own = intersect(own, base_of_derived(other, constraint))
    if key == base:
        return tighten(own, line_of(key, schema))
    places = points_of(own, line_of(base, schema))
    if places is not None:
        forced = union(around(derive(key, place)) for place in places)
    else:
        forced = _derived_of_base(key, own, constraints, line_of(base, schema))
    return tighten(intersect(known, forced), line_of(key, schema))


def implies_residual(conjunction: Conjunction, residual: Residual, schema: Schema | None) -> bool:
    """Whether a residual check is known to hold wherever the conjunction does."""
    if any(implies(known, residual) for known in conjunction.residuals):
        return True
    if len(residual.keys) != 1 or isinstance(residual, AnywhereCheck):
        return False
    key = residual.keys[0]
    places = points_of(implied_constraint(conjunction, base_of(key), schema), line_of(base_of(key), schema))
    return places is not None and all(residual.holds([derive(key, place)]) for place in places)


@quick_value
class Box:
    """Every flat event whose attributes lie between two cuts each, and that passes the residual checks.

    An attribute that is not listed may lie anywhere, missing included.
    """

    intervals: tuple[tuple[str, Cut, Cut], ...]
    residuals: tuple[Residual, ...] = ()


def boxes_of(conjunction: Conjunction) -> Iterator[Box]:
    """The boxes of one conjunction, made as they are asked for; together they are the conjunction."""
    sides = (
        [(key, low, high) for low, high in intervals(constraint)]
        for key, constraint in conjunction.constraints
    )
    for chosen in product(*sides):
        yield Box(chosen, conjunction.residuals)
