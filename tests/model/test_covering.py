"""`covers` and `intersects` against all flat events of small domains, and against sampled events with lists."""

from __future__ import annotations

from itertools import product
from math import inf, nan

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests import strategies as make
from thatch.errors import EventError, FilterError, NeverMatchesError
from thatch.matching import reference
from thatch.model.conjunctions import Conjunction
from thatch.model.expressions import And, Constant, Not, Or
from thatch.model.filters import Filter
from thatch.model.language.text import expression_of_text
from thatch.model.lines import WHOLE, complement, intersect
from thatch.model.schema import Schema
from thatch.model.types import Decimal, Enum, Integer, Number, Text

MISSING = object()

# The literals of the small filters, and a witness between any two of them that have a value between them.
NUMBERS = [-inf, 0, 1, 2, 2.5, 5, inf]
TEXTS = ["", "a", "ab", "b"]
LITERALS = [*NUMBERS, *TEXTS, False, True]
BETWEEN = [-1, 0.5, 1.5, 2.25, 3, 4, 6, "\0", "a\0", "ab\0", "c"]
DOMAIN = [MISSING, None, nan, *LITERALS, *BETWEEN, *(tenth / 10 for tenth in range(-2, 13) if tenth % 5)]

LINES = [
    Integer(0, 5),
    Integer(),
    Integer(2, 2),
    Decimal(1, 0, 1),
    Decimal(0),
    Number(),
    Number(0, 2.5),
    Text(),
    Enum("a", "b"),
    Enum(1, 2.5, "a", True),
]
small_schemas = st.one_of(
    st.none(), st.dictionaries(st.sampled_from(["x", "y"]), st.sampled_from(LINES), min_size=1).map(Schema)
)
small_conditions = make.conditions(keys=("x", "y"), is_plain=True, constants=st.sampled_from(LITERALS))
small_expressions = make.combined(small_conditions, max_leaves=5)


def domain(schema, names=("x", "y"), values=DOMAIN):
    """Every flat event of the small domain that conforms to the schema."""
    choices = [
        [value for value in values if value is MISSING or reference.conforms(value, name, schema)]
        for name in names
    ]
    for chosen in product(*choices):
        yield {name: value for name, value in zip(names, chosen, strict=True) if value is not MISSING}


def holding(expression, flats):
    """Which of the flat events satisfy the expression."""
    return [reference.truth(expression, flat) is True for flat in flats]


def filter_of(expression, schema):
    try:
        return Filter.of(expression, schema)
    except NeverMatchesError:
        return None
    except FilterError:
        assume(False)


@given(small_expressions, small_expressions, small_schemas)
def test_covers_and_intersects_are_exact_on_small_domains(first, second, schema):
    flats = list(domain(schema))
    one, other = filter_of(first, schema), filter_of(second, schema)
    on_first, on_second = holding(first, flats), holding(second, flats)
    assert any(on_first) == (one is not None)
    assert any(on_second) == (other is not None)
    assume(one is not None and other is not None)
    assert one.covers(other) == all(a for a, b in zip(on_first, on_second, strict=True) if b)
    assert other.covers(one) == all(b for a, b in zip(on_first, on_second, strict=True) if a)
    assert one.intersects(other) == any(a and b for a, b in zip(on_first, on_second, strict=True))
    assert other.intersects(one) == one.intersects(other)


def complement_of(made):
    """All that a filter of plain conditions leaves out: in every conjunction one attribute lies elsewhere."""
    rest = [{}]
    for conjunction in made.conjunctions:
        elsewhere = [
            {**sides, key: intersect(sides.get(key, WHOLE), complement(constraint))}
            for sides in rest
            for key, constraint in conjunction.constraints
        ]
        rest = [sides for sides in elsewhere if all(sides.values())]
    return tuple({Conjunction(tuple(sorted(sides.items()))) for sides in rest})


@given(small_expressions, small_schemas)
def test_a_filter_and_its_complement_share_nothing_and_cover_everything(expression, schema):
    made = filter_of(expression, schema)
    assume(made is not None)
    left_out = complement_of(made)
    assume(len(left_out) <= 200)
    everything = Filter.of(Constant(value=True), schema)
    assert everything.covers(made)
    assert made.covers(everything) == (not left_out) == all(holding(expression, domain(schema)))
    if left_out:
        rest = Filter(left_out, schema, ())
        assert not made.intersects(rest)
        assert not made.covers(rest)
        assert not rest.covers(made)
        assert Filter(made.conjunctions + left_out, schema, ()).covers(everything)


@given(small_expressions, small_expressions, small_schemas)
def test_a_filter_covers_another_exactly_when_the_other_misses_its_complement(first, second, schema):
    outer, inner = filter_of(first, schema), filter_of(second, schema)
    assume(outer is not None and inner is not None)
    left_out = complement_of(outer)
    assert outer.covers(inner) == (not left_out or not Filter(left_out, schema, ()).intersects(inner))


TINY_LITERALS = [1, "a"]
TINY_DOMAIN = [MISSING, None, True, nan, 0, 1, 2, "", "a", "b"]
tiny_expressions = make.combined(
    make.conditions(keys=("x", "y", "z"), is_plain=True, constants=st.sampled_from(TINY_LITERALS)),
    max_leaves=6,
)
tiny_schemas = st.sampled_from([None, Schema({"x": Integer(0, 2), "y": Enum("a", "b")})])


@given(tiny_expressions, tiny_expressions, tiny_schemas)
def test_covers_and_intersects_are_exact_with_three_attributes(first, second, schema):
    one, other = filter_of(first, schema), filter_of(second, schema)
    assume(one is not None and other is not None)
    flats = list(domain(schema, ("x", "y", "z"), TINY_DOMAIN))
    on_first, on_second = holding(first, flats), holding(second, flats)
    assert one.covers(other) == all(a for a, b in zip(on_first, on_second, strict=True) if b)
    assert other.covers(one) == all(b for a, b in zip(on_first, on_second, strict=True) if a)
    assert one.intersects(other) == any(a and b for a, b in zip(on_first, on_second, strict=True))


def test_a_cube_is_covered_by_its_eight_corners_and_by_no_seven_of_them():
    sides = [("{0} < 1", "{0} >= 1")] * 3
    corners = [
        " and ".join(side.format(name) for side, name in zip(chosen, "xyz", strict=True))
        for chosen in product(*sides)
    ]
    cube = parsed(" and ".join(f"{name} <= infinity" for name in "xyz"))
    assert all(parsed(corner).intersects(cube) for corner in corners)
    for left_out in corners:
        seven = [Filter.of(expression_of_text(corner)) for corner in corners if corner != left_out]
        union = Filter(tuple(each.conjunctions[0] for each in seven), None, ())
        assert not union.covers(cube)
        assert Filter(union.conjunctions + parsed(left_out).conjunctions, None, ()).covers(cube)


related = st.sampled_from(
    [
        lambda first, second: (first, second),
        lambda first, second: (first, And((first, second))),
        lambda first, second: (Or((first, second)), first),
        lambda first, second: (Or((first, second)), Or((second, And((first, second))))),
        lambda first, second: (Or((And((first, second)), And((first, Not(second))))), first),
    ]
)


@given(
    make.expressions, make.expressions, related, make.schemas, st.lists(make.events, min_size=1, max_size=8)
)
def test_covers_is_never_wrongly_true_and_intersects_never_wrongly_false(
    first, second, relate, schema, events
):
    wide, narrow = relate(first, second)
    outer, inner = filter_of(wide, schema), filter_of(narrow, schema)
    assume(outer is not None and inner is not None)
    is_covered, do_meet = outer.covers(inner), outer.intersects(inner)
    for event in events:
        try:
            flats = list(reference.flat_events(event, schema))
        except EventError:
            continue
        on_outer, on_inner = holding(wide, flats), holding(narrow, flats)
        if is_covered:
            assert all(a for a, b in zip(on_outer, on_inner, strict=True) if b), event
            assert outer.matches(event) or not inner.matches(event)
        if not do_meet:
            assert not any(a and b for a, b in zip(on_outer, on_inner, strict=True)), event


@given(make.expressions, make.schemas)
def test_every_filter_covers_and_meets_itself(expression, schema):
    made = filter_of(expression, schema)
    assume(made is not None)
    assert made.covers(made)
    assert made.intersects(made)


def parsed(text, schema=None):
    return Filter.of(expression_of_text(text), schema)


@pytest.mark.parametrize(
    ("outer", "inner", "wanted"),
    [
        ("x <= 2 or x >= 3", "x = 2.5", False),
        ("x <= 'apple' or x >= 'banana'", "x = 'avocado'", False),
        ("x <= 2 or x >= 3", "x between 0 and 2", True),
        ("x is missing or x is null or x = false or x = true", "x in (false, true)", True),
        ("exists(x)", "x is distinct from 5", True),
        ("x != 5", "x is distinct from 5", False),
        ("x is distinct from 5", "x != 5", True),
        ("true", "x is missing", True),
        ("exists(x)", "true", False),
        ("exists(x) or x is missing", "true", True),
        ("x < 5 or y < 5", "x < 3 and y = 7", True),
        ("x < 5 and y < 5 or x < 5 and y >= 5", "x < 3 and y = 7", True),
        ("x like 'a%'", "x = 'abc'", True),
        ("x like '%c'", "x = 'abc'", True),
        ("x like '%b%'", "x = 'abc'", True),
        ("lower(x) = 'abc'", "x = 'aBc'", True),
        ("lower(x) like 'a%'", "x like 'Ab%'", True),
        ("cidr(x, '10.0.0.0/8')", "cidr(x, '10.1.0.0/16')", True),
        ("cidr(x, '10.0.0.0/9') or cidr(x, '10.128.0.0/9')", "cidr(x, '10.0.0.0/8')", True),
        ("x < timestamp '2026-01-01' or x >= timestamp '2026-01-01'", "x > timestamp '2025-12-31'", True),
        ("x between 9007199254740992 and 9007199254740994", "x = 9007199254740993", True),
    ],
)
def test_covering_examples(outer, inner, wanted):
    assert parsed(outer).covers(parsed(inner)) is wanted


@pytest.mark.parametrize(
    ("line", "outer", "inner"),
    [
        (Integer(), "x <= 2 or x >= 3", "x between 0 and 10"),
        (Integer(0, 5), "x >= 0", "x is not null"),
        (Decimal(2), "x <= 0.1 or x >= 0.11", "x between 0 and 1"),
        (Enum("buy", "sell"), "x = 'buy' or x = 'sell'", "x is not null"),
        (Text(), "x >= '' or x is null", "exists(x)"),
        (Number(0, 1), "x <= 1", "x is not null"),
        (Decimal(2), "x < infinity", "x is not null"),
    ],
)
def test_a_declared_line_has_no_values_in_its_gaps(line, outer, inner):
    schema = Schema({"x": line})
    assert parsed(outer, schema).covers(parsed(inner, schema))
    assert not parsed(outer).covers(parsed(inner))
