"""Perfect mergers of three or more filters, no two of which have one: proved by the exact checker (beyond paper L).

Five boxes may lie around and in each other like the blades of a windmill: together they fill a box, and no two of them
do. Candidates are boxes around a row and one or two others that differ in two attributes only; the parts are all rows of
the same tail that lie in such a box. If by their measure they could fill it, the exact checker says whether they do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from math import prod

from thatch.model.lines import EMPTY, Constraint, covers
from thatch.reduction.forwarding.partners import Keys, Sides
from thatch.reduction.merging import Density

__all__ = ["groups_around"]

_FEWEST = 3  # rows of a group; two are merged by the rules
_NEAR = 4  # rows of a tail on each side with which a box is tried
_ROUNDING = 1e-9


def groups_around(
    row: int, keys: Keys, shelf: Sequence[tuple[Sides, int]], density: Density
) -> Iterator[tuple[Sides, tuple[int, ...]]]:
    """Boxes around a row and others, as what they hold on two attributes, each with the rows in it that may fill it.

    Parameters
    ----------
    keys : the two attributes
    shelf : all rows that differ in these only, with what they hold on them, rising
    """
    at = next(place for place, (_, each) in enumerate(shelf) if each == row)
    near = [sides for sides, each in shelf[max(at - _NEAR, 0) : at + _NEAR + 1] if each != row]
    tried = set()
    for others in chain(combinations(near, 1), combinations(near, 2)):
        box = tuple(_hull(sides) for sides in zip(shelf[at][0], *others, strict=True))
        if box in tried or () in box:
            continue
        tried.add(box)
        inside = [
            each for each in shelf if all(covers(side, part) for side, part in zip(box, each[0], strict=True))
        ]
        filled = sum(prod(map(density.probability, keys, sides)) for sides, _ in inside)
        if len(inside) >= _FEWEST and filled >= prod(map(density.probability, keys, box)) - _ROUNDING:
            yield box, tuple(part for _, part in inside)


def _hull(constraints: Sequence[Constraint]) -> Constraint:
    """The interval around several of the same type, empty if there is no such."""
    if any(len(each) != 2 for each in constraints):
        return EMPTY
    lows, highs = zip(*constraints, strict=True)
    is_one_type = len({low[0] for low in lows}) == len({high[0] for high in highs}) == 1
    return (min(lows), max(highs)) if is_one_type else EMPTY
