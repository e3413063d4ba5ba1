"""Values for checks that are about several attributes: comparisons and formulas, and words in any text of an event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product

from thatch.model.derived import derive, fold
from thatch.model.lines import BOTTOM, RANK_TEXT, RANK_TEXTS, WHOLE, Cut, intersect_all, point
from thatch.model.names import ANYWHERE, base_of, derived_key
from thatch.model.regexes import Pattern, Regex
from thatch.model.residuals import AnywhereCheck, Residual
from thatch.model.schema import Schema, line_of
from thatch.model.simplest import is_of_type, simplest_points
from thatch.model.texts import lies_inside
from thatch.model.texts.letters import fresh_letter
from thatch.model.texts.sets import TextSet, generic_text
from thatch.model.trees import ValueTest
from thatch.model.types import Line

__all__ = ["place_anywhere", "place_compared", "spot", "test_of_one", "texts_exclude"]

_MOST_VALUES = 12  # tried for each attribute
_MOST_COMPARED = 2  # attributes of one check for which values are tried


def spot(key: str, places: Mapping[str, Cut]) -> Cut:
    """The point of a key on an event with these places."""
    base = base_of(key)
    if base == ANYWHERE:
        texts = [place[1] for place in places.values() if place[0] == RANK_TEXT]
        return (RANK_TEXTS, tuple(texts if key == ANYWHERE else map(fold, texts)))
    return derive(key, places.get(base, BOTTOM))


# --- comparisons -----------------------------------------------------------------------------------------------------


def place_compared(
    checks: Sequence[Residual],
    tests: Mapping[str, Sequence[ValueTest]],
    places: dict[str, Cut],
    unknown: set[str],
    schema: Schema | None,
) -> None:
    """Choose other values of attributes where they do not compare as they must."""
    compared = [check for check in checks if not isinstance(check, AnywhereCheck)]
    for check in compared:
        bases = list(dict.fromkeys(map(base_of, check.keys)))
        if unknown.isdisjoint(bases) and _holds(check, places):
            continue
        found = None
        if unknown.isdisjoint(bases) and len(bases) <= _MOST_COMPARED:
            own = [list(_values(base, tests.get(base, ()), places, line_of(base, schema))) for base in bases]
            values = dict.fromkeys(each for some in own for each in some)
            typed = [[each for each in values if is_of_type(each, line_of(base, schema))] for base in bases]
            tried = ({**places, **dict(zip(bases, chosen, strict=True))} for chosen in product(*typed))
            found = next((each for each in tried if _all_hold(each, bases, tests, compared)), None)
        if found is None:
            unknown.update(bases)
        else:
            places.update(found)


def _all_hold(
    places: Mapping[str, Cut],
    bases: Sequence[str],
    tests: Mapping[str, Sequence[ValueTest]],
    checks: Sequence[Residual],
) -> bool:
    passes = all(test.holds([spot(test.key, places)]) for base in bases for test in tests.get(base, ()))
    return passes and all(_holds(check, places) for check in checks)


def _holds(check: Residual, places: Mapping[str, Cut]) -> bool:
    return check.holds([spot(key, places) for key in check.keys])


def _values(
    base: str, tests: Sequence[ValueTest], places: Mapping[str, Cut], line: Line | None
) -> Iterator[Cut]:
    yield places.get(base, BOTTOM)
    own = intersect_all([WHOLE, WHOLE, *(test.hull() for test in tests if test.key == base)])
    yield from islice(simplest_points(own, line), _MOST_VALUES)


# --- words in any text -----------------------------------------------------------------------------------------------


def texts_exclude(one: Residual, other: Residual) -> bool:
    """Whether one check asks for a text that the other one allows nowhere."""
    if (
        not (isinstance(one, AnywhereCheck) and isinstance(other, AnywhereCheck))
        or one.negated == other.negated
    ):
        return False
    wanted, nowhere = (other, one) if one.negated else (one, other)
    return all(
        any(lies_inside(_texts_of(wanted, form), _texts_of(nowhere, outer)) for outer in nowhere.patterns)
        for form in wanted.patterns
    )


def test_of_one(check: Residual, base: str) -> ValueTest | None:
    """What a check of all texts asks of one attribute: not to be text of a form that stands nowhere."""
    if not (isinstance(check, AnywhereCheck) and check.negated):
        return None
    key = base if check.key == ANYWHERE else derived_key(("lower",), base)
    return ValueTest(key, WHOLE, frozenset(check.patterns), negated=True)


def _texts_of(check: AnywhereCheck, form: Pattern) -> TextSet:
    return TextSet(form, is_folded=check.key != ANYWHERE)


def place_anywhere(
    checks: Sequence[Residual], places: dict[str, Cut], unknown: set[str], named: set[str]
) -> None:
    """Give the event texts under names that nobody asks for, where a check looks for a text in all of them."""
    anywhere = [check for check in checks if isinstance(check, AnywhereCheck)]
    for check in anywhere:
        if not check.negated and not check.holds([spot(check.key, places)]):
            for form in check.patterns:
                found = {**places, _unused(named, places): point(_text(form))}
                if all(
                    each.holds([spot(each.key, found)]) for each in anywhere if each.negated or each is check
                ):
                    places.update(found)
                    break
    if not all(check.holds([spot(check.key, places)]) for check in anywhere):
        unknown.add(ANYWHERE)


def _text(form: Pattern) -> str:
    if isinstance(form, Regex):
        return form.needed
    return generic_text(form, fresh_letter(form.text))


def _unused(named: set[str], places: Mapping[str, Cut]) -> str:
    number = 1
    while (name := "text" if number == 1 else f"text{number}") in named or name in places:
        number += 1
    return name
