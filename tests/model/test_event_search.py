"""Containment of trees with patterns against brute force over all short texts; every event found is matched."""

from __future__ import annotations

import time
from functools import cache
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests import strategies as make
from thatch.errors import FilterError, NeverMatchesError
from thatch.model.event_search import EventSearch
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.lines import value_at
from thatch.model.names import name_of
from thatch.model.texts.reference import texts_of
from thatch.model.tree_covering import tree_covers, trees_meet

CONDITIONS = [
    "x like '%a%'", "x like '%ab%'", "x like '%b%a%'", "x like 'a%'", "x like '%b'", "x like 'a%b'", "x like '_'",
    "x like '_%'", "x like 'a_%'", "x like '%_b_%'", "x = 'ab'", "x = ''", "x in ('a', 'b', 'ba')", "x > 'ab'", "x <= 'b'",
    "x between 'a' and 'ab'", "x like 'ab%'", "x like '%ba'", "x like '%aa%'", "x like '%a%a%'", "x like '%b%' ", "x != 'a'",
    "exists(x)", "x is missing", "x is unlike '%a%'", "x is distinct from 'b'", "y = 1", "y > 1", "y = 'a'", "exists(y)",
    "y like 'a%'",
]  # fmt: skip
FOLDED = [
    "lower(x) like '%a%'", "lower(x) = 'ab'", "lower(x) like 'a%b'", "reverse(x) like 'ba%'", "reverse(lower(x)) like '%ab%'",
    "lower(x) like '_b'", "lower(x) in ('a', 'ba')", "lower(x) > 'a'", "x like '%A%'", "x = 'aB'", "lower(x) like '%ab%'",
]  # fmt: skip


class World:
    """Events as bits of one number, and the bits of all events on which each condition holds."""

    def __init__(self, letters, longest, conditions):
        texts = [{}, *({"x": text} for text in texts_of(letters, longest)), {"x": 1}]
        self.events = [{**x, **y} for x in texts for y in ({}, {"y": 1}, {"y": 2}, {"y": "a"}, {"y": "b"})]
        self.every = (1 << len(self.events)) - 1
        self.bits = {}
        for each in conditions:
            filter = parse(each)
            self.bits[each] = sum(1 << at for at, event in enumerate(self.events) if filter.matches(event))
        self.conditions = conditions

    def draw(self, rng, depth):
        """A random filter as text, and the bits of the events that it matches."""
        if not depth or rng.random() < 0.2:
            chosen = rng.choice(self.conditions)
            return chosen, self.bits[chosen]
        joined = rng.choice((" and ", " or "))
        parts = [self.draw(rng, depth - 1) for _ in range(rng.randrange(2, 4))]
        bits = self.every if joined == " and " else 0
        for _, each in parts:
            bits = bits & each if joined == " and " else bits | each
        return "(" + joined.join(text for text, _ in parts) + ")", bits


@cache
def plain_world():
    return World("ab~", 4, CONDITIONS)


@cache
def folded_world():
    return World("abAB~", 3, [*CONDITIONS, *FOLDED])


def parsed(text):
    try:
        return parse(text)
    except NeverMatchesError:
        return None


def check_question(world, rng, depth, most):
    """Whether a random filter lies in the union of others; returns what was answered and whether brute force can tell."""
    wanted, bits = world.draw(rng, depth)
    others = [world.draw(rng, depth) for _ in range(rng.randrange(most + 1))]
    filter = parsed(wanted)
    if filter is None:
        assert not bits, wanted
        return True
    search = EventSearch([filter.tree], None)
    left, filters = bits, []
    for text, each in others:
        other = parsed(text)
        if other is not None:
            filters.append(other)
            search.exclude(other.tree)
            left &= ~each
    found = search.find()
    if found.is_empty is False:
        event = {name_of(base): value_at(place) for base, place in found.places.items()}
        assert filter.matches(event), (wanted, event)
        assert not any(each.matches(event) for each in filters), (wanted, others, event)
    elif found.is_empty:
        assert not left, (wanted, others)
        proof = EventSearch([filter.tree], None)
        for number in found.used:
            proof.exclude(filters[number].tree)
        assert proof.find().is_empty
    return found.is_empty


def test_containment_of_trees_is_exact_on_short_texts():
    rng = Random(1)
    answers = [check_question(plain_world(), rng, rng.choice((1, 2, 3)), 3) for _ in range(800)]
    assert answers.count(True) > 50
    assert answers.count(False) > 50
    assert None not in answers


@pytest.mark.slow
def test_containment_sees_case_and_reversal():
    rng = Random(2)
    answers = [check_question(folded_world(), rng, rng.choice((1, 2)), 3) for _ in range(400)]
    assert answers.count(True) > 20
    assert answers.count(None) < 4


@pytest.mark.deep
def test_containment_of_trees_is_exact_on_a_hundred_thousand_questions():
    rng = Random()
    answers = [check_question(plain_world(), rng, rng.choice((1, 2, 3)), 4) for _ in range(80_000)]
    answers += [check_question(folded_world(), rng, rng.choice((1, 2)), 3) for _ in range(20_000)]
    assert answers.count(None) < 200


def filter_of(expression, schema):
    try:
        return Filter.of(expression, schema)
    except NeverMatchesError:
        return None
    except FilterError:
        assume(False)


@given(make.expressions, make.expressions, make.schemas, st.lists(make.flat_values_events, max_size=6))
def test_answers_hold_on_all_kinds_of_conditions(first, second, schema, events):
    outer, inner = filter_of(first, schema), filter_of(second, schema)
    assume(outer is not None and inner is not None)
    contains, meets = tree_covers(outer.tree, inner.tree, schema), trees_meet(outer.tree, inner.tree, schema)
    for event in events:
        assert not contains or outer.matches(event) or not inner.matches(event)
        assert meets or not (outer.matches(event) and inner.matches(event))
    search = EventSearch([inner.tree], schema)
    search.exclude(outer.tree)
    found = search.find()
    if found.is_empty is False:
        event = {name_of(base): value_at(place) for base, place in found.places.items()}
        assert inner.matches(event)
        assert not outer.matches(event)


@pytest.mark.parametrize(
    ("wanted", "others", "used"),
    [
        ("x like '%a%' and x like '%b%'", ["x like '%a%b%'", "x like '%b%a%'"], (0, 1)),
        ("(x like '%ab%' or y = 5) and z in (1, 2)", ["w = 1", "z > 0 and (x like '%a%' or y > 3)"], (1,)),
        ("x like '%ab%'", ["x like '%a%' and y < 5", "x like '%b%' and y >= 5", "not (exists(y) and y between 0 and 9)"], None),
        ("lower(x) like '%\\cmd.exe' and y like '%/c%'", ["lower(x) like '%cmd%' and y like '%/%'"], (0,)),
        ("cidr(x, '10.0.0.0/8')", ["cidr(x, '10.0.0.0/9')", "cidr(x, '10.128.0.0/9')"], (0, 1)),
        ("within(a, b, circle(10, 10, 1000))", ["within(a, b, circle(10.001, 10, 2000))"], (0,)),
        ("x ~ 'a+b' and y = 1", ["x ~ 'a+b'"], (0,)),
    ],
)  # fmt: skip
def test_what_contains_a_filter_is_named(wanted, others, used):
    search = EventSearch([parse(wanted).tree], None)
    for each in others:
        search.exclude(parse(each).tree)
    found = search.find()
    assert found.is_empty is (used is not None)
    assert found.used == (used or ())


def test_products_are_not_multiplied_out():
    groups = [
        " or ".join(f"{name} like '%{name}{number}%'" for name in names for number in range(20))
        for names in ("ab", "cd", "ef", "gh", "ij")
    ]
    wide = " and ".join(f"({each})" for each in groups)
    narrow = wide.replace("%'", "-%'")
    assert parse(wide).alternatives > 10**7
    assert parse(wide).covers(parse(narrow))
    assert not parse(narrow).covers(parse(wide))
    assert not parse(wide).intersects(parse("a is missing and b is missing"))


@pytest.mark.parametrize(
    ("wanted", "other"),
    [
        # One of 60 patterns of `_` and letters holds, and automata for them have a state for every set of places.
        (
            "x like '______________%'",
            " or ".join(f"x like '{text}%'" for text in map("".join, (Random(at).choices("ab____", k=14) for at in range(60)))),
        ),
        # A pigeon in each of nine holes, and ten pigeons.
        (
            " and ".join(f"({' or '.join(f'p{p}h{h} = 1' for h in range(9))})" for p in range(10)),
            " or ".join(f"p{p}h{h} = 1 and p{q}h{h} = 1" for h in range(9) for p in range(10) for q in range(p)),
        ),
    ],
    ids=["patterns", "pigeons"],
)  # fmt: skip
def test_hostile_questions_end(wanted, other):
    search = EventSearch([parse(wanted).tree], None, budget=2_000)
    search.exclude(parse(other).tree)
    start = time.process_time()
    assert search.find().is_empty is not True
    assert time.process_time() - start < 20


@pytest.mark.parametrize(
    ("wanted", "other", "contains"),
    [
        ("x = 'delete it'", "anywhere() like '%delete%'", True),
        ("lower(x) like '%delete_%'", "lower(anywhere()) like '%delete%'", True),
        ("x like '%Delete%'", "anywhere() like '%delete%'", False),
        ("anywhere() like '%abc%'", "anywhere() like '%b%'", True),
        ("anywhere() like '%b%'", "anywhere() like '%abc%'", False),
        ("anywhere() like '%b%' and not anywhere() like '%c%'", "x like '%b%'", False),
        ("x = 'a' and not anywhere() like '%a%' or y = 1", "y > 0", True),
        ("a < b and a > 5", "a != b", True),
        ("a <= b", "a < b", False),
        ("a = b and b like 'x%'", "a like 'y%'", False),
        ("ip(x) <= '9.255.255.255' or ip(x) > '12.0.0.0'", "ip(x) <= '10.0.0.0'", False),
    ],
)
def test_checks_of_several_attributes(wanted, other, contains):
    filter, outer = parse(wanted), parse(other)
    search = EventSearch([filter.tree], None)
    search.exclude(outer.tree)
    found = search.find()
    assert found.is_empty is contains
    if not contains:
        event = {name_of(base): value_at(place) for base, place in found.places.items()}
        assert filter.matches(event)
        assert not outer.matches(event)
