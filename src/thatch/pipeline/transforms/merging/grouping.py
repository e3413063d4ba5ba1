"""Who is merged with whom: each row chooses one of its tails, the one that most rows share.

The largest group takes all its rows, and those that are left choose again among themselves, until nobody shares a tail
any more. It hangs on the set of rows alone, not on their order or on who holds them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from thatch.reduction.boxes import Ints

__all__ = ["chosen_tails", "reference_tails"]

_ROUNDS = 32  # what is left then stays alone


def chosen_tails(owners: Ints, tails: Ints, count: int) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """The tail that each of `count` rows chooses, and whether it has company there.

    Parameters
    ----------
    owners, tails : of each tail of each row: the row, from 0, and its number
    """
    numbers, named = np.unique(tails, return_inverse=True)
    choice = np.zeros(count, np.int64)
    is_grouped = np.zeros(count, np.bool_)
    for _ in range(_ROUNDS):
        sizes = np.bincount(named, minlength=len(numbers))
        is_shared = sizes[named] > 1
        owners, named = owners[is_shared], named[is_shared]
        if not len(owners):
            break
        # Row by row, the tail that most share comes last, of equals that with the least number.
        order = np.lexsort((-named, sizes[named], owners))
        last = np.append(np.flatnonzero(np.diff(owners[order])), len(order) - 1)
        row, tail = owners[order][last], named[order][last]
        together = np.bincount(tail, minlength=len(numbers))[tail] > 1
        choice[row[together]] = numbers[tail[together]]
        is_grouped[row[together]] = True
        is_left = ~is_grouped[owners]
        owners, named = owners[is_left], named[is_left]
    return choice, is_grouped


def reference_tails(tails: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """The same by its definition, as sets of rows that shrink; rows that stay alone are left out."""
    chosen: dict[int, int] = {}
    for _ in range(_ROUNDS):
        left = {row: own for row, own in tails.items() if row not in chosen}
        rows_of: dict[int, list[int]] = {}
        for row, own in left.items():
            for tail in own:
                rows_of.setdefault(tail, []).append(row)
        wanted: dict[int, list[int]] = {}
        for row, own in left.items():
            if own:
                best = min(own, key=lambda tail: (-len(rows_of[tail]), tail))
                if len(rows_of[best]) > 1:
                    wanted.setdefault(best, []).append(row)
        for tail, rows in wanted.items():
            if len(rows) > 1:
                chosen.update(dict.fromkeys(rows, tail))
    return chosen
