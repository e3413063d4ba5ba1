"""Is there a value that passes tests of one attribute? Decided exactly within a budget, with the value as witness.

Values that can be named one by one are tried. Texts are decided by short proofs (a required pattern lies inside an excluded
one), then by texts made of the patterns themselves, then by automata. A witness has always been tried on the tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from thatch.model.conjunctions import points_of
from thatch.model.derived import address_of, derive, moment_text
from thatch.model.lines import (
    BOTTOM,
    EMPTY,
    RANK_TEXT,
    TEXTS,
    WHOLE,
    Constraint,
    Cut,
    contains,
    difference,
    intersect,
    intersect_all,
    point,
    value_at,
)
from thatch.model.names import split
from thatch.model.regexes import Regex
from thatch.model.schema import line_of, tighten
from thatch.model.simplest import simplest_points
from thatch.model.texts.letters import fresh_letter
from thatch.model.texts.search import BudgetSpentError, shortest_text
from thatch.model.texts.sets import (
    TextClauses,
    TextSet,
    clauses_of,
    generic_text,
    lies_inside,
    widened,
)
from thatch.model.trees import ValueTest
from thatch.model.types import Line
from thatch.model.wildcards import Wildcard, wildcard

__all__ = ["MOST_STEPS", "FoundValue", "find_value", "passes"]

MOST_STEPS = 20_000  # of single machines; some milliseconds
_MOST_COMPARED = 20_000  # pairs of patterns
_ANY_TEXT = wildcard("%")
_MOST_TRIED = 64  # texts made of patterns


@dataclass(frozen=True, slots=True)
class FoundValue:
    """Whether no value passes the tests, None if that is not known; `place` is the point of one that does."""

    is_empty: bool | None
    place: Cut | None = None


_NOTHING = FoundValue(is_empty=True)
_UNKNOWN = FoundValue(is_empty=None)


def passes(test: ValueTest, place: Cut) -> bool:
    """Whether the value of the attribute itself at a point passes a test."""
    spot = derive(test.key, place)
    has_form = spot[0] == 6 and any(pattern.matches(spot[1]) for pattern in test.patterns)
    is_inside = contains(test.constraint, spot)
    return is_inside and not has_form if test.negated else is_inside or has_form


def find_value(tests: Sequence[ValueTest], line: Line | None = None, budget: int = MOST_STEPS) -> FoundValue:
    """Find a value of one attribute that passes all tests, of it and of functions of it.

    Parameters
    ----------
    tests : all of one attribute
    line : its declared type
    budget : steps of automata; the answer is unknown beyond
    """
    own = tighten(intersect_all([WHOLE, *(each.constraint for each in tests if _bounds_itself(each))]), line)
    places = points_of(own, line)
    if places is not None:
        return _found(tests, places, line) or _NOTHING
    others = _other_values(tests, own, line)
    if others.place is not None:
        return others
    texts = _texts(tests, line, budget) if tighten(intersect(own, TEXTS), line) else _NOTHING
    return others if texts.is_empty else texts


def _bounds_itself(test: ValueTest) -> bool:
    return test.key[-1] != ")" and (test.negated or not test.patterns)


def _found(tests: Iterable[ValueTest], places: Iterable[Cut], line: Line | None) -> FoundValue | None:
    """The first of some points that passes; None if none does."""
    for place in places:
        is_known = line is None or place <= (1,) or line.holds(value_at(place))
        if is_known and all(passes(test, place) for test in tests):
            return FoundValue(is_empty=False, place=place)
    return None


def _other_values(tests: Sequence[ValueTest], own: Constraint, line: Line | None) -> FoundValue:
    """Whether something that is no text passes."""
    rest = difference(own, TEXTS)
    for test in tests:
        if test.key[-1] == ")" and split(test.key)[0][0] in ("ip", "time"):
            rest = rest if contains(test.constraint, BOTTOM) else EMPTY
        else:
            rest = intersect(rest, test.constraint)
    rest = tighten(rest, line)
    if not rest:
        return _NOTHING
    return _found(tests, simplest_points(rest, line), line) or _UNKNOWN


# --- texts -----------------------------------------------------------------------------------------------------------


def _texts(tests: Sequence[ValueTest], line: Line | None, budget: int) -> FoundValue:
    read = _read_constraints(tests)
    if not all(read.values()):
        return _NOTHING
    written = [text for constraint in read.values() for text in _written(constraint)]
    if written and (found := _found(tests, map(point, written), line)) is not None:
        return found
    parts = clauses_of(tests)
    clauses = _without_excluded(parts)
    if clauses is None:
        return _NOTHING
    found = _found(tests, map(point, _likely(clauses, parts.excluded)), line)
    if found is not None:
        return found
    excluded = {part for part in parts.excluded if not isinstance(part.form, Regex)}
    return _searched(tests, TextClauses(clauses, excluded), line, budget)


def _read_constraints(tests: Iterable[ValueTest]) -> dict[str, Constraint]:
    """Where the address or the time that a text stands for must lie."""
    result: dict[str, Constraint] = {}
    for test in tests:
        if test.key[-1] == ")" and split(test.key)[0][0] in ("ip", "time"):
            own = test.hull()
            result[test.key] = tighten(intersect(result.get(test.key, WHOLE), own), line_of(test.key, None))
    return result


def _written(constraint: Constraint) -> Iterator[str]:
    """Texts of addresses or times that lie in a constraint."""
    for low in constraint[: 2 * _MOST_TRIED : 2]:
        if len(low) == 3 and low[2] == 0:
            yield address_of(low[1]) if low[0] == RANK_TEXT else moment_text(low[1])


def _without_excluded(parts: TextClauses) -> list[frozenset[TextSet]] | None:
    """The clauses without alternatives that lie inside something excluded; None if one has no alternative left."""
    clauses: list[frozenset[TextSet]] = []
    compared = 0
    for clause in sorted(parts.clauses, key=len):
        left = clause - parts.excluded
        if compared < _MOST_COMPARED:
            compared += len(left) * len(parts.excluded)
            left = frozenset(
                part for part in left if not any(lies_inside(part, outer) for outer in parts.excluded)
            )
        if not left:
            return None
        known = [next(iter(each)) for each in clauses if len(each) == 1]
        if not any(lies_inside(one, part) for one in known for part in left):
            clauses.append(frozenset(map(widened, left)))
    return clauses


def _searched(tests: Sequence[ValueTest], parts: TextClauses, line: Line | None, budget: int) -> FoundValue:
    """Look for a text by automata, for each alternative of the shortest clause."""
    is_folded = all(each.is_folded for each in parts.excluded)
    first, *rest = parts.clauses or [frozenset([TextSet(_ANY_TEXT, is_folded)])]
    is_unknown = False
    for part in sorted(first, key=repr):
        clauses = [frozenset([part]), *rest]
        excluded = {each for each in parts.excluded if not _are_apart(part, each)}
        try:
            text = shortest_text(TextClauses(clauses, excluded), budget)
        except BudgetSpentError:
            is_unknown = True
            continue
        if text is not None:
            found = _found(tests, [point(text)], line)
            if found is not None:
                return found
            is_unknown = True
    return _UNKNOWN if is_unknown else _NOTHING


def _are_apart(one: TextSet, other: TextSet) -> bool:
    """Whether two patterns begin or end differently."""
    form, second = one.form, other.form
    if not isinstance(form, Wildcard) or not isinstance(second, Wildcard) or one.is_folded != other.is_folded:
        return False
    return not (_agree(form.prefix, second.prefix) and _agree(form.suffix[::-1], second.suffix[::-1]))


def _agree(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def _likely(clauses: Sequence[frozenset[TextSet]], excluded: Iterable[TextSet]) -> Iterator[str]:
    """Texts made of the patterns, which pass most tests that can be passed."""
    chosen = [
        [part.form for part in sorted(clause, key=repr)[:4] if isinstance(part.form, Wildcard)]
        for clause in clauses
    ]
    if not all(chosen):
        return
    used = "".join(
        part.form.text for group in (*clauses, excluded) for part in group if not isinstance(part.form, tuple)
    )
    letter = fresh_letter(used)
    for number in range(min(_MOST_TRIED, max(map(len, chosen), default=1))):
        forms: list[Wildcard] = [each[number % len(each)] for each in chosen]
        start = max((each.prefix for each in forms), key=len, default="")
        end = max((each.suffix for each in forms), key=len, default="")
        if len(forms) == 1:
            yield "".join(letter if each is None else each for piece in forms[0].pieces for each in piece)
        yield letter.join((start, *(generic_text(each, letter) for each in forms), end))
        if len(forms) <= 1:
            yield from (generic_text(each, letter) for each in forms)
