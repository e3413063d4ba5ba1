"""Normalisation: what it remarks about a filter, and where its limits lie."""

from __future__ import annotations

import pickle
from unittest import mock

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests import strategies as make
from thatch.errors import FilterError, FilterTooLargeError, NeverMatchesError
from thatch.model import conditions, grouping
from thatch.model import normalise as normalise_module
from thatch.model.conditions import Draft
from thatch.model.expressions import And, Compare, In, Not, Or
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.normalise import MAX_CONJUNCTIONS, normalise
from thatch.model.schema import Schema
from thatch.model.types import Enum, Integer

SCHEMA = Schema({"qty": Integer(0, 9), "side": Enum("buy", "sell")})


def remarks(text, schema=None):
    return [(remark.kind, remark.reason) for remark in parse(text, schema).remarks]


def accepted(expression, schema=None):
    try:
        return Filter.of(expression, schema)
    except FilterError:
        assume(False)


# --- alternatives that can never hold --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = 1 or y < 5 and y > 6", "the conditions on y exclude each other"),
        ("x = 1 or y between 2 and 1", "the conditions on y exclude each other"),
        ("x = 1 or false", "it is false"),
        ("x = 1 or not true", "it is false"),
        ("x = 1 or y < ''", "no value of y satisfies `< ''`"),
        ("x = 1 or y > infinity", "no value of y satisfies `> infinity`"),
        ("x = 1 or not (y >= '')", "no value of y satisfies `< ''`"),
        ("x = 1 or y not like '%'", "no value of y satisfies `not like '%'`"),
        ("x = 1 or ip(y) is null", "no value of ip(y) satisfies `is null`"),
        ("x = 1 or ip(y) < '0.0.0.0'", "no value of ip(y) satisfies `< '0.0.0.0'`"),
        (
            "x = 1 or time(y) < '0001-01-01T00:00:00Z'",
            "no value of time(y) satisfies `< '0001-01-01T00:00:00Z'`",
        ),
        ("x = 1 or lower(y) = 'ABC'", "lower(y): it never gives such text; write it case-folded"),
        (
            "x = 1 or y = 'a' and lower(y) = 'b'",
            "no value that y may have satisfies all conditions on it",
        ),
        (
            "x = 1 or y like '%b%' and y not like '%b%'",
            "y cannot both have and not have one form",
        ),
        ("x = 1 or y = 5 and lower(y) like 'a%'", "y: its conditions exclude each other"),
    ],
)
def test_an_alternative_that_can_never_hold_is_remarked_with_the_reason(text, reason):
    assert remarks(text) == [("dead", reason)]
    assert parse(text) == parse("x = 1")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = 1 or qty = 10", "no value of qty satisfies `= 10`"),
        ("x = 1 or qty = 'a'", "no value of qty satisfies `= 'a'`"),
        ("x = 1 or qty = 0.5", "no value of qty satisfies `= 0.5`"),
        ("x = 1 or qty in (10, 11, 12, 13)", "no value of qty satisfies `in (10, 11, 12, ...)`"),
        ("x = 1 or not (qty <= 9)", "no value of qty satisfies `> 9`"),
        ("x = 1 or side not in ('buy', 'sell')", "no value of side satisfies `not in ('buy', 'sell')`"),
        ("x = 1 or not (side is distinct from 'hold')", "no value of side satisfies `= 'hold'`"),
        ("x = 1 or side like 'h%'", "no value of side satisfies `like 'h%'`"),
        ("x = 1 or qty like '%5%5'", "no value of qty satisfies `like '%5%5'`"),
        ("x = 1 or within(qty, lon, circle(45, 0, 1))", "no value of qty lies in the shape"),
    ],
)
def test_an_alternative_that_no_declared_value_satisfies_is_remarked_too(text, reason):
    assert remarks(text, SCHEMA) == [("dead", reason)]


def test_an_alternative_that_what_stands_beside_excludes_is_remarked_too():
    assert remarks("x = 1 and (x = 2 or y = 1)") == [("dead", "the conditions on x exclude each other")]


def test_a_long_literal_is_cut_in_the_reason():
    ((_, reason),) = remarks(f"x = 1 or qty = '{'a' * 1_000}'", SCHEMA)
    assert len(reason) < 120


def test_a_filter_of_dead_alternatives_only_is_refused_with_their_reasons():
    with pytest.raises(NeverMatchesError) as caught:
        parse("x = 1 and x = 2 or y < '' or false or z < ''")
    assert caught.value.reason == (
        "the conditions on x exclude each other; no value of y satisfies `< ''`; it is false"
    )


@pytest.mark.parametrize("expression", [Or(()), Not(And(()))])
def test_nothing_to_choose_from_is_false(expression):
    with pytest.raises(NeverMatchesError) as caught:
        Filter.of(expression)
    assert caught.value.reason == "it is false"


# --- alternatives that add nothing -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x > 5 or x > 10", "alternative 2 of 2, on x, lies inside alternative 1"),
        ("x > 10 or y = 1 or x > 5", "alternative 1 of 3, on x, lies inside alternative 3"),
        ("x = 1 or x = 1", "alternative 2 of 2, on x, lies inside alternative 1"),
        ("x = 1 and y = 2 or x = 1", "alternative 1 of 2, on x and y, lies inside alternative 2"),
        ("exists(x) or x is null", "alternative 2 of 2, on x, lies inside alternative 1"),
        ("true or x = 1", "alternative 2 of 2, on x, lies inside alternative 1"),
        (
            "x = 1 and y = 1 or x in (1, 2) and y = 1",
            "alternative 1 of 2, on x and y, lies inside alternative 2",
        ),
        (
            "x like '%b%' or x like '%b%' and y = 1",
            "alternative 2 of 2, on x and y, lies inside alternative 1",
        ),
        ("z = 1 and (x < 5 or x < 3)", "alternative 2 of 2, on x, lies inside alternative 1"),
        ("not (x < 5 and x < 3)", "alternative 1 of 2, on x, lies inside alternative 2"),
        (
            "x = 1 and (y = 1 or z = 1) or x = 1",
            "alternative 1 of 2, on x and y and z, lies inside alternative 2",
        ),
    ],
)
def test_an_alternative_inside_another_is_remarked_with_both_named(text, reason):
    assert remarks(text) == [("covered", reason)]


def test_of_three_equal_alternatives_two_add_nothing():
    assert [kind for kind, _ in remarks("x = 1 or x = 1 or x = 1")] == ["covered", "covered"]


def test_a_declared_type_shows_what_lies_inside():
    assert remarks("qty >= 0 or qty < 5", SCHEMA) == [
        ("covered", "alternative 2 of 2, on qty, lies inside alternative 1")
    ]
    assert remarks("qty >= 0 or qty < 5") == []


@pytest.mark.parametrize(
    "text",
    [
        "x = 1",
        "x = 1 or x = 2",
        "x < 5 or x > 3",
        "x = 1 or y = 1",
        "x = 1 and y = 1 or x = 1 and y = 2",
        "x in (1, 1)",
        "(x = 1 or y = 1) and (x = 1 or z = 1)",
        "(x = 1 or y = 1) and (x = 2 or z = 1)",
        "(x = 'a' or y = 1) and (lower(x) = 'b' or z = 1)",
        "x like '%b%' or x like '%c%'",
        "true",
    ],
)
def test_a_filter_whose_alternatives_all_count_has_no_remarks(text):
    """Nor are there any about conjunctions that only multiplying out has made."""
    assert remarks(text) == []


@example(
    And((Compare("x", "=", -1), Not(Compare("reverse(lower(y))", "=", 2)))),
    Not(And((Compare("reverse(lower(y))", "=", 2), Compare("reverse(lower(y))", "=", "")))),
    None,
)
@given(make.expressions, make.expressions, make.schemas)
def test_an_alternative_that_is_remarked_as_covered_can_be_left_out(first, second, schema):
    both = accepted(Or((first, second)), schema)
    for number, other in ((1, second), (2, first)):
        # A remark about the parts of an alternative can read the same, so only true ones are followed.
        about = f"alternative {number} of 2"
        if any(remark.kind == "covered" and remark.reason.startswith(about) for remark in both.remarks):
            alone = {remark.reason for each in (first, second) for remark in _remarks(each, schema)}
            if not any(reason.startswith(about) for reason in alone):
                left = accepted(other, schema)
                # Closing over derived attributes may put the two into different words.
                assert left == both or left.covers(both)


def _remarks(expression, schema):
    try:
        return Filter.of(expression, schema).remarks
    except FilterError:
        return ()


@given(make.expressions, make.schemas)
def test_remarks_are_pickled_with_the_filter(expression, schema):
    made = accepted(expression, schema)
    assert pickle.loads(pickle.dumps(made)).remarks == made.remarks


@given(make.expressions, make.schemas)
def test_canonical_text_has_no_dead_alternatives(expression, schema):
    made = accepted(expression, schema)
    again = parse(str(made), schema)
    assert [remark for remark in again.remarks if remark.kind == "dead"] == []


def test_remarks_are_not_without_end():
    dead = " or ".join(f"(x{number} < 0 and x{number} > 0)" for number in range(300))
    assert len(remarks(f"{dead} or y = 1")) == 100


# --- limits ----------------------------------------------------------------------------------------------------


def alternatives(count):
    """So many alternatives that cannot be merged."""
    return Or(tuple(And((Compare("x", "=", number), Compare("y", "=", number))) for number in range(count)))


@pytest.mark.slow
def test_as_many_alternatives_as_the_limit_are_accepted_and_no_more():
    assert len(Filter.of(alternatives(MAX_CONJUNCTIONS)).conjunctions) == MAX_CONJUNCTIONS
    with pytest.raises(FilterTooLargeError) as caught:
        list(Filter.of(alternatives(MAX_CONJUNCTIONS + 1)).boxes())
    assert (caught.value.count, caught.value.limit) == (MAX_CONJUNCTIONS + 1, MAX_CONJUNCTIONS)
    assert "1,025" in str(caught.value)
    assert "1,024 alternatives" in str(caught.value)


def test_what_is_multiplied_out_and_merged_again_is_no_matter_of_the_limit():
    halves = Or(
        (And((Compare("a", "=", 1), Compare("b", "=", 1))), And((Compare("a", "=", 2), Compare("b", "=", 1))))
    )
    assert len(Filter.of(And((halves,) * 10)).conjunctions) == 1


def test_a_product_over_the_limit_is_refused_with_its_count():
    factors = tuple(
        Or((Compare(f"a{number}", "=", 1), Compare(f"b{number}", "=", 1))) for number in range(11)
    )
    with pytest.raises(FilterTooLargeError) as caught:
        list(Filter.of(And(factors)).boxes())
    assert caught.value.count == 2**11
    assert len(Filter.of(And(factors[:10])).conjunctions) == 2**10 == MAX_CONJUNCTIONS


@pytest.mark.slow
def test_a_product_that_stays_small_but_takes_long_is_refused_as_that():
    """Found by reading: it said that 900 alternatives are more than 1,024."""
    with pytest.raises(FilterTooLargeError) as caught:
        normalise(And((alternatives(30),) * 500))
    assert caught.value.count > caught.value.limit
    assert "multiply out" in str(caught.value)


def values(count, start=0):
    return tuple(range(start, start + 2 * count, 2))


@pytest.fixture
def few_values():
    """A limit of a hundred listed values, in place of a million."""
    with (
        mock.patch.object(conditions, "MAX_VALUES", 100),
        mock.patch.object(grouping, "MAX_INTERVALS", 101),
        mock.patch.object(normalise_module, "MAX_INTERVALS", 101),
    ):
        yield 100


def test_as_many_intervals_as_the_limit_are_accepted_and_no_more(few_values):
    made = Filter.of(Or((In("x", values(50)), In("x", values(51, 1_000)))))
    assert made.box_count() == few_values + 1
    with pytest.raises(FilterTooLargeError) as caught:
        Filter.of(Or((In("x", values(51)), In("x", values(51, 1_000)))))
    assert (caught.value.count, caught.value.limit, caught.value.where) == (102, 101, "x")


def test_one_list_has_as_many_values_as_the_limit_and_no_more(few_values):
    assert Filter.of(In("x", values(few_values))).box_count() == few_values
    for expression in (In("x", values(101)), Not(In("x", values(101)))):
        with pytest.raises(FilterTooLargeError) as caught:
            Filter.of(expression)
        assert (caught.value.count, caught.value.limit, caught.value.where) == (101, 100, "x")


def test_neighbours_on_a_declared_line_do_not_count_against_the_limit(few_values):
    schema = Schema({"x": Integer()})
    numbers = tuple(range(few_values))
    more = tuple(range(few_values, 2 * few_values))
    assert Filter.of(Or((In("x", numbers), In("x", more))), schema).box_count() == 1


def test_an_attribute_may_be_in_one_pair_of_coordinates_only():
    with pytest.raises(FilterError) as caught:
        parse("within(a, b, circle(0, 0, 1)) and within(b, c, circle(0, 0, 1))")
    assert "one pair" in caught.value.expected
    assert parse("within(a, b, circle(0, 0, 1)) and within(a, b, circle(0, 0, 2))")
    assert parse("within(a, b, circle(0, 0, 1)) or within(b, c, circle(0, 0, 1))")


@given(st.integers(1, 60))
def test_nesting_by_negation_costs_no_depth(count):
    expression = Compare("x", "<", 5)
    for _ in range(count):
        expression = Not(expression)
    assert Filter.of(expression) == parse("x < 5" if count % 2 == 0 else "x >= 5")


def _joined_texts(parts, word):
    return f" {word} ".join(parts)


SLOW = {
    "two-sided": _joined_texts((f"(x < {i} and y > {i})" for i in range(4_000)), "or"),
    "attributes of their own": _joined_texts((f"(x{i} < 1 and y{i} > 1)" for i in range(4_000)), "or"),
    "equal hulls": _joined_texts((f"(x in (0, {i + 1}, 9999) and y in (0, {i + 5}, 9999))" for i in range(4_000)), "or"),
    "values beside patterns": "x in ("
    + ", ".join(f"'a{i}'" for i in range(20_000))
    + ") and "
    + _joined_texts((f"x not like '%b{i}%'" for i in range(10_000)), "and"),
    "many attributes": _joined_texts((f"x{i} < 1" for i in range(50_000)), "and")
    + " and ("
    + _joined_texts((f"(a{i} = 1 and b{i} = 1)" for i in range(1_000)), "or")
    + ")",
    "many values": "x in ("
    + ", ".join(map(str, range(90_000)))
    + ") and ("
    + _joined_texts((f"(x != {i} and y = {i})" for i in range(1_000)), "or")
    + ")",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_what_would_take_long_to_multiply_out_is_refused_with_its_count(name):
    made = parse(SLOW[name])
    with pytest.raises(FilterTooLargeError, match=r"^Expected at most [\d,]+ .*, got [\d,]+"):
        list(made.boxes())
    assert parse(str(made)) == made


def test_many_values_beside_few_patterns_are_tested_one_by_one():
    text = (
        "x in (" + ", ".join(f"'a{i}'" for i in range(2_000)) + ") and x not like '%7%' and x not like '%8%'"
    )
    assert str(parse(text)).count("'") == 2 * sum(not {"7", "8"} & set(str(i)) for i in range(2_000))


def test_alternatives_are_absorbed_however_many_there_are():
    """Above a few they are compared by the numbers of their ends; below, one by one: both say the same."""
    for count in (3, 40, 400):
        text = _joined_texts((f"(x < {i % 20} and y in ({i}, {i + 1}, {-i}))" for i in range(count)), "or")
        form = parse(text).conjunctions
        drafts = [Draft(dict(each.constraints), frozenset()) for each in form]
        assert not any(one is not other and one.covers(other) for one in drafts for other in drafts)
        assert parse(_joined_texts(reversed(text.split(" or ")), "or")) == parse(text)
