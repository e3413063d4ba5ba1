"""Values for checks that are about several attributes: comparisons of two, and words in any text of an event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product

from thatch.model.derived import derive, fold
from thatch.model.lines import BOTTOM, RANK_TEXT, RANK_TEXTS, WHOLE, Cut, intersect_all, point
from thatch.model.names import ANYWHERE, base_of
from thatch.model.regexes import Pattern, Regex
from thatch.model.residuals import AnywhereCheck, PairCheck, Residual
from thatch.model.simplest import simplest_points
from thatch.model.texts import lies_inside
from thatch.model.texts.letters import fresh_letter
from thatch.model.texts.sets import TextSet, generic_text
from thatch.model.trees import ValueTest

__all__ = ["place_anywhere", "place_compared", "spot", "texts_exclude"]

_MOST_VALUES = 12  # tried for each of two attributes


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
) -> None:
    """Choose other values of two attributes where they do not compare as they must."""
    compared = [check for check in checks if isinstance(check, PairCheck)]
    for check in compared:
        bases = [base_of(key) for key in check.keys]
        if not unknown.isdisjoint(bases) or check.holds([spot(key, places) for key in check.keys]):
            continue
        values = dict.fromkeys(each for base in bases for each in _values(base, tests.get(base, ()), places))
        for chosen in product(values, values):
            found = {**places, **dict(zip(bases, chosen, strict=True))}
            if all(_passes(found, base, tests) for base in bases) and all(
                each.holds([spot(key, found) for key in each.keys]) for each in compared
            ):
                places.update(found)
                break
        else:
            unknown.update(bases)


def _values(base: str, tests: Sequence[ValueTest], places: Mapping[str, Cut]) -> Iterator[Cut]:
    yield places.get(base, BOTTOM)
    own = intersect_all([WHOLE, WHOLE, *(test.hull() for test in tests if test.key == base)])
    yield from islice(simplest_points(own), _MOST_VALUES)


def _passes(places: Mapping[str, Cut], base: str, tests: Mapping[str, Sequence[ValueTest]]) -> bool:
    return all(test.holds([spot(test.key, places)]) for test in tests.get(base, ()))


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
