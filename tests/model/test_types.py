"""Declared types: which values they hold, and how they name cuts that have nothing between them."""

from __future__ import annotations

import copy
import decimal
import json
import pickle
from itertools import pairwise
from math import inf, nan, nextafter

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests import strategies as make
from thatch.errors import SchemaError
from thatch.matching import reference
from thatch.model.derived import FIRST_MICROSECOND, LAST_MICROSECOND, ip_text
from thatch.model.lines import BOTTOM, MISSING, NULL, PRESENT, TOP, above, below, contains, point
from thatch.model.schema import Schema, line_of, tighten
from thatch.model.types import Decimal, Enum, Integer, Number, Text

# Where decimals of each number of places stop being different doubles.
CROWDED = [2**51 / 10**places for places in range(16)]
edges = st.sampled_from(CROWDED).flatmap(
    lambda edge: st.sampled_from([edge, nextafter(edge, 0), nextafter(edge, inf), 2 * edge])
)
all_lines = st.one_of(make.lines, st.integers(0, 15).map(Decimal))
values = st.one_of(make.literals.map(make.canonical), edges, edges.map(lambda edge: -edge))
cuts = st.one_of(
    values.map(below),
    values.map(above),
    st.sampled_from([BOTTOM, TOP, *((rank,) for rank in range(1, 7))]),
)

# The lines of `ip(x)` and `time(x)`: cuts there lie beside addresses and moments, or between segments.
IP, TIME = line_of("ip(x)", None), line_of("time(x)", None)
ends = st.sampled_from([BOTTOM, TOP, *((rank,) for rank in range(1, 7))])
ip_values = st.one_of(
    st.sampled_from(make.ADDRESSES).map(ip_text),
    st.integers(0, 2**32 - 1).map(lambda number: f"4{number:08x}"),
    st.integers(0, 2**128 - 1).map(lambda number: f"6{number:032x}"),
)
time_values = st.one_of(
    st.integers(FIRST_MICROSECOND, LAST_MICROSECOND),
    st.sampled_from([FIRST_MICROSECOND, LAST_MICROSECOND, 0, -1]),
)


def cuts_of(literals):
    return st.one_of(ends, literals.map(below), literals.map(above))


@st.composite
def lines_with_cuts_and_values(draw):
    """A line, two cuts on it, and a value that may or may not be of its type."""
    line, own_cuts, own_values = draw(
        st.one_of(
            all_lines.map(lambda line: (line, cuts, values)),
            st.just((IP, cuts_of(ip_values), ip_values)),
            st.just((TIME, cuts_of(time_values), time_values)),
        )
    )
    if isinstance(line, Enum):
        listed = st.sampled_from(line.values)
        own_cuts = st.one_of(own_cuts, listed.map(below), listed.map(above))
        own_values = st.one_of(own_values, listed)
    return line, *sorted([draw(own_cuts), draw(own_cuts)]), draw(own_values)


@given(lines_with_cuts_and_values())
def test_tightening_keeps_the_order_of_cuts(drawn):
    line, low, high, _ = drawn
    assert line.tighten(low) <= line.tighten(high)


@given(lines_with_cuts_and_values())
def test_a_tightened_cut_is_tight(drawn):
    line, cut, _, _ = drawn
    assert line.tighten(line.tighten(cut)) == line.tighten(cut)


@given(lines_with_cuts_and_values())
def test_a_tightened_cut_divides_the_values_of_the_type_as_before(drawn):
    line, cut, _, value = drawn
    assume(line.holds(value))
    assert (point(value) < line.tighten(cut)) == (point(value) < cut)


@given(lines_with_cuts_and_values())
def test_missing_is_told_from_null_and_null_from_everything_else(drawn):
    line, cut, _, _ = drawn
    tight = line.tighten(cut)
    assert (tight <= BOTTOM) == (cut <= BOTTOM)
    if line not in (IP, TIME):  # null is no address and no moment
        assert (tight <= (1,)) == (cut <= (1,))


@given(lines_with_cuts_and_values())
def test_the_other_name_of_a_cut_is_a_name_of_the_same_cut(drawn):
    line, cut, _, value = drawn
    tight = line.tighten(cut)
    before = line.before(tight)
    assert before <= tight
    assert line.tighten(before) == tight
    if line.holds(value):
        assert (point(value) < before) == (point(value) < tight)


@given(all_lines, values)
def test_the_values_of_a_type_are_those_of_the_reference(line, value):
    assert line.holds(value) == reference.conforms(value, "x", Schema({"x": line}))


@given(all_lines)
def test_neither_nan_nor_null_is_a_value_of_a_type(line):
    """Null belongs to every type, but as null: it is never asked about."""
    assert not line.holds(nan)
    assert not line.holds(None)


@given(all_lines)
def test_missing_null_and_present_never_vanish(line):
    for constraint, place in ((MISSING, BOTTOM), (NULL, (1,)), (PRESENT, (1,))):
        assert contains(tighten(constraint, line), place)
    assert tighten((), line) == ()


# --- the types one by one --------------------------------------------------------------------------------------

HOLD = [
    (Number(), [0, -inf, inf, 1e300, 0.1], [True, "1", nan]),
    (Number(0, 2.5), [0, 2.5, -0.0, 1e-300], [-1e-300, 2.6, nextafter(2.5, inf), inf]),
    (Number(2**53 + 1), [2**53 + 1, inf], [2.0**53]),
    (Integer(), [0, 5.0, 2**63 - 1, -(2**63), -(2.0**63)], [0.5, 2.0**63, inf, -inf, True, "5"]),
    (Integer(0, 5), [0, 5, 5.0], [-1, 6, 0.5]),
    (Integer(2, 2), [2, 2.0], [1, 3]),
    (Decimal(0), [0, 5, 1e300, 2**63 - 1], [0.5, inf, -inf]),
    (Decimal(2), [0.1, 0.25, 19.99, 1e15 + 0.5, 100], [0.125, 0.1 + 0.2, 1e-3, inf]),
    (Decimal(2, 0.05, 1), [0.05, 0.99, 1], [0.04, 1.01]),
    (Decimal(15), [0.1, 1e-15, 0.123456789012345], [1e-16, inf]),
    (Text(), ["", "a", "\U0010ffff"], [0, True]),
    (Enum("buy", 1, 2.5, True), ["buy", 1, 1.0, 2.5, True], ["b", "", 0, False, 2]),
    (Enum(0), [0, 0.0, -0.0], [False, ""]),
    (Enum(""), [""], ["a", 0]),
    (Enum(-inf, inf), [inf, -inf], [0]),
]


@pytest.mark.parametrize(("line", "inside", "outside"), HOLD, ids=repr)
def test_which_values_a_type_holds(line, inside, outside):
    assert all(line.holds(value) for value in inside)
    assert not any(line.holds(value) for value in outside)


@pytest.mark.parametrize(
    ("line", "one", "other"),
    [
        (Integer(), above(2), below(3)),
        (Integer(), above(2.5), below(3)),
        (Integer(0, 5), above(5), TOP),
        (Integer(0, 5), below(0), (2,)),
        (Integer(0, 5), below("a"), TOP),
        (Integer(), above(2**53), below(2**53 + 1)),
        (Decimal(2), above(0.1), below(0.11)),
        (Decimal(2), above(0.105), below(0.11)),
        (Decimal(1), above(-0.1), below(0)),
        (Decimal(2, 0, 1), above(1), TOP),
        (Decimal(2), below(inf), TOP),
        (Number(0, 1), above(1), TOP),
        (Number(0, 1), (2,), below(0)),
        (Text(), (2,), (6,)),
        (Enum("buy", "sell"), above("buy"), below("sell")),
        (Enum("buy", "sell"), above("sell"), TOP),
        (Enum(True, 5), (4,), below(5)),
        (IP, above(ip_text("255.255.255.255")), below(ip_text("::"))),
        (IP, (1,), below(ip_text("0.0.0.0"))),
        (IP, above(ip_text("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")), TOP),
        (TIME, (1,), below(FIRST_MICROSECOND)),
        (TIME, above(LAST_MICROSECOND), TOP),
    ],
)
def test_cuts_with_nothing_between_them_have_one_name(line, one, other):
    assert line.tighten(one) == line.tighten(other)


@pytest.mark.parametrize(
    ("line", "one", "other"),
    [
        (Number(), above(2), below(3)),
        (Integer(), below(3), above(3)),
        (Decimal(2), below(0.11), above(0.11)),
        (Text(), above("a"), below("a\0")),
        (Enum("a", "b"), below("a"), below("b")),
        (IP, below(ip_text("::")), above(ip_text("::"))),
    ],
)
def test_cuts_with_a_value_between_them_have_two_names(line, one, other):
    assert line.tighten(one) != line.tighten(other)


@pytest.mark.parametrize(
    ("line", "cut", "wanted"),
    [
        (Integer(), below(3), above(2)),
        (Integer(0, 5), below(0), below(0)),
        (Integer(0, 5), TOP, TOP),
        (Enum("buy", "sell"), below("sell"), above("buy")),
        (Enum("buy", "sell"), below("buy"), below("buy")),
        (Enum("buy", "sell"), TOP, above("sell")),
        (IP, below(ip_text("::")), above(ip_text("255.255.255.255"))),
        (IP, below(ip_text("0.0.0.0")), below(ip_text("0.0.0.0"))),
        (Number(), below(3), below(3)),
        (Text(), below("a"), below("a")),
    ],
)
def test_the_name_of_a_cut_by_the_last_value_below_it(line, cut, wanted):
    assert line.before(cut) == wanted


@pytest.mark.parametrize("places", range(16))
def test_decimals_are_spaced_up_to_the_crowded_ones_without_a_jump(places):
    """Found by reading: just past the last spaced decimal a cut jumped over its neighbours."""
    line = Decimal(places)
    edge = CROWDED[places]
    numbers = [nextafter(edge, 0), edge, nextafter(edge, inf), nextafter(nextafter(edge, inf), inf)]
    tightened = [line.tighten(cut) for number in numbers for cut in (below(number), above(number))]
    assert all(low <= high for low, high in pairwise(tightened))


# --- declarations ----------------------------------------------------------------------------------------------


@given(all_lines)
def test_a_type_is_described_as_plain_data_and_made_again(line):
    schema = Schema({"x": line})
    description = json.loads(json.dumps(schema.describe()))
    again = Schema.from_description(description)
    assert (again, hash(again), repr(again)) == (schema, hash(schema), repr(schema))
    assert again.describe() == schema.describe()


@given(all_lines)
def test_a_type_is_pickled_and_copied(line):
    for again in (pickle.loads(pickle.dumps(line)), copy.deepcopy(line)):
        assert (again, hash(again), repr(again)) == (line, hash(line), repr(line))
        assert again.tighten(below(1)) == line.tighten(below(1))


@given(all_lines, all_lines)
def test_types_are_equal_when_they_look_the_same(one, other):
    assert (one == other) == (repr(one) == repr(other))
    assert one != "Integer()"


@given(all_lines)
def test_a_type_is_printed_as_it_is_declared(line):
    names = {"Decimal": Decimal, "Enum": Enum, "Integer": Integer, "Number": Number, "Text": Text, "inf": inf}
    assert eval(repr(line), {"__builtins__": {}}, names) == line


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (Integer(0, 1000), "Integer(minimum=0, maximum=1000)"),
        (Decimal(2), "Decimal(places=2)"),
        (Number(minimum=0), "Number(minimum=0)"),
        (Text(), "Text()"),
        (Enum("sell", "buy", "buy"), "Enum('buy', 'sell')"),
        (Enum(1, True, 1.0), "Enum(True, 1)"),
    ],
)
def test_how_a_type_is_printed(line, wanted):
    assert repr(line) == wanted


def test_bounds_may_be_any_accepted_number():
    assert Integer(0.0, np.int8(5)) == Integer(0, 5)
    assert Number(decimal.Decimal("0.5"), np.float64(2)) == Number(0.5, 2)


BAD = {
    "bounds the wrong way round": lambda: Integer(5, 1),
    "half a whole number": lambda: Integer(0.5),
    "text as a bound": lambda: Integer("5"),
    "a boolean as a bound": lambda: Number(True),
    "NaN as a bound": lambda: Number(nan),
    "an infinite whole number": lambda: Integer(maximum=inf),
    "a whole number of 65 bits": lambda: Integer(0, 2**63),
    "a whole number of 65 bits as a double": lambda: Integer(0, 2.0**63),
    "a whole number beyond all bits": lambda: Integer(0, 1e300),
    "minus one place": lambda: Decimal(-1),
    "sixteen places": lambda: Decimal(16),
    "half a place": lambda: Decimal(0.5),
    "places as a boolean": lambda: Decimal(True),
    "bytes as a bound": lambda: Decimal(2, b"1"),
    "no values": Enum,
    "null as a value": lambda: Enum("a", None),
    "NaN as a value": lambda: Enum(nan),
    "a list as a value": lambda: Enum(["a"]),
    "a lone surrogate as a value": lambda: Enum("\ud800"),
    "a schema of pairs": lambda: Schema([("x", Text())]),
    "a name that is no text": lambda: Schema({5: Text()}),
    "a name with a lone surrogate": lambda: Schema({"\ud800": Text()}),
    "a type that is none of ours": lambda: Schema({"x": int}),
    "a type that was not called": lambda: Schema({"x": Integer}),
    "the type of a derived attribute": lambda: Schema({"x": IP}),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_declaration_is_refused(name):
    with pytest.raises(SchemaError) as caught:
        BAD[name]()
    assert caught.value.expected
    assert caught.value.got


@pytest.mark.parametrize(
    "description",
    [
        5,
        None,
        [],
        {"x": 5},
        {"x": {}},
        {"x": {"type": "Money"}},
        {"x": {"type": ["Text"]}},
        {"x": {"type": "ip"}},
        {"x": {"type": "Text", "length": 5}},
        {"x": {"type": "Integer", "minimum": "a"}},
        {"x": {"type": "Integer", "low": 1}},
        {"x": {"type": "Decimal"}},
        {"x": {"type": "Decimal", "places": "2"}},
        {"x": {"type": "Enum"}},
        {"x": {"type": "Enum", "values": []}},
        {"x": {"type": "Enum", "values": "buy"}},
        {"x": {"type": "Enum", "values": [None]}},
        {5: {"type": "Text"}},
    ],
)
def test_a_bad_description_is_refused(description):
    with pytest.raises(SchemaError) as caught:
        Schema.from_description(description)
    assert caught.value.expected
    assert caught.value.got


@pytest.mark.parametrize(
    "line",
    [
        Number(0, inf),
        Number(-inf),
        Number(inf, inf),
        Enum(1, inf),
        Enum(-inf, "infinity"),
        Decimal(2, -inf, inf),
    ],
)
def test_infinite_bounds_and_values_are_described_as_json(line):
    schema = Schema({"x": line})
    text = json.dumps(schema.describe(), allow_nan=False)
    assert Schema.from_description(json.loads(text)) == schema


@pytest.mark.parametrize("bad", [{"number": "infinity", "more": 1}, {"number": 5}, {"number": []}, [[]], {}])
def test_other_objects_as_bounds_are_refused(bad):
    with pytest.raises(SchemaError):
        Schema.from_description({"x": {"type": "Number", "minimum": bad}})
    with pytest.raises(SchemaError):
        Schema.from_description({"x": {"type": "Enum", "values": [bad]}})


@pytest.mark.parametrize("start", [4.5, 9.1, 17.3, 1e6])
def test_no_gap_is_claimed_where_neighbouring_decimals_are_one_double(start):
    line, value = Decimal(15), start
    for _ in range(200):
        following = nextafter(value, inf)
        assert line.tighten(above(value)) <= below(following)
        value = following
