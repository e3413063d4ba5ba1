"""Hypothesis strategies that all tests share: values, events, schemas, expressions, and their ways to be written.

Attributes and values come from small pools, so that conditions and events meet, and bounds collide.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from math import inf, isinf, isnan, nan, nextafter
from typing import Any

from hypothesis import strategies as st

import thatch.model.expressions as tree
import thatch.model.schema as declared
from thatch.model.derived import ip_text, microseconds_of
from thatch.model.formulas import Formula, Numeral, Operation, Variable
from thatch.model.names import ANYWHERE, derived_key, key_of, split
from thatch.model.regexes import regex
from thatch.model.shapes import Circle, Polygon
from thatch.model.wildcards import wildcard

# --- values ----------------------------------------------------------------------------------------------------

SMALL_NUMBERS: list[int | float] = [
    -1,
    0,
    1,
    2,
    3,
    5,
    0.5,
    2.5,
    -0.0,
    2.25,
    0.1,
    0.30000000000000004,
    100,
    1000,
]


def _neighbours(centre: int) -> list[int | float]:
    """Whole numbers and doubles around a power of two, of both signs, those of 64 bits."""
    whole = [sign * (centre + step) for sign in (-1, 1) for step in (-2, -1, 0, 1, 2)]
    double = float(centre)
    doubles = [
        sign * each for sign in (-1, 1) for each in (nextafter(double, 0), double, nextafter(double, inf))
    ]
    return [number for number in whole if -(2**63) <= number < 2**63] + doubles


EDGE_NUMBERS: list[int | float] = [
    *(number for power in (52, 53, 54, 62, 63) for number in _neighbours(2**power)),
    *(-inf, inf, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, -1e300, 1e300, 1e22, 1e-7),
]

ADDRESSES = [
    "10.0.0.1", "10.0.0.255", "10.0.1.0", "0.0.0.0", "255.255.255.255", "9.9.9.9",
    "::", "::1", "2001:db8::1", "2001:DB8:0::1", "::ffff:10.0.0.1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
]  # fmt: skip
MOMENTS = [
    "2026-01-31", "2026-01-31T00:00:00Z", "2026-01-31T01:00:00+01:00", "2026-01-31 00:00", "2026-01-31T00:00:00.000001Z",
    "1969-12-31T23:59:59.999999Z", "1970-01-01", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z",
]  # fmt: skip
WORDS = [
    "", "a", "aa", "ab", "abc", "aB", "A", "AB", "b", "ba", "bab", "cba", "a\0", "a\uffff", "a\U0001f600", "\U0010ffff",
    "\uffff", "\U00010000", "ß", "ss", "SS", "İ", "a%", "a_", "a\\", "it's", 'say "x"', "null", "true", "5", "\n", "é",
]  # fmt: skip
NEAR_MISSES = [
    "10.0.0",
    "10.0.0.256",
    "::1%eth0",
    "2026-02-30",
    "2026-01-31T25:00",
    "26-01-31",
    "0001-01-01T00:00:00+01:00",
]

numbers: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(SMALL_NUMBERS),
    st.sampled_from(SMALL_NUMBERS),
    st.sampled_from(EDGE_NUMBERS),
    st.integers(-5, 5),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
)
texts: st.SearchStrategy[str] = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(WORDS),
    st.sampled_from(ADDRESSES + MOMENTS + NEAR_MISSES),
    st.text("abAB\0\U0001f600", max_size=4),
    st.text(max_size=5),
)
literals: st.SearchStrategy[Any] = st.one_of(numbers, texts, st.booleans())
values: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(SMALL_NUMBERS), st.sampled_from(WORDS), literals, st.none(), st.just(nan)
)

# --- events ----------------------------------------------------------------------------------------------------

NAMES = ("x", "y", "d-t", "o", "o.p", "o.q", "o.p.r", "lat", "lon")
KEYS = tuple(map(key_of, NAMES))


def _with_lists(elements: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """The elements themselves, lists of them and lists of such lists."""
    return st.one_of(
        elements, elements, st.lists(st.one_of(elements, st.lists(elements, max_size=2)), max_size=3)
    )


def _objects(fields: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


fields = _with_lists(values)
degrees = st.one_of(st.sampled_from([0, 1, 1.5, 45, 89.9, 90, -90, 179.9, 180, -180, 181, 10, 20]), values)
_inner = _objects({"p": _with_lists(st.one_of(values, _objects({"r": fields}))), "q": fields, "p.r": fields})

flat_values_events: st.SearchStrategy[dict[str, Any]] = _objects(
    {name: values for name in NAMES if name not in {"lat", "lon"}} | {"lat": degrees, "lon": degrees}
)
events: st.SearchStrategy[dict[str, Any]] = st.one_of(
    flat_values_events,
    _objects({"x": fields, "y": fields, "d-t": values, "o": _with_lists(st.one_of(values, _inner, _inner))}),
    _objects(
        {
            "x": fields,
            "o.p": fields,
            "o": _with_lists(_objects({"q": fields})),
            "lat": degrees,
            "lon": degrees,
        }
    ),
    _objects({"o.p": fields, "o": _inner, "lat": _with_lists(degrees), "lon": _with_lists(degrees)}),
)

# --- schemas ---------------------------------------------------------------------------------------------------


def _bounded(
    kind: Callable[..., Any], bounds: st.SearchStrategy[Any], **options: Any
) -> st.SearchStrategy[Any]:
    pairs = st.tuples(bounds, bounds).map(
        lambda pair: sorted(pair, key=lambda bound: bound if bound is not None else -inf)
    )
    return pairs.map(lambda pair: kind(minimum=pair[0], maximum=pair[1], **options))


whole_bounds = st.one_of(st.none(), st.sampled_from([-1, 0, 1, 2, 5, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)]))
any_bounds = st.one_of(st.none(), st.sampled_from([-1, 0, 2.5, 5, 0.1, 2**53 + 1, 1e300, inf]))

lines: st.SearchStrategy[Any] = st.one_of(
    _bounded(declared.Integer, whole_bounds),
    _bounded(declared.Number, any_bounds),
    *(_bounded(declared.Decimal, any_bounds, places=places) for places in (0, 1, 2, 15)),
    st.just(declared.Text()),
    st.lists(
        st.one_of(st.sampled_from([0, 1, 2, 5, 2.5, "a", "ab", "b"]), literals), min_size=1, max_size=4
    ).map(lambda listed: declared.Enum(*listed)),
)
schemas: st.SearchStrategy[declared.Schema | None] = st.one_of(
    st.none(), st.dictionaries(st.sampled_from(NAMES), lines, max_size=4).map(declared.Schema)
)

# --- expressions -----------------------------------------------------------------------------------------------


def is_regex(text: str) -> bool:
    try:
        regex(text)
    except ValueError:
        return False
    return True


OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
patterns = st.one_of(
    st.sampled_from(
        ["%", "a%", "%a", "%a%", "a%b", "_", "a_", "_%", "%_", "a%a", "ab%ba", "", "a", r"a\%", r"\_%", "A%"]
    ),
    st.text("ab%_A", max_size=5),
).map(wildcard)
regexes = st.one_of(
    st.sampled_from(
        [
            "a+b",
            "^a",
            "b$",
            "^$",
            "[abA]{2}",
            "(?i)ab",
            "a|^b",
            "a.b",
            r"(ab)*c",
            r"\d+",
            "a?b",
            r"\x61b",
            "é",
        ]
    ),
    st.text("ab.|*", max_size=4).filter(is_regex),
).map(regex)
any_patterns = st.one_of(patterns, patterns, regexes)
shapes = st.one_of(
    st.builds(
        Circle,
        st.sampled_from([0, 45, 89.5, -90, 90]),
        st.sampled_from([0, 10, 180, -179.5]),
        st.sampled_from([1, 0.5, 1000, 200_000, 6_000_000, 30_000_000]),
    ),
    st.sampled_from(
        [
            Polygon(((0, 0), (0, 10), (10, 10), (10, 0))),
            Polygon(((-1, 179), (-1, -179), (2, -179), (2, 179))),
            Polygon(((0, 0), (50, 20), (90, 0), (10, 10), (0, 30))),
        ]
    ),
)


def canonical(value: Any) -> Any:
    """A literal as the languages give it: a whole double that fits 64 bits is an integer."""
    if isinstance(value, float) and value.is_integer() and -(2**63) <= value < 2**63:
        return int(value)
    return value


plain_literals = literals.map(canonical)
_texts_of: dict[tuple[str, ...], st.SearchStrategy[Any]] = {
    ("ip",): st.sampled_from(ADDRESSES).map(ip_text),
    ("time",): st.sampled_from(MOMENTS).map(microseconds_of),
}
# Made once: a strategy that is new has to be examined at its first draw, which takes longer than the draw.
_one_of = cache(st.sampled_from)
_few_of = cache(partial(st.lists, min_size=1, max_size=4))
_one_or_none_of = cache(lambda constants: st.one_of(constants, st.none()))
_ALL_TEXTS = (ANYWHERE, derived_key(("lower",), ANYWHERE))
_DERIVATIONS = ((), (), (), (), ("lower",), ("reverse",), ("reverse", "lower"), ("ip",), ("time",))


@st.composite
def conditions(
    draw: st.DrawFn,
    *,
    keys: tuple[str, ...] = KEYS,
    is_plain: bool = False,
    constants: st.SearchStrategy[Any] = plain_literals,
) -> tree.Expression:
    """One condition; a plain one has no derived attribute and no residual."""
    functions = () if is_plain else draw(_one_of(_DERIVATIONS))
    key = derived_key(functions, draw(_one_of(keys)))
    constants = _texts_of.get(functions, constants)
    kinds = ("compare",) * 5 + ("in", "between", "null", "distinct", "exists")
    if functions not in _texts_of and not is_plain:
        kinds += ("like", "like", "unlike", "search")
    if not functions and not is_plain:
        kinds += ("within",)
    if not is_plain:
        kinds += ("pair", "anywhere", "formula")
    kind = draw(_one_of(kinds))
    if kind == "compare":
        return tree.Compare(key, draw(_one_of(OPERATORS)), draw(constants))
    if kind == "between":
        return tree.And((tree.Compare(key, ">=", draw(constants)), tree.Compare(key, "<=", draw(constants))))
    if kind == "in":
        return tree.In(key, tuple(draw(_few_of(constants))))
    if kind == "null":
        return tree.IsNull(key)
    if kind == "distinct":
        return tree.Distinct(key, draw(_one_or_none_of(constants)))
    if kind == "exists":
        return tree.Exists(key)
    return _on_texts_or_pairs(draw, kind, key, keys)


def _on_texts_or_pairs(draw: st.DrawFn, kind: str, key: str, keys: tuple[str, ...]) -> tree.Expression:
    """A condition that is no interval of one attribute."""
    if kind == "like":
        return tree.Matches(key, draw(patterns))
    if kind == "search":
        return tree.Matches(key, draw(regexes))
    if kind == "unlike":
        return tree.Unlike(key, draw(patterns))
    if kind == "anywhere":
        return tree.Matches(draw(_one_of(_ALL_TEXTS)), draw(any_patterns))
    if kind == "within":
        return tree.Within("lat", "lon", draw(shapes))
    if kind == "formula":
        return _formulas(draw, keys)
    functions = split(key)[0]
    around = functions if functions in _texts_of else draw(_one_of(((), (), ("lower",), ("reverse",))))
    other = derived_key(around, draw(_one_of(keys)))
    return tree.ComparePair(key, draw(_one_of(OPERATORS)), other) if other != key else tree.Exists(key)


_SIGNS = ("+", "-", "*", "/", "%")
_DECIMALS = tuple(Numeral(Fraction(each)) for each in ("0", "1", "2", "-3", "0.5", "0.1", "100"))


def _formulas(draw: st.DrawFn, keys: tuple[str, ...]) -> tree.Expression:
    """A comparison of arithmetic on one to three attributes."""
    parts: list[Formula] = [Variable(draw(_one_of(keys))) for _ in range(draw(_one_of((1, 2, 2, 3))))]
    parts += [draw(_one_of(_DECIMALS)) for _ in range(draw(_one_of((0, 1, 2))))]
    found: Formula = parts.pop(0)
    while len(parts) > 1:
        other = parts.pop(draw(_one_of((0, -1))))
        pair = (found, other) if draw(_one_of((True, False))) else (other, found)
        found = Operation(draw(_one_of(_SIGNS)), *pair)
    right = parts.pop() if parts else Numeral(Fraction(1))
    return tree.CompareFormulas(found, draw(_one_of(OPERATORS)), right)


def combined(
    leaves: st.SearchStrategy[tree.Expression], max_leaves: int = 8
) -> st.SearchStrategy[tree.Expression]:
    """Trees of `and`, `or` and `not` over the leaves."""

    def extended(children: st.SearchStrategy[tree.Expression]) -> st.SearchStrategy[tree.Expression]:
        several = st.lists(children, min_size=1, max_size=3).map(tuple)
        return st.one_of(several.map(tree.And), several.map(tree.Or), children.map(tree.Not))

    return st.recursive(leaves, extended, max_leaves=max_leaves)


expressions = combined(
    st.one_of(conditions(), conditions(), conditions(), conditions(), st.booleans().map(tree.Constant))
)
plain_expressions = combined(conditions(is_plain=True))


def is_refused_not_in(expression: tree.Expression, *, is_negated: bool = False) -> bool:
    """Whether somewhere a list of values of several types is negated, which filters refuse."""
    if isinstance(expression, tree.Not):
        return is_refused_not_in(expression.child, is_negated=not is_negated)
    if isinstance(expression, tree.And | tree.Or):
        return any(is_refused_not_in(child, is_negated=is_negated) for child in expression.children)
    if not isinstance(expression, tree.In) or not is_negated:
        return False
    return len({type_name(value) for value in expression.values}) > 1


def type_name(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "text"
    return "NaN" if isnan(value) else "number"


def exact(number: float) -> Fraction | float:
    """A number for exact arithmetic; infinities stay what they are."""
    return number if isinstance(number, float) and isinf(number) else Fraction(number)
