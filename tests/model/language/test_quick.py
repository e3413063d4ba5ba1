"""The quick way to read plain conjunctions: it does not answer, or answers as the long way does."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests import strategies as make
from tests.written import text_of
from thatch.errors import FilterError
from thatch.model.filters import Filter
from thatch.model.language.plain_conditions import ConditionReader
from thatch.model.language.quick import quick_conjunction
from thatch.model.language.reading import tokens_of
from thatch.model.language.text import expression_of_text
from thatch.workloads import NAMES, generate


def the_long_way(text):
    """The conjunctions of a text, None if it is refused."""
    try:
        return Filter.of(expression_of_text(text)).conjunctions
    except FilterError:
        return None


def agrees(text):
    """Whether the quick way says nothing, or what the long way says."""
    quick = quick_conjunction(tokens_of(text))
    return quick is None or (quick,) == the_long_way(text)


# --- plain texts -----------------------------------------------------------------------------------------------

names = st.sampled_from(
    ["x", "y", "o.p", "_z", "and_", "nulls", "In", "lower", '"d-t"', "exists", "true", "é"]
)
numbers = st.one_of(
    st.sampled_from(
        ["0", "00", "-0", "-0.0", "+5", "5.", ".5", "1e3", "1E-3", "1e400", "-1e400", "+-5", "0x10", "1_000", "٣", "nan"]
    ),
    st.sampled_from(
        ["9007199254740991", "9007199254740992", "9007199254740993", "9007199254740993.0", "-9007199254740993",
         "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
         "999999999999999999", "1000000000000000000", "18446744073709551616", "1e18", "1" * 50]
    ),
    make.numbers.map(repr),
    st.integers(-20, 20).map(str),
)  # fmt: skip
quoted = make.texts.map(lambda text: "'" + text.replace("'", "''") + "'")
words = st.sampled_from(
    ["null", "true", "false", "infinity", "-infinity", "timestamp '2026-01-31'", "y", '"y"', ""]
)
literals = st.one_of(numbers, quoted, quoted, words)
patterns = st.one_of(
    st.text("ab%_\\'", max_size=5).map(lambda text: "'" + text.replace("'", "''") + "'"),
    st.sampled_from(
        ["'a%'", "'%a'", "'%a%'", "'%'", "''", "'%%a'", "'a%b'", "'it''s%'", "5", "'%ab%'", "'_'", "a"]
    ),
)


@st.composite
def plain_conditions(draw):
    """A condition as it may be typed, right or nearly so."""
    name = draw(names)
    kind = draw(st.sampled_from(["compare"] * 4 + ["between", "in", "like", "like", "is"]))
    if kind == "compare":
        sign = draw(st.sampled_from(["=", "!=", "<>", "<", "<=", ">", ">=", "==", "=~", "!"]))
        space = draw(st.sampled_from([" ", "", "\n"]))
        return f"{name}{space}{sign}{space}{draw(literals)}"
    if kind == "between":
        return f"{name} between {draw(literals)} and {draw(literals)}"
    if kind == "in":
        values = draw(st.lists(literals, max_size=4))
        closing = draw(st.sampled_from([")", ")", ")", "", ",)"]))
        return f"{name} in ({', '.join(values)}{closing}"
    if kind == "like":
        return f"{name} like {draw(patterns)}"
    return f"{name} is {draw(st.sampled_from(['null', 'not null', 'missing', 'NULL', '', '5']))}"


joins = st.sampled_from([" and "] * 6 + [" AND ", " or ", "\nand\t", " and and ", " "])


@st.composite
def plain_texts(draw):
    text = draw(plain_conditions())
    for _ in range(draw(st.integers(0, 3))):
        text += draw(joins) + draw(plain_conditions())
    return text + draw(st.sampled_from(["", "", "", "", " ", ")", " and", ";", "'"]))


@given(plain_texts())
@example("x like '%b' and x = 'ab'")
@example("x like '%b%' and x like '%b%'")
@example("x like '%b%' and x = 'ac'")
@example("x in (1, 1.0, 1e0)")
@example("x = -0.0")
@example("x between 1 and 'a'")
@example("x")
@example("")
def test_the_quick_way_does_not_answer_or_agrees(text):
    assert agrees(text)


expressions = st.lists(make.conditions(keys=make.KEYS[:4]), min_size=1, max_size=4).map(
    lambda conditions: " and ".join(map(text_of, conditions))
)


@given(expressions)
def test_the_quick_way_agrees_on_every_kind_of_condition(text):
    assert agrees(text)


@given(st.text(max_size=30))
def test_the_quick_way_takes_any_text(text):
    assert agrees(text)


@given(plain_texts(), st.data())
def test_the_quick_way_takes_a_text_that_ends_anywhere(text, data):
    assert agrees(text[: data.draw(st.integers(0, len(text)))])


# --- what it is for --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_quick_way_reads_the_workloads_as_the_long_way_does(name):
    texts = generate(name, subscriptions=200, events=0, seed=7).filter_texts()
    assert all(map(agrees, texts))
    assert sum(quick_conjunction(tokens_of(text)) is not None for text in texts) > len(texts) / 2


@pytest.mark.parametrize(
    "text",
    [
        "x = 1",
        "x <> 1",
        "x = 'it''s'",
        "x >= -1.5 and x < 1e3",
        "x between 1 and 5 and y between 'a' and 'b'",
        "x in (1, 'a', 2.5)",
        "x is null",
        "x like 'a%' and y like '%b' and z like '%c%'",
        "x like 'abc'",
    ],
)
def test_what_the_quick_way_answers(text):
    assert (quick_conjunction(tokens_of(text)),) == the_long_way(text)


@pytest.mark.parametrize(
    "text",
    [
        "x = 1 or y = 1",
        "not x = 1",
        "(x = 1)",
        "x = 1 and x = 2",
        "x = 'a' and x like '%b'",
        "x between 5 and 1",
        "x < ''",
        "lower(x) = 'a'",
        '"x" = 1',
        "x = true",
        "x = null",
        "x = -9007199254740993",
        "x like 'a_'",
        "x not in (1, 2)",
        "x = 1 AND y = 1",
        "in = 1",
        "x == 1",
        "x in (" + "1, " * 100_000 + "1)",
        " and ".join(["x = 1"] * 2_000),
    ],
    ids=lambda text: text[:30],
)
def test_what_the_quick_way_leaves_to_the_long_way(text):
    assert quick_conjunction(tokens_of(text)) is None


# --- plain conditions inside any text --------------------------------------------------------------------------------------


def read(text):
    """The expression of a text, or what refuses it."""
    try:
        return expression_of_text(text)
    except FilterError as error:
        return str(error)


lowered = names.map(lambda name: f"lower({name})")
mixed_conditions = st.one_of(
    plain_conditions(),
    st.builds("{} {} {}".format, lowered, st.sampled_from(["=", "!=", "<", "like", "not like", "~"]), st.one_of(literals, patterns)),
    st.builds("not {} = {}".format, names, literals),
    st.builds("{} not in ({})".format, names, literals),
    st.builds("{} not between {} and {}".format, names, literals, literals),
    make.conditions(keys=make.KEYS[:3]).map(text_of),
)  # fmt: skip


@given(
    st.lists(mixed_conditions, min_size=1, max_size=4).flatmap(
        lambda some: st.lists(
            st.sampled_from([" and ", " or ", " AND not ", ") and (", " Or ", " "]), min_size=len(some), max_size=len(some)
        ).map(lambda words: "".join(part for pair in zip(some, words, strict=True) for part in pair))
    ),
    st.sampled_from(["", "(", "not (", "("]),
    st.sampled_from(["", ")", "x = 1", "not x = 1)"]),
)  # fmt: skip
@example("x = 'a' or y", "", "")
@example("x like 'a\\' or ", "", "x = 1")
@example("lower(x) like '%a' and x between 1 and ", "", "")
def test_the_parser_reads_plain_conditions_as_it_reads_others(text, before, after):
    with patch.object(ConditionReader, "plain_condition", lambda self: None):
        slowly = read(before + text + after)
    assert read(before + text + after) == slowly


def test_nesting_is_refused_where_plain_conditions_are_read_too():
    deep = "(" * 199 + "not not x = 1" + ")" * 199
    with patch.object(ConditionReader, "plain_condition", lambda self: None):
        slowly = read(deep), read("(" + deep + ")")
    assert (read(deep), read("(" + deep + ")")) == slowly
