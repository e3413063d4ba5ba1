from __future__ import annotations

import operator

import pytest
from hypothesis import given

import thatch
from tests.model.language.selectors import events, selectors, truth_of, written
from thatch.errors import FilterSyntaxError, NeverMatchesError

ORDER = {
    "region": "EU", "town": "Oslo", "note": "ship it today", "code": "AB_12", "kg": 5, "cost": 10.5, "units": 100,
    "low": -5, "zero": 0, "far": 1.2e6, "tiny": 3.5e-4, "paid": True, "held": False, "gone": None, "share": 75,
    "empty": "", "food": "car🥕rot", "Region": "US", "$d": "v", "m_$_1": "v",
    "header": {"priority": 7}, "properties": {"message-id": "id-1", "group-sequence": 10}, "p": {"subject": "hi"},
    "sys": {"Label": "a"}, "application-properties": {"k": -1}, "odd name": 3,
}  # fmt: skip

SIGNS = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def holds(selector, event=None):
    """Whether a selector matches; one that no event can match does not."""
    try:
        return thatch.parse(selector, language="jms").matches(ORDER if event is None else event)
    except NeverMatchesError:
        return False


@pytest.mark.parametrize(
    "selector",
    [
        "", " \t\n", "region = 'EU' AND kg = 5", "'EU' = region AND 5 = kg", "region = 'US' OR kg < 6",
        "NOT region = 'US'", "absent OR paid", "paid OR absent", "share OR paid", "paid OR share",
        "NOT (absent IN ('a', 'b') AND held)", "NOT (paid AND held)", "NOT (NOT (absent IN ('a') OR paid))",
        "region = 'EU' AND (kg > 3 OR cost < 2)", "NOT (region = 'US' OR region = 'AS')", "region <> 'US'",
        "region != 'US'", "region > 'AA'", "region < 'US'", "region >= 'EU'", "region <= 'EU'", "kg >= 5.0", "kg >= 4.99",
        "cost >= 10", "cost <= 10.6", "paid = true", "held = FALSE", "paid <> false",
        # numbers
        "5 = 5", "10 = 10.", "0 = .0", "5. = kg", "5.0 > 4.999", "far = 1.2E6", "tiny = 3.5e-4", "tiny = 0.00035", "5.E2 = 500",
        "-5E-2 = -0.05", "-.5E-1 = -0.05", "300 = 3e2", "kg = 0x5", "kg = 5L", "cost = 10.5d", "1.5E2 + 2.5E2 = 400",
        # arithmetic
        "kg + 5 = 10", "cost - 0.5 = 10", "kg * 2 = 10", "kg / 2 = 2.5", "units / 10 = 10.000", "far / 1.2E5 = 10",
        "tiny * 1E6 = 350", "(kg + 5) * 2 = 20", "+low = -5", "-low = 5", "-kg = -5", "6 + -kg = 1", "6 - +kg = 1",
        "6 - -kg = 11", "-(-kg) = 5", "kg + 2 * 3 = 11", "(kg + 2) * 3 = 21", "kg * 2 > 5 + 3", "cost * 2 > 20.0",
        "-(cost + 1) < 3", "10 > kg + 1", "2 = 101 % 3", "-7 % 3 = -1", "7 % -5 = 2", "cost*2>10", "kg -1 = 4", "kg-1 = 4",
        "zero * 0 = 0", "NOT (kg + 1 > 100)", "kg + 1 <> 5", "0.0 / 1 = 0", "(kg * 2 >= 10) AND NOT held",
        # text
        "'it''s' = 'it''s'", "empty = ''", "note LIKE '%it%'", "note LIKE 'ship%'", "note LIKE '%today'",
        "note LIKE 's_i% i_ t_d%'", "region LIKE 'EU'", "region LIKE '_U'", "empty LIKE '%%%'", "food LIKE 'car_rot'",
        "food LIKE '___🥕___'", r"code LIKE 'AB\_12' ESCAPE '\'", "code LIKE 'AB$_%' ESCAPE '$'", "code LIKE 'AB🥕_12' ESCAPE '🥕'",
        "region NOT LIKE 'U%'", "region NOT LIKE 'US'",
        # in, between, null
        "region IN ('US', 'EU')", "'Oslo' IN (town, region)", "10.0 IN (true, properties.group-sequence)", "kg IN (1 + 4)",
        "region NOT IN ('US', 'AS')", "kg NOT IN ('US', 7)", "NOT 'Rome' IN (town, absent)",
        "kg BETWEEN 5 AND 6", "kg NOT BETWEEN 6 AND 7", "kg BETWEEN 4 + 1 AND 2 * 3", "region BETWEEN 'EA' AND 'EZ'",
        "gone IS NULL", "absent IS NULL", "region IS NOT NULL", "NOT absent IS NOT NULL", "EXISTS(region)", "NOT EXISTS (gone)",
        # words, space and names
        "region = 'EU' aNd kg = 5", "region iN ('EU')", "gone Is NuLl", "NoT held", "TRUE", "region\t=\f'EU'\r\nAND kg>3",
        "region='EU'AND kg=5", "Region = 'US' and region = 'EU'", "$d = 'v'", "m_$_1 = 'v'", "header.priority > 5",
        "4 < header.priority", "properties.message-id LIKE 'id-%'", "p.subject = 'hi'", "sys.Label = 'a'",
        "application-properties.k = -1", '"odd name" = 3', "[odd name] = 3", 'region = "EU"', 'region IN ("US", "EU")', '"EU" = region',
    ],
)  # fmt: skip
def test_a_selector_holds(selector):
    assert holds(selector)


@pytest.mark.parametrize(
    "selector",
    [
        # what is missing or null is unknown, and so is its opposite
        "absent AND held", "paid AND absent", "NOT absent", "held OR absent", "gone > 0", "0 < gone", "0 = gone", "gone <> 0",
        "0 != absent", "gone AND TRUE", "gone OR FALSE", "absent LIKE '%'", "absent NOT LIKE '%'", "gone NOT LIKE '%'",
        "absent IN ('a')", "absent NOT IN ('a')", "gone NOT IN ('a')", "NOT gone = 1", "absent NOT BETWEEN 1 AND 2",
        "NOT (absent IN ('a') AND paid)", "NOT (absent IN ('a') OR held)", "NOT (absent IN ('a') OR absent LIKE 'b')",
        "NOT (NOT (held OR absent IN ('a')))", "absent + 4 = 5", "2 * absent = 0", "NOT absent + 4 = 5", "-absent", "-absent = 0",
        # what is of another type is false
        "kg = '5'", "kg >= '5'", "kg <= '5'", "region <= true", "region > 1", "region <= 1", "held >= 0", "held <= 'false'",
        "TRUE = 1", "paid = 1", "paid = 'TRUE'", "kg LIKE '5'", "region = 5", "NOT region <> 5", "paid >= TRUE",
        "+kg", "kg", "+town", "+town = 'Oslo'", "town + 1 = 'Oslo1'", "paid + 1 = 1", "NOT kg LIKE 'a'",
        # what has no value
        "kg / 0 > 0", "0 / 0 = 0", "-1 / 0 = 0", "NOT kg / 0 > 0", "7 % 0 = 0", "7.5 % 2 = 1.5",
        # and what is just not so
        "FALSE", "held", "held <> false", "kg >= 5.01", "cost > 11", "region LIKE 'E'", "empty LIKE '_'", "food LIKE 'car__rot'",
        r"code LIKE 'AB\%' ESCAPE '\'", r"code LIKE 'AB\_12'", "region NOT LIKE 'E_'", "'Oslo' NOT IN (town, region)",
        "region NOT IN ('EU')", "REGION = 'EU'", "region IS NULL", "kg * 2 > 10", "EXISTS(gone)",
    ],
)  # fmt: skip
def test_a_selector_does_not_hold(selector):
    assert not holds(selector)


@pytest.mark.parametrize("value", [4, "5", True, "", -1.5])
@pytest.mark.parametrize(
    "condition", ["x = 5", "x > 5", "x BETWEEN 5 AND 6", "x IN (5, 6)", "'b' < x", "x = 'b'", "x > TRUE"]
)
def test_a_value_is_in_a_condition_or_in_its_opposite(condition, value):
    assert holds(condition, {"x": value}) != holds(f"NOT {condition}", {"x": value})
    assert not holds(condition, {"x": None})
    assert not holds(f"NOT ({condition})", {"x": None})
    assert not holds(f"NOT {condition}", {})


@pytest.mark.parametrize("number", [0, 1, 2.5, -3, 1e10, 7])
@pytest.mark.parametrize("factor", [3, -2, 0.5, -0.25])
@pytest.mark.parametrize("sign", [*SIGNS])
def test_arithmetic_is_moved_to_the_other_side(number, factor, sign):
    moved = f"x * {factor} + 1 {sign} 8.5"
    assert holds(moved, {"x": number}) is SIGNS[sign](number * factor + 1, 8.5)
    assert holds(f"NOT 8.5 - x * {factor} {sign} 1", {"x": number}) is not SIGNS[sign](
        8.5 - number * factor, 1
    )
    assert not holds(f"NOT {moved}", {"x": "a"})


@given(selectors, events)
def test_a_selector_means_what_its_parts_do(selector, event):
    truth = truth_of(selector, event)
    assert holds(written(selector), event) == (truth is True)
    assert holds(f"NOT {written(('not', selector))}", event) == (truth is True)
    assert holds(written(("not", selector)), event) == (truth is False)


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        ("x + x > x", "x > 0"),
        ("x * 3 - x = 4", "x = 2"),
        ("x - x = 0", "x <= 0 or x > 0"),
        ("x > x * 2", "x < 0"),
        ("x >= x + 1 OR TRUE", "true"),
    ],
)
def test_an_attribute_may_stand_beside_itself(selector, text):
    assert thatch.parse(selector, language="jms") == thatch.parse(text)


def test_two_attributes_are_compared():
    assert thatch.parse("bid = ask", language="jms") == thatch.parse("bid = ask")
    for event, signs in (
        ({"x": 1, "y": 2.5}, ("<", "<=", "<>")),
        ({"x": "a", "y": "a"}, ("=", "<=", ">=")),
        ({"x": 1, "y": "a"}, ("<>",)),
        ({"x": False, "y": True}, ("<>",)),
    ):
        for sign in SIGNS:
            assert holds(f"x {sign} y", event) == (sign in signs)
            assert holds(f"NOT x {sign} y", event) == (sign not in signs)
            assert not holds(f"NOT x {sign} y", {"x": event["x"]})
    assert holds("x IN (y, 5)", {"x": "a", "y": "a"})
    assert holds("x NOT IN (y, z)", {"x": "a", "y": "b"})


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        ("price * units > 5", "formula(5 < price * units)"),
        ("NOT price * units > 5", "formula(price * units <= 5)"),
        ("x % 2 = 1", "formula(x % 2 = 1)"),
        ("10 / x <> 2", "formula(10 / x != 2)"),
        ("bid + 1 >= ask * 2", "formula(ask * 2 <= bid + 1)"),
        ("-(a + b) / 3 = 1", "formula(-1 * (a + b) / 3 = 1)"),
        ("a / 3 - 0.5 < b * c", "formula(a / 3 - 0.5 < b * c)"),
        ("a * (2 / 3) < b + 0", "formula(a * (2 / 3) < b)"),
        ("a IN (b + 1, 5)", "formula(a = b + 1) or a = 5"),
    ],
)
def test_arithmetic_on_several_attributes_is_a_formula(selector, text):
    assert thatch.parse(selector, language="jms") == thatch.parse(text)


def test_a_formula_is_unknown_without_a_value_and_false_beside_text():
    event = {"x": 7, "zero": 0, "text": "a", "half": 0.5, "no": False}
    for unknown in (
        "x / zero = 1",
        "x % zero = 1",
        "x * text = 1",
        "x % half = 0",
        "x * absent = 1",
        "half / (zero * x) > 0",
        "x * zero",
    ):
        assert not holds(unknown, event)
        assert not holds(f"NOT {unknown}", event)
    for false in ("x * half = 'a'", "x * half = text", "no >= x + half"):
        assert not holds(false, event)
        assert holds(f"NOT {false}", event)
    assert holds("x * half <> text AND x % 2 = 1 AND -x % 4 = -3 AND x / 2 = half * 7", event)


def test_formulas_have_a_largest_size():
    for selector in (
        "a * b + " * 5_000 + "1 = 2",
        "x = " + "a * b * " * 60 + "b",
        "x % 2 % " * 100 + "2 = 1",
    ):
        with pytest.raises(thatch.FilterError, match="at most 100 attributes and numbers"):
            thatch.parse(selector, language="jms")


@pytest.mark.parametrize("gone", [{}, {"y": None}])
def test_a_member_that_is_unknown_is_equal_to_nothing(gone):
    for members in ("(y)", "(y, 5)", "(y + 1, 5)", "(y * z)", "(y, z)"):
        assert holds(f"x NOT IN {members}", {"x": 1, "z": 2, **gone})
        assert holds(f"1 NOT IN {members}", {"z": 2, **gone})
        assert not holds(f"x IN {members}", {"x": 1, "z": 2, **gone})


@pytest.mark.parametrize("value", [5, 0.5, "a", "", True, False])
def test_a_value_is_equal_to_itself(value):
    for selector in ("x = x", "x IN (x)", "NOT x <> x", "NOT x < x"):
        assert holds(selector, {"x": value})
        assert not holds(f"NOT {selector}", {"x": value})
        assert not holds(selector, {"x": None})
        assert not holds(selector, {})
    assert holds("x <= x", {"x": value}) == (not isinstance(value, bool))


def test_what_arithmetic_leaves_is_the_decimal_that_could_have_been_written():
    assert thatch.parse("x * 1E6 = 350", language="jms") == thatch.parse("x = 0.00035")
    assert thatch.parse("x * 0.1 <= 0.3", language="jms") == thatch.parse("x <= 3")
    assert thatch.parse("x + 1 = 9007199254740994", language="jms") == thatch.parse("x = 9007199254740993")


def test_deviation_not_a_number_is_unequal_to_all_numbers_and_in_no_order():
    assert holds("x <> 5 AND NOT x = 5", {"x": float("nan")})
    assert not holds("x > 5 OR NOT x > 5", {"x": float("nan")})


def test_deviation_a_list_stands_for_its_elements():
    assert holds("x = 1", {"x": [1, 2]})
    assert holds("NOT x = 1", {"x": [1, 2]})
    assert holds("x IS NULL", {"x": []})


@pytest.mark.parametrize(
    ("selector", "words", "column"),
    [
        ("x / 1e300 = 1e300", "in the range of a double", 13),
        ("x = " + "1e300 * " * 20 + "1", "in the range of a double", 83),
        ("x = 1e999", "a number in the range of a double", 5),
        ("x = 9223372036854775808", "an integer of 64 bits", 5),
        ("x = 0xFFFFFFFFFFFFFFFFFFFF", "an integer of 64 bits", 5),
        ("!!!", "Expected an attribute, a number", 1),
        ("AND NOT", "Expected an attribute, a number", 1),
        ("x = ", "got the end of the selector", 5),
        ("x = 'abc", "text that is not closed", 5),
        ("x LIKE 'a*' ESCAPE '*'", "a character after the last *", 8),
        ("x LIKE 'a' ESCAPE 'ab'", "one character", 19),
        ("x LIKE 5", "a pattern in single quotes", 8),
        ("5 LIKE 'a'", "an attribute before `LIKE`", 1),
        ("x + 1 IS NULL", "an attribute before `LIKE` or `IS NULL`", 1),
        ("x IN 'a'", "Expected `(`", 6),
        ("x IN ()", "Expected an attribute, a number", 7),
        ("x IN ('a'", "Expected `)`", 10),
        ("x NOT 5", "`BETWEEN`, `IN` or `LIKE`", 7),
        ("x BETWEEN 1 OR 2", "Expected `AND`", 13),
        ("(x > 1) > 2", "which can be compared", 1),
        ("x > 1 y", "`AND`, `OR` or the end", 7),
        ("(x > 1", "Expected `)`", 7),
        ("UPPER(x) = 'A'", "there is no function", 1),
        ("x = 1 AND 'a'", "a condition such as", 11),
    ],
)
def test_what_is_no_selector_is_refused_with_its_place(selector, words, column):
    with pytest.raises(FilterSyntaxError) as caught:
        thatch.parse(selector, language="jms")
    assert words in str(caught.value)
    assert caught.value.column == column


def test_deep_and_long_selectors_are_refused_in_time():
    for selector in ("(" * 100_000, "-" * 100_000 + "x", "(" * 300 + "x" + ")" * 300):
        with pytest.raises(thatch.FilterError, match="levels of nesting"):
            thatch.parse(selector, language="jms")
    assert holds("NOT " * 10_000 + "paid")


@pytest.mark.parametrize("text", ["a = 'it''s", "a = '" + "''" * 50_000, "a = 'b''"])
def test_text_that_is_not_closed_is_refused_at_its_first_quote(text):
    with pytest.raises(FilterSyntaxError) as caught:
        thatch.parse(text, language="jms")
    assert caught.value.column == 5
