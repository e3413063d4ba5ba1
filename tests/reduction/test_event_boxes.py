"""Imprecise events: sure, possible and impossible matches against all that the event may be."""

from __future__ import annotations

from itertools import product
from math import inf, nan

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests import strategies as make
from thatch.errors import EventError, FilterError, NeverMatchesError, ParameterError, SchemaError
from thatch.matching import reference
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.schema import Schema
from thatch.model.types import Enum, Integer, Number
from thatch.reduction import EventBox, covered_by, sureness

NUMBERS = [0, 1, 2, 2.5, 5]
FINE = sorted({*NUMBERS, *(number / 4 for number in range(-4, 25))})
TEXTS = ["", "a", "ab", "b"]
FINE_TEXTS = sorted({*TEXTS, "a\0", "aa", "ab\0", "az"})

numbers = st.sampled_from(NUMBERS)
texts = st.sampled_from(TEXTS)
sides = st.one_of(
    numbers,
    texts,
    st.none(),
    st.tuples(numbers, numbers).map(sorted).map(tuple),
    st.tuples(texts, texts).map(sorted).map(tuple),
    st.lists(st.one_of(numbers, texts, st.none(), st.booleans()), min_size=1, max_size=3),
)
boxes = st.dictionaries(st.sampled_from(["x", "y"]), sides)
expressions = make.combined(
    make.conditions(keys=("x", "y", "z"), is_plain=True, constants=st.sampled_from([*NUMBERS, *TEXTS, True])),
    max_leaves=4,
)


def events_of(box):
    """Every event that the box may be, with a value in each cell."""
    choices = []
    for name, side in box.items():
        values = side if isinstance(side, list) else [side]
        if isinstance(side, tuple):
            fine = FINE_TEXTS if isinstance(side[0], str) else FINE
            values = [value for value in fine if side[0] <= value <= side[1]]
        choices.append([(name, value) for value in values])
    return [dict(chosen) for chosen in product(*choices)]


@given(boxes, st.lists(expressions, min_size=1, max_size=3))
def test_sureness_is_exact_on_small_domains(box, several):
    made = []
    for each in several:
        try:
            made.append((each, Filter.of(each)))
        except NeverMatchesError:
            continue
        except FilterError:
            assume(False)
    events = events_of(box)
    answer = sureness(EventBox(box), [filter for _, filter in made])
    truths = [[reference.matches(each, event) for event in events] for each, _ in made]
    for wanted, truth in zip(answer.each, truths, strict=True):
        assert wanted == ("surely" if all(truth) else "possibly" if any(truth) else "not")
    by_any = [any(column) for column in zip(*truths, strict=True)] if made else [False]
    assert answer.together == ("surely" if all(by_any) else "possibly" if any(by_any) else "not")
    if answer.verdict.covered is False:
        assert not any(filter.matches(answer.verdict.witness) for _, filter in made)
        assert answer.verdict.witness.keys() <= box.keys()


def test_a_group_is_sure_where_no_member_is():
    box = EventBox({"price": (100, 110), "symbol": "IBM"})
    answer = sureness(box, ["price < 106", "price > 104 and symbol = 'IBM'", "price > 200", "price >= 100"])
    assert answer.each == ("possibly", "possibly", "not", "surely")
    assert answer.together == "surely"
    assert sureness(box, ["price < 106", "price > 104"]).verdict.used == (0, 1)


def test_what_is_not_named_is_missing_for_sure():
    box = EventBox({"price": (100, 110)})
    answer = sureness(
        box, ["not exists(symbol)", "exists(symbol)", "lower(symbol) = 'ibm'", "symbol is unlike '%a%b%'"]
    )
    assert answer.each == ("surely", "not", "not", "not")


def test_nested_attributes_and_all_kinds_of_values():
    box = EventBox({"o": {"p": (1, 2), "q": {"r": ["a", "b"]}}, "d-t": {1, 5}, "n": None, "f": nan})
    filters = ["o.p >= 1", "o.q.r in ('a', 'b')", '"d-t" < 5', "n is null", "exists(f)", "f < 5 or f >= 5"]
    assert sureness(box, filters).each == ("surely", "surely", "possibly", "surely", "surely", "not")


def test_derived_attributes_follow_from_the_values():
    box = EventBox({"s": ["IBM", "Ibm"], "host": "10.0.0.1"})
    filters = ["lower(s) = 'ibm'", "s = 'IBM'", "cidr(host, '10.0.0.0/8')", "s like '%B%'", "s like 'I_%'"]
    assert sureness(box, filters).each == ("surely", "possibly", "surely", "possibly", "surely")


def test_an_event_box_can_be_asked_for_like_a_filter():
    box = EventBox({"price": (100, 110)})
    assert covered_by(box, ["price <= 105", "price > 104"]).used == (0, 1)
    verdict = covered_by(box, ["price <= 105", "price > 107"])
    assert 105 < verdict.witness["price"] <= 107
    assert covered_by(box, ["price < 200"], algorithm="pairwise").used == (0,)
    assert covered_by(box, []).witness == {"price": 100}


def test_an_engine_can_be_asked_about_an_event_box():
    from thatch import Engine

    engine = Engine()
    for number in range(100):
        engine.subscribe(f"s{number}", f"x between {number} and {number + 1} and not exists(y{number})")
    assert covered_by(EventBox({"x": (10, 11.5)}), engine).used == ("s10", "s11")
    assert covered_by(EventBox({"x": (10, 11.5), "y10": 1}), engine).covered is False


def test_values_outside_a_declared_type_count_as_missing():
    schema = Schema({"n": Integer(0, 100), "e": Enum("a", "b"), "x": Number(0, 1)})

    def wanted(box, text):
        return sureness(EventBox(box), [parse(text, schema)]).each[0]

    assert wanted({"n": (90, 100)}, "n >= 90") == "surely"
    assert wanted({"n": (90, 110)}, "n >= 90") == "possibly"
    assert wanted({"n": (90, 110)}, "n >= 90 or not exists(n)") == "surely"
    assert wanted({"n": 2.5}, "not exists(n)") == "surely"
    assert wanted({"e": ["a", "c"]}, "e = 'a' or not exists(e)") == "surely"
    assert wanted({"x": (2, 3)}, "not exists(x)") == "surely"
    assert wanted({"n": (1, 2)}, "n in (1, 2)") == "surely"


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"a": (2, 1)}, "a low end that is not above the high one"),
        ({"a": ("b", "a")}, "a low end that is not above the high one"),
        ({"a": (nan, 1)}, "numbers or texts as ends"),
        ({"a": (1, nan)}, "numbers or texts as ends"),
        ({"a": (None, 1)}, "numbers or texts as ends"),
        ({"a": (True, False)}, "numbers or texts as ends"),
        ({"a": (1, "b")}, "two numbers or two texts as ends"),
        ({"a": (1, 2, 3)}, "a pair of a low and a high end"),
        ({"a": []}, "1 to 1,000 possible values"),
        ({"a": [[1]]}, "null, a boolean, a number or text"),
        ({"a": b"x"}, "null, a boolean, a number or text"),
        ({"a": (2**64, 2**65)}, "an integer of 64 bits"),
        ({1: 2}, "names as text"),
        ({"o": {"p": 1}, "o.p": 2}, "each path once"),
        ("a = 1", "an object of names and values"),
    ],
)
def test_what_is_no_event_box_is_refused(attributes, expected):
    with pytest.raises(EventError) as caught:
        EventBox(attributes)
    assert caught.value.expected == expected


def test_infinite_ends_are_numbers():
    assert sureness(EventBox({"a": (-inf, inf)}), ["a < 0 or a >= 0"]).together == "surely"


def test_wrong_arguments_are_refused():
    box = EventBox({"a": 1})
    with pytest.raises(EventError, match="EventBox"):
        sureness({"a": 1}, [])
    with pytest.raises(ParameterError):
        sureness(box, "a = 1")
    with pytest.raises(ParameterError):
        sureness(box, ["a = 1"], budget=0)
    with pytest.raises(SchemaError):
        sureness(box, [parse("a = 1"), parse("a = 1", Schema({"a": Integer()}))])
    assert repr(box) == "EventBox({'a': 1})"


def test_a_cyclic_box_is_refused():
    value: dict[str, object] = {}
    value["a"] = value
    with pytest.raises(EventError, match="cyclic"):
        EventBox(value)
