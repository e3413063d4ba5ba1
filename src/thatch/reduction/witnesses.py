"""Find events with given properties: a value for every attribute that fits its constraints and those derived from it.

A *requirement* is all that must hold of one attribute, of the attributes derived from it, and of checks of its values. A
check of two attributes ties their requirements together; requirements are independent of each other. For a plain
attribute a value is found whenever there is one. For derived attributes and checks we build candidates from what each of
them asks for and try them, so that we may find nothing although there is something.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice, product
from typing import Any

from thatch.model.conjunctions import Conjunction, Dead, close, points_of
from thatch.model.derived import address_of, derive, moment_text
from thatch.model.lines import (
    BOTTOM,
    COMPARABLE,
    MISSING,
    NUMBERS,
    RANK_TEXT,
    TEXTS,
    WHOLE,
    Constraint,
    Cut,
    contains,
    difference,
    intersect,
    point,
    prefix_interval,
    value_at,
)
from thatch.model.names import ANYWHERE, base_of, name_of, split
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
from thatch.model.shapes import Circle
from thatch.model.simplest import is_of_type, simplest_points

__all__ = ["Event", "Points", "Requirement", "event_at", "example", "find_points", "requirements"]

Event = dict[str, Any]
Points = dict[str, Cut]

_MOST_PARTS = 12  # beginnings, middles and ends that texts are built from, of each
_MOST_TRIED = 2_000  # candidates of one attribute
_GRID = 7  # latitudes and longitudes tried for a shape, of each


@dataclass(frozen=True, slots=True)
class Requirement:
    """What must hold of attributes that depend on each other."""

    bases: frozenset[str]
    constraints: tuple[tuple[str, Constraint], ...]
    checks: tuple[Residual, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether it is about one attribute only, without derived ones and checks."""
        return not self.checks and all(key in self.bases for key, _ in self.constraints)


def example(conjunction: Conjunction, schema: Schema | None) -> Event | None:
    """An event that satisfies a conjunction; None if none was found."""
    found: Points = {}
    for requirement in requirements(dict(conjunction.constraints), conjunction.residuals, schema):
        try:
            part = find_points(requirement, schema)
        except Dead:
            part = None
        if part is None:
            return None
        found |= part
    return event_at(found)


def requirements(
    constraints: Mapping[str, Constraint], checks: Iterable[Residual], schema: Schema | None
) -> list[Requirement]:
    """Split constraints and checks into independent requirements."""
    checks = tuple(checks)
    constraints = dict(constraints)
    for check in checks:
        for key, constraint in _necessary(check):
            constraints[key] = intersect(constraints.get(key, WHOLE), constraint)
    group = {base_of(key): frozenset([base_of(key)]) for key in constraints}
    for check in checks:
        tied = frozenset().union(*(group.get(base_of(key), frozenset([base_of(key)])) for key in check.keys))
        group.update(dict.fromkeys(tied, tied))
    sides: dict[frozenset[str], list[tuple[str, Constraint]]] = {bases: [] for bases in group.values()}
    for key, constraint in sorted(constraints.items()):
        sides[group[base_of(key)]].append((key, tighten(constraint, line_of(key, schema))))
    tests: dict[frozenset[str], list[Residual]] = {bases: [] for bases in group.values()}
    for check in checks:
        tests[group[base_of(check.keys[0])]].append(check)
    return [Requirement(bases, tuple(each), tuple(tests[bases])) for bases, each in sides.items()]


def _necessary(check: Residual) -> Iterator[tuple[str, Constraint]]:
    """Where the attributes of a check must lie for it to hold; a check itself never looks at types."""
    if check.negated or isinstance(check, AnywhereCheck):
        return
    if isinstance(check, PairCheck):
        yield from ((key, COMPARABLE) for key in check.keys)
    elif isinstance(check, FormulaCheck):
        yield from ((key, NUMBERS) for key in check.keys)
    elif isinstance(check, WildcardCheck):
        yield check.key, prefix_interval(check.pattern.prefix)
    else:
        yield from zip(check.keys, check.shape.bounds(), strict=True)


def event_at(found: Points) -> Event:
    """The event with these attributes, each at its point; missing ones are left out."""
    return {name_of(base): value_at(spot) for base, spot in sorted(found.items()) if spot != BOTTOM}


def find_points(requirement: Requirement, schema: Schema | None) -> Points | None:
    """A point for every attribute of a requirement; None if none was found. Raises `Dead` if there provably is none."""
    if ANYWHERE in requirement.bases:
        return None  # what other attributes become matters, too
    closed = close(dict(requirement.constraints), requirement.checks, schema)
    known = dict(closed.constraints)
    pairs = [check for check in requirement.checks if len(check.keys) > 1]
    shared = _shared_points(requirement, pairs)
    choices = []
    for base in sorted(requirement.bases):
        own = {
            key: constraint
            for key, constraint in chain(requirement.constraints, known.items())
            if base_of(key) == base
        }
        checks = [each for each in closed.residuals if each not in pairs and base_of(each.keys[0]) == base]
        candidates = chain(_candidates(base, own, checks, pairs, schema), shared)
        line = line_of(base, schema)
        fitting = (
            spot
            for spot in islice(candidates, _MOST_TRIED)
            if _fits(spot, own, checks) and is_of_type(spot, line)
        )
        # One is enough, unless a check of two attributes has to choose among several.
        choices.append([(base, spot) for spot in (dict.fromkeys(fitting) if pairs else islice(fitting, 1))])
    for chosen in islice(product(*choices), _MOST_TRIED):
        found = dict(chosen)
        if all(_holds(check, found) for check in pairs):
            return found
    return None


def _shared_points(requirement: Requirement, pairs: list[Residual]) -> list[Cut]:
    """Points of all attributes, to be tried for each where two are compared with each other."""
    if not any(isinstance(check, (PairCheck, FormulaCheck)) for check in pairs):
        return []
    return [spot for _, constraint in requirement.constraints for spot in simplest_points(constraint)]


def _fits(spot: Cut, constraints: Mapping[str, Constraint], checks: Iterable[Residual]) -> bool:
    return all(contains(constraint, derive(key, spot)) for key, constraint in constraints.items()) and all(
        check.holds([derive(check.keys[0], spot)]) for check in checks
    )


def _holds(check: Residual, found: Points) -> bool:
    return check.holds([derive(key, found[base_of(key)]) for key in check.keys])


# --- candidates ------------------------------------------------------------------------------------------------------


def _candidates(
    base: str,
    constraints: Mapping[str, Constraint],
    checks: list[Residual],
    pairs: list[Residual],
    schema: Schema | None,
) -> Iterator[Cut]:
    """Points of one attribute that may fit, the simplest first."""
    line = line_of(base, schema)
    own = constraints.get(base, WHOLE)
    yield from simplest_points(intersect(own, MISSING))
    for check in pairs:
        if isinstance(check, WithinCheck):
            yield from _degrees(check, base, own)
    listed = points_of(own, line)
    if listed is not None:
        yield from listed
    yield from simplest_points(difference(own, MISSING), line)
    if checks or any(key != base for key in constraints):
        for text in _texts(constraints, checks):
            yield point(text)


def _degrees(check: WithinCheck, base: str, own: Constraint) -> Iterator[Cut]:
    """Latitudes or longitudes inside and around a shape, as far as they satisfy the attribute's own constraint."""
    is_latitude = base == base_of(check.latitude)
    bounds = intersect(check.shape.bounds()[0 if is_latitude else 1], own)
    if isinstance(check.shape, Circle):
        yield point(check.shape.latitude if is_latitude else check.shape.longitude)
    else:
        for corner in islice(check.shape.corners, _MOST_PARTS):
            yield point(corner[0 if is_latitude else 1])
    ends = [cut[1] for cut in bounds if len(cut) == 3]
    if ends:
        start, width = float(min(ends)), float(max(ends)) - float(min(ends))
        for step in range(_GRID + 1):
            yield point(round(start + width * step / _GRID, 6))
            yield point(start + width * step / _GRID)


def _texts(constraints: Mapping[str, Constraint], checks: list[Residual]) -> Iterator[str]:
    """Texts built from what each condition asks for: a beginning, a middle and an end."""
    starts, middles, ends = [""], [""], [""]
    for key, constraint in constraints.items():
        functions, _ = split(key)
        found = [spot for spot in simplest_points(intersect(constraint, TEXTS)) if spot[0] == RANK_TEXT]
        if functions == ("ip",):
            yield from (address_of(text) for text in _ends(constraint, RANK_TEXT))
        elif functions == ("time",):
            yield from (moment_text(moment) for moment in _ends(constraint, RANK_TEXT - 1))
        elif functions[:1] == ("reverse",):
            ends += [each for spot in found for each in _cases(spot[1][::-1], functions)]
        else:
            starts += [each for spot in found for each in _cases(spot[1], functions)]
    for check in checks:
        if not isinstance(check, WildcardCheck):
            continue
        functions, _ = split(check.key)
        for text in (*_shortest(check.pattern), *_shortest(check.pattern, after_first=True)):
            middles += _cases(text[::-1] if functions[:1] == ("reverse",) else text, functions)
    parts = (list(dict.fromkeys(each))[:_MOST_PARTS] for each in (starts, middles, ends))
    yield from ("".join(chosen) for chosen in product(*parts))


def _ends(constraint: Constraint, rank: int) -> Iterator[Any]:
    """The values at the lower cuts of a discrete line, whose cuts are tightened."""
    return (cut[1] for cut in constraint[::2] if len(cut) == 3 and cut[0] == rank and cut[2] == 0)


def _cases(text: str, functions: tuple[str, ...]) -> list[str]:
    return [text, text.upper(), text.capitalize()] if "lower" in functions else [text]


def _shortest(pattern: Pattern, *, after_first: bool = False) -> Iterator[str]:
    """Short texts that match a pattern, or the part after its first piece."""
    if isinstance(pattern, Regex):
        yield pattern.needed
        return
    pieces = pattern.pieces[1:] if after_first else pattern.pieces
    for filler in ("a", "b"):
        yield "".join(part or filler for piece in pieces for part in piece)
    yield "a".join("".join(part or "a" for part in piece) for piece in pieces)
