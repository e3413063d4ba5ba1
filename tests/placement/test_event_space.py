"""Real subscriptions as boxes of numbers, and boxes as filters again."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.strategies import events as any_events
from tests.strategies import expressions, schemas
from thatch import Decimal, Enum, Integer, Number, Schema, parse
from thatch.errors import EventError, FilterError, ParameterError
from thatch.model.filters import Filter
from thatch.model.lines import BOTTOM, TOP
from thatch.model.profile import Profile
from thatch.placement.event_space import MOST_BOXES, count_sides, event_space

CONDITIONS = [
    "price < {0}",
    "price >= {0}",
    "price between {0} and {1}",
    "price = {0}",
    "symbol = '{2}'",
    "symbol like '{2}%'",
    "lower(symbol) = '{3}'",
    "exists(price)",
    "price is missing",
    "is_open = true",
    "is_open is null",
    "price is distinct from {0}",
    "price <= {0} or price = '{2}'",
    "symbol in ('{2}', 'zz', 'B')",
    "symbol like '%{2}%x'",
    "note is missing or note = {1}",
    "(price is null or price < {0})",
    "(symbol is null or symbol < '{2}')",
]


@st.composite
def filters(draw) -> str:
    def condition() -> str:
        low = draw(st.integers(-3, 9))
        letter = draw(st.sampled_from("ABCdef"))
        high = low + draw(st.integers(0, 4))
        return "(" + draw(st.sampled_from(CONDITIONS)).format(low, high, letter, letter.lower()) + ")"

    return " and ".join(condition() for _ in range(draw(st.integers(1, 3))))


values = st.one_of(
    st.none(), st.booleans(), st.integers(-4, 14), st.just(float("nan")), st.sampled_from("ABCdefx")
)
events = st.dictionaries(st.sampled_from(["price", "symbol", "is_open", "note"]), values)


def good(texts: list[str]) -> list:
    found = []
    for text in texts:
        try:
            found.append(parse(text))
        except ValueError:  # never matches
            continue
    return found


@examples(60)
@given(
    st.lists(filters(), min_size=1, max_size=6),
    st.lists(events, max_size=12),
    st.booleans(),
    st.integers(1, 4),
)
def test_what_a_subscription_wants_passes_the_filter_around_its_boxes(texts, log, has_profile, most):
    subscriptions = good(texts)
    profile = Profile.of(log) if has_profile else None
    space = event_space(count_sides(subscriptions), profile, most=most)
    boxes = [space.boxes_of(each) for each in subscriptions]
    for rows in boxes:
        assert (rows >= 0).all()
        assert (rows <= 1).all()
        assert (rows[:, : len(space.axes)] <= rows[:, len(space.axes) :]).all()
    if not subscriptions:
        return
    rows = np.concatenate(boxes)
    d = len(space.axes)
    hull = np.concatenate([rows[:, :d].min(axis=0), rows[:, d:].max(axis=0)])[None, :]
    for around in (rows, hull):
        filter = parse(str(space.filter_of(around)))
        for event in log:
            if any(each.matches(event) for each in subscriptions):
                assert filter.matches(event), str(filter)


@pytest.mark.slow
@examples(150)
@given(
    st.lists(expressions, min_size=1, max_size=4),
    schemas,
    st.integers(1, 6),
    st.lists(any_events, max_size=3),
)
def test_any_filter_has_boxes_and_filters_around_boxes_are_in_normal_form(written, schema, most, log):
    subscriptions = []
    for each in written:
        with suppress(FilterError):  # it never matches, or is too large
            subscriptions.append(Filter.of(each, schema))
    space = event_space(count_sides(subscriptions), schema=schema, most=most)
    for each in subscriptions:
        around = space.filter_of(space.boxes_of(each))
        assert parse(str(around), schema) == around
        for event in log:
            with suppress(EventError):
                assert around.matches(event) or not each.matches(event)
    if subscriptions:
        around = space.filter_of(np.concatenate([space.boxes_of(each) for each in subscriptions]))
        assert parse(str(around), schema) == around


def test_a_filter_around_boxes_that_touch_is_one_interval():
    subscriptions = [parse("x < 5"), parse("x > 7"), parse("x between 5 and 6")]
    space = event_space(count_sides(subscriptions))
    boxes = np.concatenate([space.boxes_of(each) for each in subscriptions])
    assert space.filter_of(boxes) == parse("x <= 6 or x > 7")


def test_a_subscription_is_itself_where_it_is_a_box_and_all_its_attributes_are_axes():
    texts = ["price < 5", "price >= 5 and symbol = 'IBM'", "price between 2 and 7", "symbol like 'I%'"]
    subscriptions = [parse(text) for text in texts]
    space = event_space(count_sides(subscriptions))
    for each in subscriptions:
        assert space.filter_of(space.boxes_of(each)) == each


def width(space, text: str, key: str) -> float:
    number = [axis.key for axis in space.axes].index(key)
    (row,) = space.boxes_of(parse(text, schema=space.schema))
    return float(row[len(space.axes) + number] - row[number])


def test_widths_are_shares_of_events_where_there_is_a_profile():
    log = [{"price": number, "symbol": "IBM" if number < 60 else "SAP"} for number in range(100)]
    log += [{"symbol": None}] * 100
    texts = [
        "price < 50",
        "price >= 90",
        "symbol = 'IBM'",
        "symbol = 'SAP'",
        "symbol is null",
        "exists(price)",
    ]
    space = event_space(count_sides(map(parse, texts)), Profile.of(log))
    widths = [width(space, text, text.split("(")[-1].split()[0].rstrip(")")) for text in texts]
    assert widths == pytest.approx([0.25, 0.05, 0.3, 0.2, 0.5, 0.5], abs=0.01)
    assert width(space, "price < 50", "symbol") == 1.0  # unconstrained


def test_widths_are_even_over_declared_bounds():
    schema = Schema(
        {
            "qty": Integer(0, 9),
            "rate": Number(0, 4),
            "side": Enum("buy", "sell", "none", "any"),
            "cent": Decimal(2),
        }
    )
    texts = ["qty = 3", "qty >= 8", "rate <= 1", "side = 'buy'", "side in ('any', 'buy')"]
    space = event_space(count_sides(parse(text, schema=schema) for text in texts), schema=schema)
    widths = [width(space, text, text.split()[0]) for text in texts]
    assert widths == pytest.approx([0.1, 0.2, 0.25, 0.25, 0.5])


def test_widths_are_even_over_what_is_asked_where_nothing_is_known():
    texts = [
        "price < 10",
        "price < 20",
        "price < 30",
        "symbol = 'B'",
        "symbol = 'A'",
        "open = true",
        "p is missing",
    ]
    space = event_space(count_sides(map(parse, texts)))
    assert width(space, "price < 20", "price") == pytest.approx(0.5)
    assert width(space, "price < 10", "price") == pytest.approx(0.25)
    assert width(space, "symbol = 'A'", "symbol") == pytest.approx(1 / 3)  # others are as likely
    assert width(space, "open = true", "open") == pytest.approx(0.5)


def test_numbers_that_are_asked_by_value_are_names():
    texts = ["device = 5", "device = 7", "device = 9000"]
    space = event_space(count_sides(map(parse, texts)))
    assert [width(space, text, "device") for text in texts] == pytest.approx([1 / 4] * 3)


def test_the_axes_that_narrow_most_are_kept():
    texts = ["a < 1 and b < 99 and c = 5", "a < 2 and b < 98 and c = 5", "a < 100 and b < 100"]
    log = [{"a": number, "b": number, "c": 5} for number in range(100)]
    sides = count_sides(map(parse, texts))
    assert [axis.key for axis in event_space(sides, Profile.of(log), most=1).axes] == ["a"]
    assert [axis.key for axis in event_space(sides, Profile.of(log), most=2).axes] == ["a", "b"]
    assert [axis.key for axis in event_space(sides, keys=["c", "b"]).axes] == ["b", "c"]


def test_a_filter_of_very_many_boxes_is_taken_as_one_around_them():
    text = f"symbol in ({', '.join(repr(f's{number:03}') for number in range(MOST_BOXES + 1))})"
    space = event_space(count_sides([parse(text)]))
    assert len(space.boxes_of(parse(text))) == 1
    assert space.filter_of(space.boxes_of(parse(text))).covers(parse(text))


def test_those_who_want_everything_have_the_whole_space():
    space = event_space(count_sides([parse("true")]))
    assert space.boxes_of(parse("true")).tolist() == [[0.0, 1.0]]
    assert str(space.filter_of(np.array([[0.0, 1.0]]))) == "true"
    assert space.filter_of(np.zeros((0, 2))) is None
    assert space.axes[0].cuts == (BOTTOM, TOP)


@pytest.mark.parametrize("more", [{"most": 0}, {"keys": []}, {"keys": ["volume"]}])
def test_axes_that_no_subscription_constrains_are_refused(more):
    with pytest.raises(ParameterError, match="axes"):
        event_space(count_sides([parse("price < 5")]), **more)
