"""The figures of jafarpour2008 with the paper's answers: section 2.2 (figure 2) and section 3 (figures 3, 4 and 5)."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reduction.references.negative_space import overlap, subtract
from thatch.reduction.boxes import Boxes
from thatch.reduction.negative_space import ApproximateSpace, ExactSpace
from thatch.reduction.problem import Moves

DOMAIN = ((0, 1000), (0, 1000))
S1 = ((175, 510), (180, 680))
S2 = ((405, 840), (110, 540))
S3 = ((380, 720), (230, 495))


def boxes(*given):
    return Boxes.of(*(np.array([[side[end] for side in box] for box in given], np.int64) for end in (0, 1)))


def regions(space):
    lows, highs = space.negative
    return {tuple(zip(*ends, strict=True)) for ends in zip(lows.tolist(), highs.tolist(), strict=True)}


def inside(given):
    """A table of all points of the domain: which ones lie in some boxes."""
    table = np.zeros((1001, 1001), bool)
    for (left, right), (low, high) in given:
        table[left : right + 1, low : high + 1] = True
    return table


@pytest.fixture
def space():
    return ExactSpace((np.zeros(2, np.int64), np.full(2, 1000)))


def test_figure_2_neither_of_two_contains_the_third_but_their_union_does():
    assert overlap(S3, S1) != S3
    assert overlap(S3, S2) != S3
    assert not (inside([S3]) & ~inside([S1, S2])).any()


def test_figure_3_one_subscription_leaves_four_rectangles_three_more_than_before(space):
    assert space.add(1, boxes(S1)) == Moves(forward=(1,))
    left, right = ((0, 174), (0, 1000)), ((511, 1000), (0, 1000))
    below, above = ((175, 510), (0, 179)), ((175, 510), (681, 1000))
    assert regions(space) == {left, right, below, above}
    assert regions(space) == set(subtract(DOMAIN, S1))


def test_figure_4_keeps_what_both_have_in_common_where_the_subscription_reaches_beyond(space):
    # As printed, line 9 would leave boxes outside of the rectangle that is split.
    assert subtract(((0, 4), (0, 4)), ((3, 9), (2, 9))) == [((0, 2), (0, 4)), ((3, 4), (0, 1))]


def test_figure_5_the_second_subscription_meets_two_rectangles_and_leaves_seven(space):
    space.add(1, boxes(S1))
    assert sum(overlap(region, S2) is not None for region in regions(space)) == 2
    assert space.add(2, boxes(S2)) == Moves(forward=(2,))
    assert len(regions(space)) == 7
    assert (inside(regions(space)) == ~inside([S1, S2])).all()


def test_figure_5_the_third_subscription_is_subsumed_and_changes_nothing(space):
    space.add(1, boxes(S1))
    space.add(2, boxes(S2))
    before = regions(space)
    assert space.add(3, boxes(S3)) == Moves()
    assert regions(space) == before
    assert (space.active, space.passive) == ((1, 2), (3,))


def test_section_3_2_a_subscription_that_was_subsumed_is_forwarded_with_the_cancellation(space):
    for row, box in enumerate((S1, S2, S3), start=1):
        space.add(row, boxes(box))
    assert space.remove(1) == Moves(forward=(3,), withdraw=(1,))
    assert (inside(regions(space)) == ~inside([S2, S3])).all()


@pytest.mark.parametrize("unsubscribe", ["hand back", "reassign"])
def test_section_4_the_approximate_form_agrees_where_its_limit_is_not_reached(unsubscribe):
    space = ApproximateSpace(50, unsubscribe=unsubscribe, domain=(np.zeros(2, np.int64), np.full(2, 1000)))
    for row, box in enumerate((S1, S2, S3), start=1):
        space.add(row, boxes(box))
    assert (space.active, space.passive) == ((1, 2), (3,))
    assert len(regions(space)) == 7
    assert space.remove(1) == Moves(forward=(3,), withdraw=(1,))
