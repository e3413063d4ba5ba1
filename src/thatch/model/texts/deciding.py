"""Is there a value that passes tests of one attribute? Decided exactly within a budget, with the value as witness.

Values that can be named one by one are tried. Texts are decided by short proofs (a required pattern lies inside an excluded
one), then by texts made of the patterns themselves, then by automata. A witness has always been tried on the tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from thatch.model.conjunctions import points_of
from thatch.model.derived import address_of, derive, fold, moment_text
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
from thatch.model.texts.regex_samples import samples_of
from thatch.model.texts.search import BudgetSpentError, Steps, shortest_text
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
from thatch.model.wildcards import Wildcard, escape_wildcard, wildcard

__all__ = ["MOST_STEPS", "FoundValue", "are_apart", "find_value", "passes"]

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


def find_value(
    tests: Sequence[ValueTest], line: Line | None = None, budget: int | Steps = MOST_STEPS
) -> FoundValue:
    """Find a value of one attribute that passes all tests, of it and of functions of it.

    Parameters
    ----------
    tests : all of one attribute
    line : its declared type
    budget : steps of automata, of this question or, as `Steps`, of several; the answer is unknown beyond
    """
    own = tighten(intersect_all([WHOLE, *(each.constraint for each in tests if _bounds_itself(each))]), line)
    places = points_of(own, line)
    if places is not None:
        return _found(tests, places, line) or _NOTHING
    others = _other_values(tests, own, line)
    if others.place is not None:
        return others
    steps = budget if isinstance(budget, Steps) else Steps(budget)
    texts = _texts(tests, line, steps) if tighten(intersect(own, TEXTS), line) else _NOTHING
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


def _texts(tests: Sequence[ValueTest], line: Line | None, steps: Steps) -> FoundValue:
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
    clauses = _without_apart(clauses)
    if not all(clauses):
        return _NOTHING
    found = _found(tests, map(point, _likely(clauses, parts.excluded)), line)
    if found is None and any(isinstance(part.form, Regex) for clause in parts.clauses for part in clause):
        sampled = [frozenset(each for part in clause for each in _sampled(part)) for clause in parts.clauses]
        found = _found(tests, map(point, _likely(sampled, parts.excluded)), line)
    if found is not None:
        return found
    if steps.left <= 0:
        return _UNKNOWN
    excluded = {part for part in parts.excluded if not isinstance(part.form, Regex)}
    return _searched(tests, TextClauses(clauses, excluded), line, steps)


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
    known: list[TextSet] = []  # clauses of one alternative
    compared = 0
    for clause in sorted(parts.clauses, key=len):
        left = clause - parts.excluded
        compared += len(left) * len(parts.excluded)
        if compared < _MOST_COMPARED:
            left = frozenset(
                part for part in left if not any(lies_inside(part, outer) for outer in parts.excluded)
            )
        if not left:
            return None
        compared += len(left) * len(known)
        if compared < _MOST_COMPARED and any(lies_inside(one, part) for one in known for part in left):
            continue
        clauses.append(frozenset(map(widened, left)))
        if len(left) == 1:
            known += clauses[-1]
    return clauses


def _without_apart(clauses: Sequence[frozenset[TextSet]]) -> list[frozenset[TextSet]]:
    """The clauses, the shortest first, without alternatives that begin or end like no alternative of a shorter one."""
    result: list[frozenset[TextSet]] = []
    compared = 0
    for clause in sorted(clauses, key=len):
        left = clause
        for other in result:
            compared += len(left) * len(other)
            if compared < _MOST_COMPARED:
                left = frozenset(part for part in left if not all(are_apart(part, each) for each in other))
        result.append(left)
    return result


def _searched(tests: Sequence[ValueTest], parts: TextClauses, line: Line | None, steps: Steps) -> FoundValue:
    """Look for a text by automata, for each alternative of the shortest clause."""
    is_folded = all(each.is_folded for each in parts.excluded)
    first, *rest = parts.clauses or [frozenset([TextSet(_ANY_TEXT, is_folded)])]
    is_unknown = False
    for part in sorted(first, key=repr):
        clauses = [frozenset([part]), *rest]
        steps.left -= 1 + len(parts.excluded)
        excluded = {each for each in parts.excluded if not are_apart(part, each)}
        try:
            text = shortest_text(TextClauses(clauses, excluded), steps)
        except BudgetSpentError:
            is_unknown = True
            continue
        if text is not None:
            found = _found(tests, [point(text)], line)
            if found is not None:
                return found
            is_unknown = True
    return _UNKNOWN if is_unknown else _NOTHING


def are_apart(one: TextSet, other: TextSet) -> bool:
    """Whether two patterns begin or end differently, or one is a text that has not the form of the other."""
    form, second = one.form, other.form
    if not isinstance(form, Wildcard) or not isinstance(second, Wildcard) or one.is_folded != other.is_folded:
        return False
    start, end, text = _ends(form)
    other_start, other_end, other_text = _ends(second)
    if text is not None:
        return not second.matches(text)
    if other_text is not None:
        return not form.matches(other_text)
    return not (_agree(start, other_start) and _agree(end, other_end))


@lru_cache(maxsize=65_536)
def _ends(form: Wildcard) -> tuple[str, str, str | None]:
    """The beginning of a pattern, its end backwards, and the text if it is one."""
    return form.prefix, form.suffix[::-1], form.literal


def _agree(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def _sampled(part: TextSet) -> Iterator[TextSet]:
    """A pattern, or for a regular expression texts that it matches, alone and inside others."""
    if not isinstance(part.form, Regex):
        yield part
        return
    for sample in samples_of(part.form.text):
        text = escape_wildcard(fold(sample) if part.is_folded else sample)
        for form in (text, f"%{text}%", f"{text}%", f"%{text}"):
            yield TextSet(wildcard(form), part.is_folded)


def _likely(clauses: Sequence[frozenset[TextSet]], excluded: Iterable[TextSet]) -> Iterator[str]:
    """Texts made of the patterns, which pass most tests that can be passed."""
    chosen = [
        [part for part in sorted(clause, key=_simplest) if isinstance(part.form, Wildcard)]
        for clause in clauses
    ]
    if not all(chosen):
        return
    used = "".join(
        part.form.text for group in (*clauses, excluded) for part in group if not isinstance(part.form, tuple)
    )
    letter = fresh_letter(used)
    is_long = len(chosen) > _MOST_TRIED
    first = iter([tuple(each[0] for each in chosen)])
    tried = first if is_long else _together(chosen, (), Steps(_MOST_COMPARED // 10))
    for parts in islice(tried, _MOST_TRIED):
        forms: list[Wildcard] = [each.form for each in parts]  # type: ignore[misc]  # all others are left out
        start = max((each.prefix for each in forms), key=len, default="")
        end = max((each.suffix for each in forms), key=len, default="")
        if len(forms) == 1:
            yield "".join(letter if each is None else each for piece in forms[0].pieces for each in piece)
        yield from dict.fromkeys(generic_text(each, letter) for each in forms)
        if len(forms) != 1:
            yield letter.join((start, *(generic_text(each, letter) for each in forms), end))


def _simplest(part: TextSet) -> tuple[int, str]:
    text = repr(part.form)
    return len(text), text


def _together(
    choices: Sequence[Sequence[TextSet]], chosen: tuple[TextSet, ...], steps: Steps
) -> Iterator[tuple[TextSet, ...]]:
    """One of each clause, no two of which begin or end differently; as many as are found in so many steps."""
    if len(chosen) == len(choices):
        yield chosen
        return
    for part in choices[len(chosen)]:
        steps.left -= 1 + len(chosen)
        if steps.left < 0:
            return
        if not any(are_apart(part, each) for each in chosen):
            yield from _together(choices, (*chosen, part), steps)
