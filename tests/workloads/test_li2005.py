"""The subscriptions of li2005: shares of operators, tails from a pool, texts and filters."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thatch.errors import ParameterError
from thatch.workloads.li2005 import (
    ATTRIBUTES,
    INDEPENDENT,
    NAMES,
    OPERATORS,
    TEMPLATES,
    Predicates,
    draw_publications,
    draw_subscriptions,
)

SHAPES = [*TEMPLATES.values(), *INDEPENDENT.values()]


def random(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def rows_of(found: Predicates) -> list[list[tuple[int, int, int]]]:
    columns = (found.attribute.tolist(), found.operator.tolist(), found.value.tolist())
    all_of_them = list(zip(*columns, strict=True))
    return [all_of_them[start:end] for start, end in pairwise(found.offsets.tolist())]


@given(st.integers(0, 2**32), st.integers(0, 12), st.sampled_from(SHAPES))
def test_a_subscription_has_different_attributes_in_order_and_can_be_satisfied(seed, count, shape):
    found = draw_subscriptions(random(seed), count, shape)
    assert len(found) == count
    for row in rows_of(found):
        keys = [key for key, _, _ in row]
        assert keys == sorted(set(keys))
        assert 0 <= keys[0] <= keys[-1] < ATTRIBUTES
    for read in found.filters():
        assert len(read.conjunctions) == 1
        assert read.schema == found.schema


@pytest.mark.parametrize(("name", "about"), [("A", 2_000), ("B", 5_000)])
def test_the_sets_have_as_many_distinct_predicates_as_the_paper_says(name, about):
    for shapes in (TEMPLATES, INDEPENDENT):
        found = draw_subscriptions(random(1), 50_000, shapes[name])
        assert len(np.unique(found.numbers)) == pytest.approx(about, rel=0.15)


@pytest.mark.parametrize("name", TEMPLATES)
def test_tails_are_those_of_the_pool(name):
    shape = TEMPLATES[name]
    rows = rows_of(draw_subscriptions(random(2), 20_000, shape))
    assert len({tuple(row[1:]) for row in rows}) <= shape.tails
    assert {len(row) for row in rows} == {shape.tail_size + 1}
    assert all(row[0][0] < ATTRIBUTES // 2 <= row[1][0] for row in rows)


def test_operators_come_as_often_as_the_shape_says():
    shape = TEMPLATES["B"]
    found = draw_subscriptions(random(3), 40_000, shape)
    top = found.operator[found.offsets[:-1]]
    assert np.bincount(top, minlength=6) / len(top) == pytest.approx(shape.top, abs=0.01)


def test_comparisons_in_tails_hold_half_of_the_values_and_not_all():
    shape = TEMPLATES["A"]
    found = draw_subscriptions(random(5), 20_000, shape)
    is_tail = found.attribute >= ATTRIBUTES // 2
    operator, value = found.operator[is_tail], found.value[is_tail]
    held = np.where(operator == OPERATORS.index("<="), value + 1, shape.values - value) / shape.values
    assert set(operator.tolist()) == {OPERATORS.index("<="), OPERATORS.index(">=")}
    assert 0.5 <= held.min() < held.max() < 1
    assert held.mean() == pytest.approx(0.75, abs=0.02)


def test_texts_say_what_the_columns_say():
    found = Predicates(
        values=9,
        offsets=np.array([0, 2, 3]),
        attribute=np.array([0, 12, 3]),
        operator=np.array([0, 2, 5]),
        value=np.array([4, 7, 1]),
    )
    assert found.texts() == ["a00 < 4 and a12 = 7", "a03 != 1"]
    first, second = found.filters()
    assert first.matches({"a00": 3, "a12": 7})
    assert not first.matches({"a00": 4, "a12": 7})
    assert second.matches({"a03": 2})
    assert found.take(np.array([1, 0, 1])).texts() == ["a03 != 1", "a00 < 4 and a12 = 7", "a03 != 1"]


def test_publications_have_every_attribute_and_values_spread_evenly():
    found = draw_publications(random(4), 5_000, 10)
    assert found.shape == (5_000, len(NAMES))
    assert np.bincount(found.ravel(), minlength=10) / found.size == pytest.approx([0.1] * 10, abs=0.01)


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ParameterError, match="a count of at least 0"):
        draw_subscriptions(random(0), -1, TEMPLATES["A"])
    with pytest.raises(ParameterError, match="values from 1"):
        draw_publications(random(0), 1, 0)
