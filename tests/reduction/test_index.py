"""The index answers as a look at every box does; what it calls covered is proved, what it does not has a witness."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from tests.reduction.boxes import FEWER, Question, questions
from tests.reduction.index_worlds import (
    SEEDS,
    World,
    check_group,
    check_pairs,
    scanned,
    small,
    together,
)
from tests.reduction.references.index import ScannedBoxes
from tests.reduction.references.subsumption import grid, proves, subtraction
from thatch.reduction.boxes import HIGHEST, LOWEST, Boxes
from thatch.reduction.index import BoxIndex
from thatch.reduction.index.records import TreeNode

# --- pairs ------------------------------------------------------------------------------------------------------------


@FEWER
@given(SEEDS)
def test_pairs_are_found_as_by_a_look_at_every_box(seed: int) -> None:
    world = World(seed)
    boxes = world.boxes(int(world.rng.choice([0, 1, 5, 150, 800])))
    index, known = BoxIndex.of(boxes), scanned(boxes)
    assert len(index) == len(boxes)
    for _ in range(10):
        before = int(world.rng.integers(0, len(boxes) + 1)) if world.rng.random() < 0.3 else None
        check_pairs(index, known, world.box(), before)


@pytest.mark.slow
@FEWER
@given(SEEDS)
def test_boxes_that_come_one_by_one_are_found_as_those_that_come_at_once(seed: int) -> None:
    world = World(seed)
    boxes = world.boxes(500)
    index = BoxIndex()
    for number, box in enumerate(boxes):
        index.add(number, *box)
    known = scanned(boxes)
    for _ in range(10):
        check_pairs(index, known, world.box())


@FEWER
@given(SEEDS)
def test_histories_of_boxes_that_come_and_go(seed: int) -> None:
    world = World(seed)
    rng = world.rng
    index, known, live = BoxIndex(), ScannedBoxes(), []
    share = rng.random()
    for step in range(int(rng.choice([20, 1_000]))):
        if live and rng.random() < share * 0.7:
            number = live.pop(int(rng.integers(len(live))))
            index.remove(number)
            known.remove(number)
            assert number not in index
        else:
            number = 3 * step
            box = world.box()
            index.add(number, *box)
            known.add(number, *box)
            live.append(number)
            assert number in index
        assert len(index) == len(live)
        if step % 50 == 0:
            check_pairs(index, known, world.box())
            check_group(index, known, small(world))


def test_removed_boxes_make_room() -> None:
    index = BoxIndex()
    for number in range(3_000):
        index.add(number, [0], [number], [number + 1])
        if number >= 10:
            index.remove(number - 10)
    assert len(index) == 10
    assert index.find_meeting([0], [LOWEST], [HIGHEST]).tolist() == list(range(2_990, 3_000))
    assert sum(array.nbytes for array in index.arrays().values()) < 200_000


def test_boxes_in_rising_order_do_not_make_deep_trees() -> None:
    boxes = together([(np.array([0]), np.array([at]), np.array([at + 3])) for at in range(30_000)])
    index = BoxIndex()
    index.stream(boxes, pairwise_only=True)
    assert len(index) == 30_000
    nodes = index.arrays()["nodes"].reshape(-1, TreeNode.width)
    deepest = 0
    for leaf in np.flatnonzero((nodes[:, TreeNode.split] < 0) & (nodes[:, TreeNode.capacity] > 0)).tolist():
        depth, node = 0, int(nodes[leaf, TreeNode.parent])
        while node >= 0:
            depth, node = depth + 1, int(nodes[node, TreeNode.parent])
        deepest = max(deepest, depth)
    assert deepest < 50
    assert index.find_container([0], [20_001], [20_002]) in (19_999, 20_000, 20_001)


def test_a_thousand_equal_boxes_are_all_found() -> None:
    index = BoxIndex()
    for number in range(1_000):
        index.add(number, [2, 5], [1, 1], [9, 9])
    assert len(index.find_meeting([2], [9], [12])) == 1_000
    assert index.find_container([2, 5], [3, 3], [4, 4], before=1) == 0
    for number in range(999):
        index.remove(number)
    assert index.find_container([2, 5], [3, 3], [4, 4]) == 999


@FEWER
@given(SEEDS)
def test_an_index_is_the_same_after_export_and_import(seed: int) -> None:
    world = World(seed)
    boxes = world.boxes(150)
    arrays = BoxIndex.of(boxes).arrays()
    for array in arrays.values():
        array.flags.writeable = False
    index, known = BoxIndex.from_arrays(arrays), scanned(boxes)
    check_pairs(index, known, world.box())
    check_group(index, known, small(world))
    box = world.box()
    index.add(1_000, *box)  # what is read-only is copied
    known.add(1_000, *box)
    index.remove(0)
    known.remove(0)
    check_pairs(index, known, world.box())
    assert len(BoxIndex.from_arrays(arrays)) == 150


def test_an_index_over_a_mapped_file_answers(tmp_path: Path) -> None:
    world = World(5)
    boxes = world.boxes(300)
    for name, array in BoxIndex.of(boxes).arrays().items():
        np.save(tmp_path / f"{name}.npy", array)
    mapped = {path.stem: np.load(path, mmap_mode="r") for path in tmp_path.iterdir()}
    check_pairs(BoxIndex.from_arrays(mapped), scanned(boxes), world.box())


@FEWER
@given(SEEDS)
def test_other_labels_in_the_same_order_change_no_answer(seed: int) -> None:
    world = World(seed)
    boxes = world.boxes(120)
    index, known = BoxIndex.of(boxes), scanned(boxes)
    for number in range(0, 120, 3):
        index.remove(number)
        known.remove(number)
    axis = int(world.rng.integers(0, min(world.axes, 3)))
    old = np.unique(np.concatenate((boxes.lows, boxes.highs + 1, [0])))
    old = old[(old > LOWEST) & (old <= HIGHEST)]
    new = np.sort(world.rng.choice(10**6, len(old), replace=False)).astype(np.int64)
    index.relabel(axis, old, new)
    known.relabel(axis, old, new)
    for _ in range(5):
        check_pairs(index, known, world.box())
    check_group(index, known, small(world))


@given(SEEDS)
def test_boxes_come_back_as_they_were(seed: int) -> None:
    world = World(seed)
    boxes = world.boxes(100)
    index = BoxIndex.of(boxes)
    numbers = world.rng.permutation(100)[:30]
    back = index.boxes(numbers)
    wanted = scanned(boxes)
    for number, (axes, lows, highs) in zip(numbers.tolist(), back, strict=True):
        own_axes, own_lows, own_highs = wanted[number]
        is_side = (own_lows > LOWEST) | (own_highs < HIGHEST)  # sides that say nothing are not kept
        assert axes.tolist() == own_axes[is_side].tolist()
        assert lows.tolist() == own_lows[is_side].tolist()
        assert highs.tolist() == own_highs[is_side].tolist()


# --- groups -----------------------------------------------------------------------------------------------------------


@given(SEEDS)
def test_what_boxes_cover_together_is_proved_and_what_not_has_a_witness(seed: int) -> None:
    world = World(seed)
    boxes = world.boxes(int(world.rng.choice([0, 3, 12, 90, 300])))
    index, known = BoxIndex.of(boxes), scanned(boxes)
    for _ in range(6):
        before = int(world.rng.integers(0, len(boxes) + 1)) if world.rng.random() < 0.5 else None
        check_group(index, known, small(world), before)


@given(questions(max_axes=3, max_rows=12))
def test_dense_boxes_are_decided_as_by_every_cell(question: Question) -> None:
    low, high, lows, highs = question
    verdict = BoxIndex.of(Boxes.of(lows, highs)).decide(np.arange(len(low)), low, high, budget=math.inf)
    assert verdict.covered == grid(*question).covered
    if verdict.covered:
        assert proves(*question, verdict.used)


@FEWER
@given(SEEDS)
def test_many_are_decided_as_one_by_one(seed: int) -> None:
    world = World(seed)
    boxes, asked = world.boxes(120), together([small(world) for _ in range(40)])
    index = BoxIndex.of(boxes)
    before = world.rng.integers(0, 130, 40)
    answers = index.decide_many(asked, before=before, budget=math.inf)
    pairs = index.decide_many(asked, before=before, pairwise_only=True)
    for each, box in enumerate(asked):
        verdict = index.decide(*box, before=int(before[each]), budget=math.inf)
        assert answers.codes[each] == int(verdict.covered is True)
        used = answers.used[answers.used_at[each] : answers.used_at[each + 1]]
        assert tuple(sorted(used.tolist())) == verdict.used
        assert (answers.rounds[each], answers.nodes[each]) == (verdict.work.rounds, verdict.work.nodes)
        assert pairs.codes[each] == int(index.find_container(*box, before=int(before[each])) >= 0)


@pytest.mark.slow
@FEWER
@given(SEEDS)
def test_a_stream_keeps_what_is_not_covered_by_what_was_kept(seed: int) -> None:
    world = World(seed)
    boxes = together([small(world) for _ in range(150)])
    is_pairwise = bool(world.rng.random() < 0.3)
    answers = (index := BoxIndex()).stream(boxes, budget=math.inf, pairwise_only=is_pairwise)
    known, same = ScannedBoxes(), BoxIndex()
    for number, box in enumerate(boxes):
        used = answers.used[answers.used_at[number] : answers.used_at[number + 1]].tolist()
        if is_pairwise:
            is_covered = len(known.containing(*box)) > 0
        else:
            is_covered = bool(same.decide(*box, budget=math.inf).covered)
        assert answers.codes[number] == is_covered
        if is_covered:
            assert subtraction(*known.chosen(used).question(*box)).covered
        else:
            known.add(number, *box)
            same.add(number, *box)
    assert len(index) == len(known)
    check_pairs(index, known, world.box())


def test_two_halves_cover_what_neither_contains() -> None:
    index = BoxIndex()
    index.add(4, [1], [0], [5])
    index.add(7, [1], [6], [9])
    verdict = index.decide([1, 2], [3, 0], [8, 100])
    assert verdict.covered
    assert verdict.used == (4, 7)
    assert verdict.decided_by == "branch_and_bound"
    assert index.decide([1], [3], [4]).decided_by == "pairwise"


def test_a_value_and_its_absence_cover_what_says_nothing_of_it() -> None:
    index = BoxIndex()
    index.add(0, [0, 3], [1, LOWEST + 1], [1, HIGHEST])  # a = 1 and exists(x)
    assert index.decide([0], [1], [1]).covered is False
    index.add(1, [0, 3], [1, LOWEST], [1, LOWEST])  # a = 1 and x is missing
    assert index.decide([0], [1], [1]).used == (0, 1)


def test_a_witness_lies_at_the_lowest_label_where_nobody_says_anything() -> None:
    index = BoxIndex()
    index.add(0, [5], [10], [20])
    verdict = index.decide([900_000], [7], [8])
    assert verdict.covered is False
    assert verdict.witness is not None
    assert dict(zip(verdict.witness[0].tolist(), verdict.witness[1].tolist(), strict=True)) == {900_000: 7}


def test_an_empty_index_covers_nothing() -> None:
    index = BoxIndex()
    assert index.find_container([0], [1], [2]) == -1
    assert index.find_meeting([], [], []).tolist() == []
    assert index.decide([0], [1], [2]).decided_by == "empty"
    assert index.decide([], [], []).covered is False


def test_a_whole_box_covers_everything() -> None:
    index = BoxIndex()
    index.add(3, [], [], [])
    assert index.find_container([], [], []) == 3
    assert index.find_container([9], [1], [1]) == 3
    assert index.find_inside([], [], []).tolist() == [3]
    assert index.find_inside([9], [1], [HIGHEST]).tolist() == []


def test_a_budget_that_is_not_enough_proves_nothing() -> None:
    rng = np.random.default_rng(3)
    lows = rng.integers(0, 40, (3_000, 4))
    highs = lows + rng.integers(5, 25, (3_000, 4))
    index = BoxIndex.of(Boxes.of(lows, highs))
    box = [0, 1, 2, 3], [12] * 4, [40] * 4
    verdict = index.decide(*box, budget=3)
    assert verdict.covered is None
    assert not verdict.certain
    assert verdict.decided_by == "budget"
    assert index.decide(*box, budget=math.inf).covered is not None


def test_proofs_and_small_sets_grow_as_needed() -> None:
    """A thousand tiles are all needed, of boxes that each bring an axis of their own."""
    index = BoxIndex()
    for number in range(1_000):
        index.add(number, [0], [10 * number], [10 * number + 9])
    assert index.decide([0], [0], [9_999], budget=math.inf).used == tuple(range(1_000))
    many = index.decide_many(
        together([(np.array([0]), np.array([0]), np.array([9_999]))] * 2), budget=math.inf
    )
    assert sorted(many.used.tolist()) == sorted([*range(1_000)] * 2)
    assert many.used_at.tolist() == [0, 1_000, 2_000]
    others = BoxIndex()
    for axis in range(1, 90):
        others.add(axis, [0, axis], [axis, LOWEST], [axis, LOWEST])
    assert others.decide([0], [1], [89], budget=math.inf).covered is False


@pytest.mark.slow
def test_a_hundred_thousand_axes_are_no_burden() -> None:
    rng = np.random.default_rng(1)
    boxes = []
    for _ in range(10_000):
        axes = np.unique(rng.integers(0, 100_000, 4))
        lows = rng.integers(0, 100, len(axes))
        boxes.append((axes, lows, lows + rng.integers(0, 100, len(axes))))
    both = together(boxes)
    streamed, built = BoxIndex(), BoxIndex.of(both)
    answers = streamed.stream(both)
    assert (answers.codes != 1).sum() == len(streamed)
    for number in rng.integers(0, 10_000, 200).tolist():
        axes, lows, highs = boxes[number]
        found = built.find_container(axes, lows, highs)
        chosen = built.boxes([found])
        assert set(chosen.axes.tolist()) <= set(axes.tolist())
