"""Hypothesis strategies of filters that become rules, and of events for them: few attributes, short texts that share much.

So literals are equal, begin alike or lie in each other, texts fold to fewer and to more letters and bytes, and one event
satisfies several filters or just fails to.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.strategies import combined
from thatch.model.derived import fold
from thatch.model.expressions import (
    And,
    Compare,
    Distinct,
    Exists,
    Expression,
    In,
    IsNull,
    Matches,
    Not,
    Or,
    Unlike,
)
from thatch.model.names import derived_key
from thatch.model.wildcards import Wildcard, wildcard

__all__ = ["EVENTS", "FILTERS", "FLAT_EVENTS", "KEYS", "TEXTS", "WIDE", "conditions"]

KEYS = ("x", "y", "o.p", "o.q")
# Sharp s folds to two letters, the dotted İ to three bytes more, Kelvin's sign to one byte instead of three; a sigma at
# the end of a word is one that only `str.lower` treats in its own way.
_LETTERS = (
    "a",
    "b",
    "A",
    "B",
    "ab",
    "ba",
    "ß",
    "s",
    "S",
    "\u212a",
    "k",
    "İ",
    "i\u0307",
    "ς",
    "σ",
    "Σ",
    "\0",
    "é",
    "\U0001f600",
)
_PLAIN = st.text("ab", max_size=3)
_SHORT = st.one_of(_PLAIN, _PLAIN, st.lists(st.sampled_from(_LETTERS), max_size=3).map("".join))
_LONG = st.builds(lambda one, count, other: one * count + other, _SHORT, st.sampled_from([30, 200]), _SHORT)
TEXTS: st.SearchStrategy[str] = st.one_of(_SHORT, _SHORT, _SHORT, _LONG)

_FORMS = st.builds(
    lambda before, text, middle, other, after: before + text + middle + other + after,
    st.sampled_from(["", "%", "%", "%", "_"]),
    _SHORT,
    st.sampled_from(["", "", "%", "_", "%_"]),
    _SHORT,
    st.sampled_from(["", "%", "%", "%", "_"]),
)
_NEEDLES = _SHORT.filter(bool).map(lambda text: f"%{text}%")
PATTERNS: st.SearchStrategy[str] = st.one_of(_NEEDLES, _NEEDLES, _FORMS, _LONG.map(lambda text: f"%{text}%"))


@st.composite
def patterns(draw: st.DrawFn, key: str) -> Wildcard:
    """A pattern that text of an attribute may have: most often one with its case folded, if that is asked for."""
    text = draw(PATTERNS)
    return wildcard(fold(text) if "lower(" in key and draw(st.integers(0, 9)) else text)


_NUMBERS: st.SearchStrategy[Any] = st.sampled_from(
    [-1, 0, 1, 2, 2.5, 5, -0.0, 2**53, 2**53 + 1, 2**53 + 2, 2**63 - 1, 1e300]
)
_LITERALS = st.one_of(TEXTS, TEXTS, _NUMBERS, st.booleans())
_DERIVED = ((), (), (), ("lower",), ("lower",), ("reverse",), ("reverse", "lower"))


@st.composite
def conditions(draw: st.DrawFn, names: tuple[str, ...] = KEYS) -> Expression:
    """One condition, most often on the form of text."""
    key = derived_key(draw(st.sampled_from(_DERIVED)), draw(st.sampled_from(names)))
    kind = draw(
        st.sampled_from(
            ["like"] * 6 + ["unlike", "in", "in", "=", "<", ">=", "between", "null", "distinct", "exists"]
        )
    )
    if kind == "like":
        return Matches(key, draw(patterns(key)))
    if kind == "unlike":
        return Unlike(key, draw(patterns(key)))
    if kind == "in":
        return In(key, tuple(draw(st.lists(_LITERALS, min_size=1, max_size=5))))
    if kind in ("=", "<", ">="):
        return Compare(key, kind, draw(_LITERALS))
    if kind == "between":
        return And((Compare(key, ">", draw(_LITERALS)), Compare(key, "<=", draw(_LITERALS))))
    if kind == "null":
        return IsNull(key)
    return Exists(key) if kind == "exists" else Distinct(key, draw(st.one_of(_LITERALS, st.none())))


@st.composite
def _products(draw: st.DrawFn) -> Expression:
    """A condition on each of some attributes, all with many alternatives: thousands if they were multiplied out."""
    sides: list[Expression] = []
    for name in draw(st.lists(st.sampled_from(KEYS), min_size=2, max_size=3, unique=True)):
        key = derived_key(draw(st.sampled_from([(), ("lower",)])), name)
        count = draw(st.sampled_from([3, 5, 12]))
        forms = tuple(Matches(key, draw(patterns(key))) for _ in range(count))
        sides.append(Or(forms) if draw(st.booleans()) else Or((*forms, draw(conditions(KEYS[:2])))))
    return And((*sides, Not(draw(conditions())))) if draw(st.booleans()) else And(tuple(sides))


WIDE: st.SearchStrategy[Expression] = _products()
FILTERS: st.SearchStrategy[Expression] = st.one_of(
    conditions(), combined(conditions(), max_leaves=6), combined(conditions(), max_leaves=6), WIDE
)

_VALUES: st.SearchStrategy[Any] = st.one_of(TEXTS, TEXTS, TEXTS, _NUMBERS, st.none(), st.booleans())
_FIELDS = st.one_of(_VALUES, _VALUES, st.lists(_VALUES, max_size=3))
_INNER = st.fixed_dictionaries({}, optional={"p": _FIELDS, "q": _FIELDS})
FLAT_EVENTS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {}, optional={**dict.fromkeys(KEYS, _VALUES), "other": _VALUES}
)
EVENTS: st.SearchStrategy[dict[str, Any]] = st.one_of(
    FLAT_EVENTS,
    FLAT_EVENTS,
    st.fixed_dictionaries({}, optional={"x": _FIELDS, "y": _FIELDS, "o": _INNER, "other": _FIELDS}),
    st.fixed_dictionaries({}, optional={"x": _FIELDS, "y": _VALUES, "o": st.lists(_INNER, max_size=5)}),
)
