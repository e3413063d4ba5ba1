"""Subscriptions like those of li2005: one predicate on top of a tail from a pool, or every predicate by itself.

Twenty attributes, in the order from the top of diagrams to their bottom; values are whole numbers from 0. Sets A and B
were fitted to the sizes that the paper tells after covering; of its workload it tells little else.
They are not those of `thatch.workloads.li2005`, of whose set A with tails of `=` 27.4 % are left: the goal is 24 ± 3 %.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

import thatch
from thatch.reduction.boxes import Boxes
from thatch.workloads import Intervals

__all__ = ["NAMES", "SETS", "Subscriptions"]

Ints = np.ndarray[Any, Any]

_ATTRIBUTES = 20
_UPPER = 10  # attributes of topmost predicates
NAMES = tuple(f"a{number:02}" for number in range(_ATTRIBUTES))
_LESS, _AT_MOST, _EQUAL, _AT_LEAST, _GREATER = range(5)
_SIGNS = ("<", "<=", "=", ">=", ">")


@dataclass(frozen=True, kw_only=True)
class Subscriptions:
    """Predicates, those of a subscription one after the other with attributes that rise."""

    values: int
    offsets: Ints
    attribute: Ints
    operator: Ints
    value: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def filters(self, rows: Ints) -> list[thatch.Filter]:
        """Some subscriptions as filters of a schema."""
        schema = thatch.Schema({name: thatch.Integer(0, self.values - 1) for name in NAMES})
        columns = (self.attribute.tolist(), self.operator.tolist(), self.value.tolist())
        told = [f"{NAMES[key]} {_SIGNS[by]} {value}" for key, by, value in zip(*columns, strict=True)]
        ends = list(pairwise(self.offsets.tolist()))
        texts = (" and ".join(told[slice(*ends[row])]) for row in rows.tolist())
        return [thatch.parse(text, schema=schema) for text in texts]

    def publications(self, rng: np.random.Generator, count: int) -> Ints:
        """A row for each, with a value of every attribute."""
        return rng.integers(0, self.values, (count, _ATTRIBUTES))

    @property
    def ends(self) -> tuple[Ints, Ints]:
        """The least and the greatest value of every predicate."""
        is_upper = [self.operator == each for each in (_EQUAL, _AT_LEAST, _GREATER)]
        is_lower = [self.operator == each for each in (_EQUAL, _AT_MOST, _LESS)]
        low = np.select(is_upper, [self.value, self.value, self.value + 1], 0)
        return low, np.select(is_lower, [self.value, self.value, self.value - 1], self.values - 1)

    @property
    def boxes(self) -> Boxes:
        """Axis 0 is the attribute at the bottom."""
        low, high = self.ends
        start = np.repeat(self.offsets[:-1], np.diff(self.offsets))
        end = np.repeat(self.offsets[1:], np.diff(self.offsets))
        backwards = start + end - 1 - np.arange(len(start))
        axes = (_ATTRIBUTES - 1 - self.attribute[backwards]).astype(np.int32)
        return Boxes(self.offsets, axes, low[backwards], high[backwards])

    def intervals(self, rows: Ints) -> Intervals:
        """Some subscriptions, for scans."""
        low, high = self.ends
        counts = np.diff(self.offsets)[rows]
        offsets = np.concatenate(([0], np.cumsum(counts)))
        at = np.arange(offsets[-1]) + np.repeat(self.offsets[rows] - offsets[:-1], counts)
        sides = (each[at].astype(np.float64) for each in (low, high))
        return Intervals(
            offsets=offsets,
            attribute=self.attribute[at].astype(np.int32),
            **dict(zip(("low", "high"), sides, strict=True)),
        )


def _templates(
    rng: np.random.Generator, count: int, *, values: int, tails: int, size: int, equal: float
) -> Subscriptions:
    below = rng.permuted(np.tile(np.arange(_UPPER, _ATTRIBUTES), (tails, 1)), axis=1)[:, :size]
    pool = np.sort(below, axis=1), rng.integers(0, values, (tails, size))
    which = rng.integers(0, tails, count)
    operator, value = _compared(rng, count, values, equal)
    operators = np.full((count, size + 1), _EQUAL)
    operators[:, 0] = operator
    return Subscriptions(
        values=values,
        offsets=np.arange(count + 1) * (size + 1),
        attribute=np.column_stack((rng.integers(0, _UPPER, count), pool[0][which])).ravel(),
        operator=operators.ravel(),
        value=np.column_stack((value, pool[1][which])).ravel(),
    )


def _independent(rng: np.random.Generator, count: int, *, values: int, equal: float) -> Subscriptions:
    size = rng.integers(3, 6, count)
    chance = rng.random((count, _ATTRIBUTES))
    is_chosen = chance <= np.take_along_axis(np.sort(chance, axis=1), size[:, None] - 1, axis=1)
    attribute = np.broadcast_to(np.arange(_ATTRIBUTES), chance.shape)[is_chosen]
    operator, value = _compared(rng, len(attribute), values, equal)
    offsets = np.concatenate(([0], np.cumsum(size)))
    return Subscriptions(values=values, offsets=offsets, attribute=attribute, operator=operator, value=value)


def _compared(rng: np.random.Generator, count: int, values: int, equal: float) -> tuple[Ints, Ints]:
    """Operators and values; none that nothing satisfies."""
    rest = (1 - equal) / 4
    operator = rng.choice(5, count, p=[rest, rest, equal, rest, rest])
    value = rng.integers(0, values, count)
    value[(operator == _LESS) & (value == 0)] = 1
    value[(operator == _GREATER) & (value == values - 1)] = values - 2
    return operator, value


SETS: dict[str, Callable[[np.random.Generator, int], Subscriptions]] = {
    "A": lambda rng, count: _templates(rng, count, values=30, tails=3_000, size=2, equal=0.05),
    "B": lambda rng, count: _templates(rng, count, values=80, tails=6_500, size=3, equal=0.45),
    "A, independent": lambda rng, count: _independent(rng, count, values=20, equal=0.3),
    "B, independent": lambda rng, count: _independent(rng, count, values=50, equal=0.7),
}
