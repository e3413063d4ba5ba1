"""Negative space, exact and approximate, against points of a small grid and against the figures in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.reduction.boxes import FEWER
from tests.reduction.references.negative_space import (
    FigureSpace,
    PointSpace,
    is_permitted_split,
    overlap,
    points,
    subtract,
)
from thatch.reduction.boxes import HIGHEST, LOWEST, Boxes, log_volume
from thatch.reduction.negative_space import ApproximateSpace, ExactSpace
from thatch.reduction.problem import Moves

SIZE = 5  # of the grid, on every axis


def boxes(*given):
    return Boxes.of(*(np.array([[side[end] for side in box] for box in given], np.int64) for end in (0, 1)))


def domain(n_axes, size=SIZE):
    return np.zeros(n_axes, np.int64), np.full(n_axes, size - 1)


def as_boxes(arrays):
    return [tuple(zip(*ends, strict=True)) for ends in zip(*(each.tolist() for each in arrays), strict=True)]


def box(n_axes, size=SIZE):
    end = st.integers(0, size - 1)
    return st.tuples(*[st.tuples(end, end).map(lambda ends: tuple(sorted(ends)))] * n_axes)


@st.composite
def histories(draw, most_boxes=2):
    """How many axes, and steps: boxes to add, or the turn of the row to remove."""
    n_axes = draw(st.integers(1, 3))
    adding = st.lists(box(n_axes), min_size=1, max_size=most_boxes)
    return n_axes, draw(st.lists(st.one_of(adding, adding, st.integers(0, 30)), max_size=25))


def each_step(history, space, reference=None):
    """Play a history; gives the live rows and the moves of each step."""
    live = {}
    for number, step in enumerate(history):
        if isinstance(step, int):
            if not live:
                continue
            row = sorted(live)[step % len(live)]
            del live[row]
            moves = space.remove(row)
            expected = reference.remove(row) if reference else None
        else:
            row = number
            live[row] = step
            moves = space.add(row, boxes(*step))
            expected = reference.add(row, step) if reference else None
        yield live, moves, expected


def check_views(space, live, forwarded, moves):
    """The two views are a partition of the live rows, and the moves lead from one state to the next."""
    forwarded |= set(moves.forward)
    forwarded -= set(moves.withdraw)
    assert set(space.active) == forwarded
    assert sorted(space.active + space.passive) == sorted(live)


def all_of(live, rows):
    return points(each for row in rows for each in live[row])


# --- exact -----------------------------------------------------------------------------------------------------------


@given(histories())
def test_the_exact_form_decides_as_points_do(given):
    n_axes, history = given
    made = {}

    def largest_first(rows):
        return sorted(rows, key=lambda row: (-log_volume(boxes(*made[row])), row))

    space, reference, forwarded = ExactSpace(domain(n_axes)), PointSpace(largest_first), set()
    made = {number: step for number, step in enumerate(history) if not isinstance(step, int)}
    for live, moves, expected in each_step(history, space, reference):
        assert moves == expected
        check_views(space, live, forwarded, moves)
        assert all_of(live, space.active) == all_of(live, live)
        negative = as_boxes(space.negative)
        known = all_of(live, space.active)
        assert points(negative) == points([((0, SIZE - 1),) * n_axes]) - known
        assert sum(len(points([each])) for each in negative) == len(points(negative))  # they are disjoint


@given(histories(), st.sampled_from(["arrival", "volume"]))
def test_a_rebuilt_exact_space_is_one_into_which_the_live_rows_just_came(given, order):
    n_axes, history = given
    space = ExactSpace(domain(n_axes))
    live = ()
    for live, _, _ in each_step(history, space):  # noqa: B007 - the last are wanted
        pass
    before = space.active
    moves = space.rebuild(order)
    assert set(space.active) == set(before) - set(moves.withdraw) | set(moves.forward)
    assert not set(moves.forward) & set(before)
    assert set(moves.withdraw) <= set(before)
    fresh = ExactSpace(domain(n_axes))
    rows = list(live)
    if order == "volume":
        rows.sort(key=lambda row: (-log_volume(boxes(*live[row])), row))
    for row in rows:
        fresh.add(row, boxes(*live[row]))
    assert set(space.active) == set(fresh.active)
    assert sorted(as_boxes(space.negative)) == sorted(as_boxes(fresh.negative))


# --- approximate -----------------------------------------------------------------------------------------------------

OPTIONS = st.fixed_dictionaries(
    {
        "k": st.sampled_from([1, 2, 3, 5, 50]),
        "metric": st.sampled_from(["ratio", "benefit", "cost"]),
        "dynamic": st.booleans(),
        "literal": st.booleans(),
        "unsubscribe": st.sampled_from(["hand back", "reassign"]),
        "pairwise": st.booleans(),
    }
)


@given(histories(), OPTIONS)
def test_r_and_the_shares_are_a_partition_and_what_is_passive_is_covered(given, options):
    n_axes, history = given
    space, forwarded = ApproximateSpace(**options, domain=domain(n_axes)), set()
    everything = points([((0, SIZE - 1),) * n_axes])
    for live, moves, _ in each_step(history, space):
        check_views(space, live, forwarded, moves)
        assert all_of(live, space.active) == all_of(live, live)
        parts = as_boxes(space.negative)
        for row in space.active:
            share = as_boxes(space.share(row))
            assert points(share) <= points(live[row])
            parts += share
        assert sum(len(points([each])) for each in parts) == len(everything)
        assert points(parts) == everything
        for row in space.passive:
            assert points(live[row]) <= all_of(live, space.active)
            if not options["pairwise"]:
                assert not points(live[row]) & points(as_boxes(space.negative))


@given(histories(most_boxes=1), OPTIONS)
def test_each_subscription_splits_what_figure_8_permits(given, options):
    n_axes, history = given
    space = ApproximateSpace(**options, domain=domain(n_axes))
    for row, step in enumerate(history):
        if isinstance(step, int):
            continue
        before = as_boxes(space.negative)
        is_active = bool(space.add(row, boxes(*step)).forward)
        allowed = options["k"]
        if options["dynamic"]:
            allowed = options["k"] * len(space.active) - len(before)
        after = as_boxes(space.negative)
        if is_active:
            assert is_permitted_split(
                before, after, step[0], allowed, options["metric"], literal=options["literal"]
            )
        else:
            assert sorted(before) == sorted(after)


@given(histories(), st.booleans())
def test_without_a_limit_that_binds_the_approximate_form_decides_as_the_exact_one(given, pairwise):
    n_axes, history = given
    exact = ExactSpace(domain(n_axes))
    approximate = ApproximateSpace(10**9, unsubscribe="reassign", pairwise=pairwise, domain=domain(n_axes))
    other = each_step(history, approximate)
    for _, moves, _ in each_step(history, exact):
        assert next(other)[1] == moves


@given(histories(), OPTIONS)
def test_a_rebuilt_approximate_space_is_one_into_which_the_live_rows_just_came(given, options):
    n_axes, history = given
    space = ApproximateSpace(**options, domain=domain(n_axes))
    live = ()
    for live, _, _ in each_step(history, space):  # noqa: B007 - the last are wanted
        pass
    moves = space.rebuild()
    fresh = ApproximateSpace(**options, domain=domain(n_axes))
    for row in live:
        fresh.add(row, boxes(*live[row]))
    assert space.active == fresh.active
    assert set(moves.forward) <= set(space.active)
    assert set(moves.withdraw) <= set(space.passive)


def test_what_leans_on_a_row_is_looked_at_again_though_it_misses_all_that_came_back():
    # The limit keeps the second row from taking anything away, so the third misses its share.
    space = ApproximateSpace(1, domain=domain(2, 9))
    space.add(0, boxes(((4, 4), (4, 4))))
    space.add(1, boxes(((2, 6), (2, 6))))
    assert space.add(2, boxes(((3, 3), (3, 3)))) == Moves()
    assert not len(space.share(1)[0])
    assert space.remove(1) == Moves(forward=(2,), withdraw=(1,))


def test_reassigning_keeps_a_row_passive_that_handing_back_forwards():
    kept = {}
    for how in ("hand back", "reassign"):
        space = ApproximateSpace(50, unsubscribe=how, pairwise=False, domain=domain(1, 9))
        space.add(0, boxes(((0, 5),)))
        space.add(1, boxes(((0, 8),)))
        space.add(2, boxes(((2, 3),)))
        kept[how] = space.remove(0)
    assert kept == {"hand back": Moves((2,), (0,)), "reassign": Moves((), (0,))}


def test_rebuilding_regains_what_handing_back_lost():
    space = ApproximateSpace(50, pairwise=False, domain=domain(1, 9))
    for row, side in enumerate([(0, 5), (0, 8), (2, 3)]):
        space.add(row, boxes((side,)))
    space.remove(0)
    assert space.rebuild() == Moves((), (2,))


# --- figures 7 and 9 must not be mixed -------------------------------------------------------------------------------


def play(steps, domain_box, k):
    space = FigureSpace(domain_box, k)
    for row, what in steps:
        if isinstance(what, str):
            space.remove(row, what)
        else:
            space.add(row, what)
    return space


MIXED = [
    (0, ((1, 2),)),
    (1, ((0, 2),)),  # its share is 0 alone
    (2, ((1, 2),)),  # passive
    (0, "figure 7"),  # nothing comes back, since row 1 covers it; but it is in no share now
    (1, "figure 9"),  # the share comes back, and 1 and 2 never do
]


def test_figure_7_and_figure_9_mixed_leave_a_row_passive_that_nobody_covers():
    space = play(MIXED, ((0, 2),), 1)
    assert (space.active, space.passive) == ({}, {2: ((1, 2),)})
    assert space.negative == [((0, 0),)]


@pytest.mark.parametrize("how", ["figure 7", "figure 9", "reassign"])
def test_one_way_of_unsubscribing_alone_forwards_it(how):
    steps = [(row, how if isinstance(what, str) else what) for row, what in MIXED]
    space = play(steps, ((0, 2),), 1)
    assert (space.active, space.passive) == ({2: ((1, 2),)}, {})


@FEWER
@given(histories(most_boxes=1), st.integers(1, 5), st.sampled_from(["figure 7", "figure 9", "reassign"]))
def test_each_way_of_unsubscribing_alone_is_safe_and_all_but_figure_7_keep_the_partition(given, k, how):
    n_axes, history = given
    space = FigureSpace(((0, SIZE - 1),) * n_axes, k)
    for row, step in enumerate(history):
        live = sorted([*space.active, *space.passive])
        if not isinstance(step, int):
            space.add(row, step[0])
        elif live:
            space.remove(live[step % len(live)], how)
        assert points(space.passive.values()) <= points(space.active.values())
        parts = [*space.negative, *(each for share in space.shares.values() for each in share)]
        if how != "figure 7":
            assert sum(len(points([each])) for each in parts) == len(points(parts)) == SIZE**n_axes


# --- axes, labels ----------------------------------------------------------------------------------------------------


def test_axes_may_appear_at_any_time_and_two_halves_of_one_cover_what_does_not_know_it():
    space = ExactSpace()
    below, above = ((LOWEST, HIGHEST), (LOWEST, 4)), ((LOWEST, HIGHEST), (5, HIGHEST))
    assert space.add(0, boxes(((0, 3), (LOWEST, HIGHEST)))).forward == (0,)
    assert space.axes == (0,)
    assert space.add(1, boxes(below)).forward == (1,)
    assert space.add(2, boxes(above)).forward == (2,)
    assert space.axes == (0, 1)
    assert space.add(3, boxes(((7, 9), (LOWEST, HIGHEST), (1, 2)))) == Moves()
    assert space.axes == (0, 1, 2)
    assert space.stats()["boxes"] == 0


def test_the_whole_space_covers_everything_and_what_it_hid_comes_back():
    for space in (ExactSpace(), ApproximateSpace(1)):
        whole = boxes(())
        assert space.add(0, whole).forward == (0,)
        assert space.add(1, boxes(((3, 4),))) == Moves()
        assert space.add(2, whole) == Moves()
        assert space.remove(0) == Moves((2,), (0,))


def test_a_box_outside_of_the_domain_asks_for_nothing():
    space = ExactSpace(domain(1))
    assert space.add(0, boxes(((70, 80),))) == Moves()
    assert space.add(1, boxes(((3, 80),))) == Moves(forward=(1,))
    assert space.add(2, boxes(((4, 90),), ((70, 80),))) == Moves()
    assert space.remove(1) == Moves((2,), (1,))


@given(histories(), OPTIONS, st.booleans(), st.integers(1, 7))
@example(  # a box alone, and the same one beside another
    given=(1, [[((0, 3),)], [((0, 3),)], [((0, 0),)], [((0, 0),), ((0, 3),)]]),
    options={
        "k": 2,
        "metric": "ratio",
        "dynamic": False,
        "literal": False,
        "unsubscribe": "hand back",
        "pairwise": False,
    },
    exact=False,
    factor=2,
)
def test_other_labels_change_no_answer(given, options, exact, factor):
    n_axes, history = given

    def made():
        return ExactSpace() if exact else ApproximateSpace(**{**options, "metric": "cost"})

    plain, relabelled = made(), made()
    half = len(history) // 2
    live = ()
    for live, _, _ in each_step(history[:half], plain):  # noqa: B007 - the last are wanted
        pass
    for _ in each_step(history[:half], relabelled):
        pass
    old = np.arange(-1, SIZE + 2)
    for axis in range(n_axes):
        relabelled.relabel(axis, old, factor * old + 3)
    for axis in range(n_axes):
        assert relabelled.labels(axis).tolist() == (factor * plain.labels(axis) + 3).tolist()
    for row, step in enumerate(history[half:], start=half):
        if isinstance(step, int):
            continue
        moved = [tuple((factor * a + 3, factor * (b + 1) + 2) for a, b in each) for each in step]
        assert plain.add(row, boxes(*step)) == relabelled.add(row, boxes(*moved))
    for row in sorted(live):
        assert set(plain.remove(row).withdraw) == set(relabelled.remove(row).withdraw)


# --- the reference itself --------------------------------------------------------------------------------------------


@given(st.integers(1, 3).flatmap(lambda n_axes: st.tuples(box(n_axes), box(n_axes))))
def test_subtracting_leaves_disjoint_boxes_with_the_points_of_one_and_not_the_other(given):
    one, other = given
    pieces = subtract(one, other)
    assert points(pieces) == points([one]) - points([other])
    assert sum(len(points([piece])) for piece in pieces) == len(points(pieces))
    assert len(pieces) <= 2 * len(one)
    assert (overlap(one, other) is None) == (pieces == [one])
