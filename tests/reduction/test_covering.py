"""`covered_by` against all flat events of small domains; every witness, every proof and every claim is checked again."""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from math import inf, nan

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from tests import strategies as make
from thatch import Engine
from thatch.errors import (
    EventError,
    FilterError,
    NeverMatchesError,
)
from thatch.matching import reference
from thatch.model.expressions import And, Not
from thatch.model.filters import Filter
from thatch.model.schema import Schema
from thatch.model.types import Decimal, Enum, Integer, Number, Text
from thatch.reduction.covering import covered_by

MISSING = object()
NUMBERS = [-inf, 0, 1, 2, 2.5, inf]
TEXTS = ["", "a", "ab", "b"]
LITERALS = [*NUMBERS, *TEXTS, False, True]
BETWEEN = [-1, 0.5, 1.5, 2.25, 3, "\0", "a\0", "ab\0", "c"]
DOMAIN = [MISSING, None, nan, *LITERALS, *BETWEEN, 0.1, 0.2, 1.1]
LINES = [
    Integer(0, 5),
    Integer(),
    Decimal(1, 0, 1),
    Number(),
    Number(0, 2.5),
    Text(),
    Enum("a", "b"),
    Enum(1, 2.5, "a", True),
]
small_schemas = st.one_of(
    st.none(),
    st.none(),
    st.dictionaries(st.sampled_from(["x", "y"]), st.sampled_from(LINES), min_size=1).map(Schema),
)
small_expressions = make.combined(
    make.conditions(keys=("x", "y"), is_plain=True, constants=st.sampled_from(LITERALS)), max_leaves=4
)


def domain(schema):
    """Every flat event of the small domain that conforms to the schema: one in every cell that has a value."""
    choices = [
        [value for value in DOMAIN if value is MISSING or reference.conforms(value, name, schema)]
        for name in ("x", "y")
    ]
    for chosen in product(*choices):
        yield {name: value for name, value in zip(("x", "y"), chosen, strict=True) if value is not MISSING}


def filter_of(expression, schema=None):
    try:
        return Filter.of(expression, schema)
    except NeverMatchesError:
        return None
    except FilterError:
        assume(False)


def holding(expression, flats):
    return [reference.truth(expression, flat) is True for flat in flats]


def check(verdict, asked, others, schema=None):
    """What every verdict promises, whatever it says; filters as expressions."""
    if verdict.covered is False:
        assert verdict.certain
        assert verdict.used == ()
        assert reference.matches(asked, verdict.witness, schema)
        assert not any(reference.matches(each, verdict.witness, schema) for each in others)
    else:
        assert verdict.witness is None
    if verdict.covered is None:
        assert not verdict.certain
        assert verdict.used == ()
        assert verdict.decided_by in ("budget", "gap", "residual", "pairwise")


@given(small_expressions, st.lists(small_expressions, max_size=4), small_schemas)
def test_verdicts_are_exact_on_small_domains(asked, others, schema):
    flats = list(domain(schema))
    filter = filter_of(asked, schema)
    pairs = [(each, filter_of(each, schema)) for each in others]
    others = [each for each, made in pairs if made is not None]
    filters = [made for _, made in pairs if made is not None]
    assume(filter is not None)
    verdict = covered_by(filter, filters)
    check(verdict, asked, others, schema)
    wanted = holding(asked, flats)
    given_ = [holding(each, flats) for each in others]
    is_inside = all(any(column) for want, *column in zip(wanted, *given_, strict=True) if want)
    # Gaps between the numbers of a small domain hold values, and where a type is declared empty gaps are known.
    assert verdict.covered == is_inside
    if verdict.covered:
        proof = [given_[number] for number in verdict.used]
        assert all(any(column) for want, *column in zip(wanted, *proof, strict=True) if want)
        assert (verdict.decided_by == "pairwise") == (len(verdict.used) == 1)
    if any(each.covers(filter) for each in filters):
        assert verdict.covered


@given(
    make.expressions,
    st.lists(make.expressions, max_size=4),
    make.schemas,
    st.lists(make.events, max_size=10),
)
def test_a_yes_is_never_wrong_and_a_no_has_its_witness(asked, others, schema, events):
    filter = filter_of(asked, schema)
    pairs = [(each, filter_of(each, schema)) for each in others]
    others = [each for each, made in pairs if made is not None]
    filters = [made for _, made in pairs if made is not None]
    assume(filter is not None)
    verdict = covered_by(filter, filters)
    check(verdict, asked, others, schema)
    if any(each.covers(filter) for each in filters):
        assert verdict.covered
    if verdict.covered:
        for event in events:
            with suppress(EventError):  # an event that gives a path twice
                assert not filter.matches(event) or any(filters[each].matches(event) for each in verdict.used)


@given(
    make.conditions(keys=("x", "y")),
    make.conditions(keys=("x", "y")),
    make.conditions(keys=("x", "y")),
    st.lists(make.flat_values_events, max_size=10),
)
def test_a_condition_and_its_opposite_cover_what_they_halve(first, second, third, events):
    """Derived attributes and checks included: `A` is covered by `A and c`, `A and not c` and, for the rest, others."""
    asked = filter_of(first)
    halves = [And((first, second)), And((first, Not(second))), third]
    filters = [filter_of(each) for each in halves]
    assume(asked is not None)
    others = [(each, made) for each, made in zip(halves, filters, strict=True) if made is not None]
    verdict = covered_by(asked, [made for _, made in others])
    check(verdict, first, [each for each, _ in others])
    if verdict.covered:
        for event in events:
            assert not asked.matches(event) or any(
                others[number][1].matches(event) for number in verdict.used
            )


@given(small_expressions, st.lists(small_expressions, min_size=1, max_size=4))
def test_an_engine_says_the_same_as_a_list(asked, others):
    filter = filter_of(asked)
    filters = [made for made in (filter_of(each) for each in others) if made is not None]
    assume(filter is not None)
    engine = Engine(background=False)
    for number, each in enumerate(filters):
        engine.subscribe(f"s{number}", each)
    listed, found = covered_by(filter, filters), covered_by(filter, engine)
    assert found.covered == listed.covered
    if found.covered:
        used = [engine.filter(each) for each in found.used]
        assert covered_by(filter, used).covered
        assert len(set(found.used)) == len(found.used)
    if found.covered is False:
        assert engine.match(found.witness) == []
        assert filter.matches(found.witness)


@given(small_expressions, st.lists(small_expressions, max_size=4), st.integers(0, 2**32))
def test_random_points_err_only_on_the_side_of_yes(asked, others, seed):
    filter = filter_of(asked)
    filters = [made for made in (filter_of(each) for each in others) if made is not None]
    assume(filter is not None)
    verdict = covered_by(
        filter, filters, algorithm="rspc", delta=1e-6, rng=np.random.default_rng(seed), cap=10_000
    )
    exact = covered_by(filter, filters)
    check(verdict, asked, [each for each in others if filter_of(each) is not None])
    if exact.covered:
        assert verdict.covered
    if verdict.covered and verdict.certain:
        assert exact.covered
    if verdict.covered and not verdict.certain:
        assert verdict.decided_by in ("rspc", "rspc capped")


@given(small_expressions, st.lists(small_expressions, max_size=4))
def test_pairwise_looks_at_one_other_at_a_time(asked, others):
    filter = filter_of(asked)
    filters = [made for made in (filter_of(each) for each in others) if made is not None]
    assume(filter is not None)
    verdict = covered_by(filter, filters, algorithm="pairwise")
    check(verdict, asked, [each for each in others if filter_of(each) is not None])
    containing = [number for number, each in enumerate(filters) if each.covers(filter)]
    assert (verdict.covered is True) == bool(containing)
    if verdict.covered:
        assert verdict.used == (containing[0],)
        assert verdict.decided_by == "pairwise"
