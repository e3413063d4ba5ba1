"""Random boxes for the tests of this room."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from tests.examples import examples
from thatch.reduction.boxes import HIGHEST, LOWEST, Ints

__all__ = ["FEWER", "Question", "many_axes", "questions", "random_questions", "tiny_questions"]

FEWER = examples(max(20, settings.default.max_examples // 5))  # for examples that are large in themselves


class Question(NamedTuple):
    """Is the box `low` .. `high` inside the union of the rows `lows` .. `highs`?"""

    low: Ints
    high: Ints
    lows: Ints
    highs: Ints


# Places on an axis that ends are drawn from: neighbours, far apart, at either end of the axis, and all of that.
_PLACES = [
    list(range(7)),
    [-100, -7, 0, 1, 50, 10**6],
    [LOWEST, LOWEST + 1, LOWEST + 2, LOWEST + 5],
    [HIGHEST - 5, HIGHEST - 2, HIGHEST - 1, HIGHEST],
    [LOWEST, LOWEST + 1, -1, 0, 1, HIGHEST - 1, HIGHEST],
]


@st.composite
def questions(draw: Any, max_axes: int = 3, max_rows: int = 8, whole: float = 0.25) -> Question:
    """Any labels, few of them on each axis; a row says nothing of an axis with the probability `whole`."""
    axes = draw(st.integers(1, max_axes))
    rows = draw(st.integers(0, max_rows))
    places = [draw(st.sampled_from(_PLACES)) for _ in range(axes)]
    seed = draw(st.integers(0, 2**32 - 1))
    return _drawn(np.random.default_rng(seed), rows, places, whole)


def tiny_questions(max_axes: int = 3, max_rows: int = 6) -> st.SearchStrategy[Question]:
    """Boxes of so few points that each can be looked at, and with a life of their own when they shrink."""

    def of(axes: int) -> st.SearchStrategy[Question]:
        ends = st.tuples(st.integers(0, 3), st.integers(0, 3)).map(sorted)
        box = st.lists(ends, min_size=axes, max_size=axes)
        return st.tuples(box, st.lists(box, max_size=max_rows)).map(lambda pair: _question(*pair, axes))

    return st.integers(1, max_axes).flatmap(of)


@st.composite
def many_axes(draw: Any, min_axes: int = 5, max_axes: int = 12, max_rows: int = 10) -> Question:
    """Rows that say something of a few axes only, as real subscriptions do."""
    axes = draw(st.integers(min_axes, max_axes))
    rows = draw(st.integers(0, max_rows))
    seed = draw(st.integers(0, 2**32 - 1))
    return _drawn(np.random.default_rng(seed), rows, [list(range(5))] * axes, 1 - 1.6 / axes)


def random_questions(
    rng: np.random.Generator, count: int, axes: int, rows: int, size: int
) -> tuple[Ints, Ints, Ints, Ints]:
    """Many questions of one shape at once, with labels below `size`; lows and highs have a plane for each."""
    low, high = _ends(rng, (count, axes), size, narrow=0.3)
    lows, highs = _ends(rng, (count, rows, axes), size, narrow=0.0)
    wide = rng.random((count, rows, axes))
    share = rng.random((count, 1, 1)) * 0.7
    lows = np.where(wide < share, 0, lows)
    highs = np.where(wide > 1 - share, size - 1, highs)
    return low, high, lows, highs


def _ends(rng: np.random.Generator, shape: tuple[int, ...], size: int, narrow: float) -> tuple[Ints, Ints]:
    """Two ends for each place of an array; whole ones but for the share `narrow`, if that is not 0."""
    one, other = rng.integers(0, size, shape), rng.integers(0, size, shape)
    low, high = np.minimum(one, other), np.maximum(one, other)
    if narrow:
        is_whole = rng.random(shape) > narrow
        low, high = np.where(is_whole, 0, low), np.where(is_whole, size - 1, high)
    return low, high


def _drawn(rng: np.random.Generator, rows: int, places: list[list[int]], whole: float) -> Question:
    boxes = np.empty((2, rows + 1, len(places)), np.int64)
    for axis, labels in enumerate(places):
        boxes[:, :, axis] = np.sort(rng.choice(np.array(labels), (2, rows + 1)), axis=0)
    is_whole = rng.random((rows + 1, len(places))) < whole
    boxes[0][is_whole] = LOWEST
    boxes[1][is_whole] = HIGHEST
    if rng.random() < 0.7:  # a box that many rows meet
        boxes[0, 0] = [labels[0] for labels in places]
        boxes[1, 0] = [labels[-1] for labels in places]
    return Question(boxes[0, 0].copy(), boxes[1, 0].copy(), boxes[0, 1:].copy(), boxes[1, 1:].copy())


def _question(box: list[list[int]], rows: list[list[list[int]]], axes: int) -> Question:
    one = np.array(box, np.int64).reshape(axes, 2)
    many = np.array(rows, np.int64).reshape(len(rows), axes, 2)
    low, high, lows, highs = one[:, 0], one[:, 1], many[..., 0], many[..., 1]
    return Question(low.copy(), high.copy(), np.ascontiguousarray(lows), np.ascontiguousarray(highs))
