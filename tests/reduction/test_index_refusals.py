"""What is no box, no number of one, no budget or no index is refused and changes nothing; kernels stay within bounds."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from tests.reduction.index_worlds import together
from thatch.errors import BoxError, ParameterError
from thatch.reduction.boxes import HIGHEST, LOWEST, Boxes
from thatch.reduction.index import BoxIndex

# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "box",
    [
        ([0], [2], [1]),
        ([0, 0], [1, 1], [2, 2]),
        ([1, 0], [1, 1], [2, 2]),
        ([-1], [1], [2]),
        ([1 << 22], [1], [2]),
        ([0.5], [1], [2]),
        ([0], [1, 2], [2, 3]),
        ([0], [1], [2, 3]),
        ([0], [0.5], [2]),
        ([0], [math.nan], [2]),
        ([0], [LOWEST - 1], [2]),
        ([0], [1], [HIGHEST + 1]),
        ([0], ["a"], ["b"]),
        (np.array([3, 1], np.int32), np.zeros(2, np.int64), np.zeros(2, np.int64)),
    ],
)
def test_what_is_no_box_is_refused_and_changes_nothing(box: Any) -> None:
    index = BoxIndex()
    index.add(1, [0], [0], [9])
    for ask in (
        index.find_container,
        index.find_meeting,
        index.find_inside,
        index.decide,
        lambda *sides: index.add(2, *sides),
    ):
        with pytest.raises(BoxError):
            ask(*box)
    assert len(index) == 1
    assert index.find_container([0], [1], [2]) == 1


def test_numbers_that_are_taken_unknown_or_negative_are_refused() -> None:
    index = BoxIndex()
    index.add(1, [0], [0], [9])
    for number in (1, -1, 1.5, "1", None):
        with pytest.raises(ParameterError):
            index.add(number, [0], [0], [5])  # type: ignore[arg-type] # wrong on purpose
    index.remove(1)
    with pytest.raises(ParameterError, match="number of a box"):
        index.remove(1)
    with pytest.raises(ParameterError):
        index.boxes([1])
    assert len(index) == 0
    boxes = together([(np.array([0]), np.array([0]), np.array([1]))] * 2)
    for numbers in ([0, 0], [-1, 0]):
        with pytest.raises(ParameterError):
            BoxIndex.of(boxes, np.array(numbers))
        with pytest.raises(ParameterError):
            BoxIndex().stream(boxes, np.array(numbers))
    for numbers in ([0], [0, 1, 2]):
        with pytest.raises(BoxError):
            BoxIndex.of(boxes, np.array(numbers))
        with pytest.raises(BoxError):
            BoxIndex().stream(boxes, np.array(numbers))
        with pytest.raises(BoxError):
            BoxIndex().decide_many(boxes, before=np.array(numbers))
    taken = BoxIndex.of(boxes)
    with pytest.raises(ParameterError):
        taken.stream(boxes)


@pytest.mark.parametrize("budget", [0, -1, 0.5, math.nan])
def test_a_budget_below_one_is_refused(budget: float) -> None:
    index = BoxIndex()
    with pytest.raises(ParameterError):
        index.decide([0], [1], [2], budget=budget)
    with pytest.raises(ParameterError):
        index.decide_many(together([]), budget=budget)
    with pytest.raises(ParameterError):
        index.stream(together([]), budget=budget)


def test_boxes_in_bulk_are_checked_too() -> None:
    wrong = Boxes(np.array([0, 1, 2]), np.array([0, 0], np.int32), np.array([0, 5]), np.array([1, 4]))
    for ask in (BoxIndex.of, BoxIndex().stream, BoxIndex().decide_many):
        with pytest.raises(BoxError, match="box 1"):
            ask(wrong)


def test_arrays_that_are_not_those_of_an_index_are_refused() -> None:
    arrays = BoxIndex().arrays()
    del arrays["rows"]
    with pytest.raises(ParameterError, match="rows"):
        BoxIndex.from_arrays(arrays)


def test_labels_that_do_not_fit_are_refused_and_change_nothing() -> None:
    index = BoxIndex()
    index.add(0, [0], [3], [8])
    for old, new in (([3, 9], [1]), ([9, 3], [1, 2]), ([3, 9], [2, 2]), ([3, 8], [1, 2])):
        with pytest.raises(ParameterError):
            index.relabel(0, np.array(old), np.array(new))
    assert index.find_container([0], [3], [8]) == 0


# --- the compiler switched off ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_kernels_run_as_plain_python_and_within_bounds() -> None:
    program = """
import math, numpy as np
from tests.reduction.index_worlds import World, check_group, check_pairs, scanned, small
from thatch.reduction.index import BoxIndex
for seed in range(6):
    world = World(seed)
    boxes = world.boxes(400)
    index, known = BoxIndex(), scanned(boxes)
    for number, box in enumerate(boxes):
        index.add(number, *box)
    for number in range(0, 400, 4):
        index.remove(number); known.remove(number)
    check_pairs(index, known, world.box())
    check_group(index, known, small(world))
    BoxIndex().stream(world.boxes(80), budget=math.inf)
    check_pairs(BoxIndex.of(boxes), scanned(boxes), world.box())
"""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment, timeout=400)
