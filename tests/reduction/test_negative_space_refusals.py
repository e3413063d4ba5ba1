"""What a negative space cannot work with is refused, and changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reduction.test_negative_space import as_boxes, boxes, domain
from thatch.errors import BoxError, ParameterError, SubscriptionError, UnknownSubscriptionError
from thatch.reduction.boxes import HIGHEST, Boxes
from thatch.reduction.negative_space import ApproximateSpace, ExactSpace, stream

# --- bad input -------------------------------------------------------------------------------------------------------


def spaces():
    return [ExactSpace(domain(2)), ApproximateSpace(3, domain=domain(2))]


def state(space):
    return space.active, space.passive, space.stats(), space.axes, sorted(as_boxes(space.negative))


@pytest.mark.parametrize("space", spaces(), ids=["exact", "approximate"])
def test_a_refused_change_names_its_reason_and_changes_nothing(space):
    space.add(0, boxes(((0, 3), (0, 3))))
    space.add(1, boxes(((1, 2), (1, 2))))
    before = state(space)
    with pytest.raises(SubscriptionError, match="a row that is not in the set, got 0"):
        space.add(0, boxes(((4, 4), (4, 4))))
    with pytest.raises(UnknownSubscriptionError, match="7"):
        space.remove(7)
    with pytest.raises(ParameterError, match="at least 0, got -1"):
        space.add(-1, boxes(((4, 4), (4, 4))))
    with pytest.raises(BoxError, match="boxes with 2 axes, got one with axis 2"):
        space.add(2, boxes(((4, 4), (4, 4), (1, 1))))
    with pytest.raises(BoxError, match="above its high one"):
        space.add(2, boxes(((4, 3), (4, 4))))
    with pytest.raises(ParameterError, match="'arrival' or 'volume'"):
        space.rebuild("random")
    with pytest.raises(ParameterError, match="its labels are fixed"):
        space.relabel(0, np.arange(3), np.arange(3))
    assert state(space) == before


def test_a_row_removed_twice_is_unknown():
    space = ExactSpace()
    space.add(0, boxes(((0, 3),)))
    space.remove(0)
    with pytest.raises(UnknownSubscriptionError):
        space.remove(0)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ([0, 4], [0], "as many new as old labels"),
        ([0, 4], [4, 0], "ascending labels"),
        ([0, 3], [0, 3], "none for 4"),
        ([0, 4], [0, HIGHEST + 1], "labels above"),
    ],
)
def test_labels_that_do_not_fit_are_refused_and_change_nothing(old, new, said):
    space = ExactSpace()
    space.add(0, boxes(((0, 3),)))
    before = state(space)
    with pytest.raises(ParameterError, match=said):
        space.relabel(0, np.array(old), np.array(new))
    assert state(space) == before
    space.relabel(5, np.array([1]), np.array([2]))  # an axis that nobody knows


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"k": 0}, "at least 1, got 0 - at k"),
        ({"k": 5, "metric": "volume"}, "one of ratio, benefit, cost, got 'volume'"),
        ({"k": 5, "unsubscribe": "figure 7"}, "'hand back' or 'reassign'"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(options, said):
    with pytest.raises(ParameterError, match=said):
        ApproximateSpace(**options)


def test_a_domain_that_is_no_box_is_refused():
    with pytest.raises(BoxError, match="domain"):
        ExactSpace((np.array([4]), np.array([3])))


def test_more_axes_than_there_is_room_for_are_refused_and_change_nothing():
    space = ExactSpace()
    space.add(0, boxes(((0, 3),)))
    before = state(space)
    axes = np.arange(100_000, dtype=np.int32)
    many = Boxes(np.array([0, len(axes)]), axes, np.zeros(len(axes), np.int64), np.ones(len(axes), np.int64))
    with pytest.raises(BoxError, match="at most 4,096 axes, got 100,000"):
        space.add(1, many)
    assert state(space) == before


@pytest.mark.parametrize(
    ("changed", "error", "said"),
    [
        ({"k": 0}, ParameterError, "at least 1"),
        ({"metric": "size"}, ParameterError, "one of ratio"),
        ({"marks": [3]}, ParameterError, "ascending numbers from 1 to 2"),
        ({"marks": [2, 1]}, ParameterError, "ascending numbers"),
        ({"highs": [[3, 3], [5, 5]]}, ParameterError, "inside the domain"),
        ({"highs": [[3], [3]]}, BoxError, "boxes"),
    ],
)
def test_a_stream_that_makes_no_sense_is_refused(changed, error, said):
    given = {"lows": [[0, 0], [1, 1]], "highs": [[3, 3], [4, 4]], "domain": domain(2), "marks": [2]} | changed
    with pytest.raises(error, match=said):
        stream(**given)
