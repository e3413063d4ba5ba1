"""Random boxes for the tests of the index, and checks against a scan of all boxes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.reduction.references.index import ScannedBoxes
from tests.reduction.references.subsumption import subtraction
from thatch.reduction.boxes import HIGHEST, LOWEST, Boxes
from thatch.reduction.index import BoxIndex

SEEDS = st.integers(0, 2**32 - 1)
NOTHING = np.zeros(0, np.int64)


class World:
    """Boxes of one shape: how many axes there are, how many a box constrains, how many labels an axis has."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.axes = int(self.rng.choice([1, 2, 3, 6, 40, 3_000]))
        self.most = int(self.rng.integers(0, min(self.axes, 5) + 1))
        self.labels = int(self.rng.choice([2, 4, 12, 1_000]))
        self.stretch = int(self.rng.choice([1, 10**9, HIGHEST // self.labels]))
        self.width = float(self.rng.choice([0.1, 0.5, 1.0]))
        self.open = float(self.rng.choice([0.0, 0.3, 0.8]))

    def box(self) -> tuple[Any, Any, Any]:
        rng = self.rng
        axes = np.sort(rng.choice(self.axes, int(rng.integers(0, self.most + 1)), replace=False))
        lows = rng.integers(0, self.labels, len(axes))
        highs = np.minimum(
            lows + (rng.random(len(axes)) * self.width * self.labels).astype(np.int64), self.labels
        )
        lows, highs = lows * self.stretch, highs * self.stretch
        lows = np.where(rng.random(len(axes)) < self.open, LOWEST, lows)
        highs = np.where(rng.random(len(axes)) < self.open, HIGHEST, highs)
        return axes.astype(np.int32), lows, highs

    def boxes(self, count: int) -> Boxes:
        return together([self.box() for _ in range(count)])


def together(boxes: list[tuple[Any, Any, Any]]) -> Boxes:
    offsets = np.cumsum([0] + [len(each[0]) for each in boxes])
    columns = [
        np.concatenate([np.zeros(0, np.int64)] + [each[place] for each in boxes]) for place in range(3)
    ]
    return Boxes(offsets, columns[0].astype(np.int32), columns[1], columns[2])


def scanned(boxes: Boxes) -> ScannedBoxes:
    result = ScannedBoxes()
    for number, box in enumerate(boxes):
        result.add(number, *box)
    return result


def check_pairs(
    index: BoxIndex, known: ScannedBoxes, box: tuple[Any, Any, Any], before: int | None = None
) -> None:
    containing = known.containing(*box, before).tolist()
    found = index.find_container(*box, before=before)
    assert found in containing if containing else found == -1
    assert index.find_meeting(*box, before=before).tolist() == known.meeting(*box, before).tolist()
    assert index.find_inside(*box, before=before).tolist() == known.inside(*box, before).tolist()


def check_group(
    index: BoxIndex, known: ScannedBoxes, box: tuple[Any, Any, Any], before: int | None = None
) -> None:
    verdict = index.decide(*box, budget=math.inf, before=before)
    assert verdict.certain
    if verdict.covered:  # both answers are certified: no slow answer is needed
        assert before is None or all(each < before for each in verdict.used)
        proof = known.chosen(list(verdict.used))
        assert len(set(verdict.used)) == len(verdict.used)
        assert subtraction(*proof.question(*box)).covered
    else:
        assert verdict.witness is not None
        check_witness(verdict.witness, known, box, before)


def check_witness(point: Any, known: ScannedBoxes, box: tuple[Any, Any, Any], before: int | None) -> None:
    """On axes that the point says nothing of, it lies at the lowest label."""
    values = dict(zip(point[0].tolist(), point[1].tolist(), strict=True))

    def is_in(axes: Any, lows: Any, highs: Any) -> bool:
        sides = zip(axes.tolist(), lows.tolist(), highs.tolist(), strict=True)
        return all(low <= values.get(axis, LOWEST) <= high for axis, low, high in sides)

    assert point[0].tolist() == sorted(values)
    assert is_in(*box)
    assert not any(is_in(*each) for number, each in known if before is None or number < before)


def small(world: World) -> tuple[Any, Any, Any]:
    """A box that several others may cover together."""
    axes, lows, highs = world.box()
    return axes, lows, np.minimum(highs, lows + 2 * world.stretch)
