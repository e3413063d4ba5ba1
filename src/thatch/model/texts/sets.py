"""Tests of one attribute as sets of texts: at least one of each clause, and none of those that are excluded.

A set of texts is a wildcard pattern, a regular expression, or a constraint that is neither a text nor a beginning; the
patterns of `reverse(x)` are turned round. Of a regular expression only the literal that it needs is known, and that it is
equal to itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from thatch.model.derived import fold
from thatch.model.lines import (
    TEXTS,
    Constraint,
    complement,
    difference,
    intersect,
    intervals,
    is_single,
    prefix_interval,
)
from thatch.model.names import split
from thatch.model.regexes import Pattern, Regex
from thatch.model.trees import ValueTest
from thatch.model.wildcards import Wildcard, escape_wildcard, wildcard

__all__ = [
    "TextClauses",
    "TextSet",
    "clauses_of",
    "generic_text",
    "lies_inside",
    "opposite",
    "widened",
]

STRANGE = "\ue000"  # in no pattern, as a rule; case folding leaves it alone
_FEW = 1_000  # texts and beginnings that are looked at one by one


@dataclass(frozen=True, slots=True)
class TextSet:
    """A set of texts, or with `is_folded` of texts whose case-folded form is in it.

    `is_reversed` is for a constraint of texts read from their end; patterns are turned round.
    """

    form: Pattern | Constraint
    is_folded: bool = False
    is_reversed: bool = False


@dataclass(slots=True)
class TextClauses:
    """What a text must be: one of every clause, and none of the excluded."""

    clauses: list[frozenset[TextSet]] = field(default_factory=list)
    excluded: set[TextSet] = field(default_factory=set)


def opposite(test: ValueTest) -> ValueTest:
    """The test that a value passes exactly if it does not pass this one."""
    return ValueTest(test.key, complement(test.constraint), test.patterns, negated=not test.negated)


def clauses_of(tests: Iterable[ValueTest]) -> TextClauses:
    """What tests of one attribute ask of its texts; a superset where they ask for addresses or times."""
    result = TextClauses()
    for test in tests:
        functions, _ = split(test.key)
        if functions[:1] in (("ip",), ("time",)):
            continue
        is_folded, is_reversed = "lower" in functions, functions[:1] == ("reverse",)
        patterns = {_part(each, is_folded=is_folded, is_reversed=is_reversed) for each in test.patterns}
        if test.negated:
            result.excluded |= patterns
            patterns = set()
        _require(
            result, intersect(test.constraint, TEXTS), patterns, is_folded=is_folded, is_reversed=is_reversed
        )
    return result


def _require(
    result: TextClauses, texts: Constraint, patterns: set[TextSet], *, is_folded: bool, is_reversed: bool
) -> None:
    """Ask for what lies in a constraint or is one of some parts."""
    if texts == TEXTS:
        return
    if not patterns:
        left_out = _simple(difference(TEXTS, texts))
        if left_out is not None:
            result.excluded.update(
                _part(each, is_folded=is_folded, is_reversed=is_reversed) for each in left_out
            )
            return
    simple = _simple(texts)
    if simple is not None:
        patterns = patterns | {_part(each, is_folded=is_folded, is_reversed=is_reversed) for each in simple}
    else:
        patterns = patterns | {TextSet(texts, is_folded, is_reversed)}
    result.clauses.append(frozenset(patterns))


def _simple(texts: Constraint) -> list[Wildcard] | None:
    """The texts and beginnings that a constraint consists of; None if it does not, or of too many."""
    if len(texts) > 2 * _FEW:
        return None
    found = []
    for low, high in intervals(texts):
        text = low[1] if len(low) == 3 else ""
        if is_single(low, high):
            found.append(wildcard(escape_wildcard(text)))
        elif (low, high) == prefix_interval(text):
            found.append(wildcard(escape_wildcard(text) + "%"))
        else:
            return None
    return found


def _part(form: Pattern, *, is_folded: bool, is_reversed: bool) -> TextSet:
    if not is_reversed:
        return TextSet(form, is_folded)
    if isinstance(form, Regex):
        return TextSet(form, is_folded, is_reversed)
    return TextSet(mirrored(form), is_folded)


@lru_cache(maxsize=65_536)
def mirrored(form: Wildcard) -> Wildcard:
    """The pattern of all texts that are of a form when read from their end."""
    return wildcard("%".join(_written(piece[::-1]) for piece in reversed(form.pieces)))


def _written(piece: Sequence[str | None]) -> str:
    return "".join("_" if each is None else escape_wildcard(each) for each in piece)


def widened(part: TextSet) -> TextSet:
    """A part that is no regular expression, and has all texts of this one."""
    if not isinstance(part.form, Regex):
        return part
    needed = part.form.needed
    form = wildcard(f"%{escape_wildcard(needed)}%") if needed else wildcard("%")
    return _part(form, is_folded=part.is_folded, is_reversed=part.is_reversed)


# --- one part inside another -----------------------------------------------------------------------------------------


def lies_inside(inner: TextSet, outer: TextSet) -> bool:
    """Whether a short proof shows that each text of one part is one of another.

    A pattern becomes a text by a strange letter for each `%` and `_`. If a pattern without `_`, in which that letter does not
    occur, has the form of this text, then its pieces stand in the pattern's own, one after the other: it has all its texts.
    """
    if inner == outer:
        return True
    form, wide = inner.form, outer.form
    if not isinstance(wide, Wildcard) or inner.is_folded > outer.is_folded:
        return False
    if isinstance(form, Regex):
        form = widened(inner).form
    if not isinstance(form, Wildcard):
        return False
    if _has_one(wide) or STRANGE in wide.text:
        return False
    text = generic_text(form, STRANGE)
    return wide.matches(fold(text) if outer.is_folded else text)


@lru_cache(maxsize=65_536)
def generic_text(form: Wildcard, letter: str) -> str:
    """The text that a pattern becomes by a letter for each `%` and `_`."""
    return letter.join("".join(letter if each is None else each for each in piece) for piece in form.pieces)


@lru_cache(maxsize=65_536)
def _has_one(form: Wildcard) -> bool:
    return any(None in piece for piece in form.pieces)
