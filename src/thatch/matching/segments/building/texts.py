"""Sorting texts by their bytes, which is the order of their characters, without looking at them one by one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from thatch.matching.segments.kernels.building import text_keys
from thatch.matching.segments.sides import Texts

__all__ = ["sorted_distinct"]


def sorted_distinct(texts: Texts) -> tuple[Texts, npt.NDArray[np.int64]]:
    """The distinct texts in order, and for each text its position among them.

    Eight bytes are compared at a time; texts that are equal so far are sorted further by the next eight.
    """
    order = np.arange(len(texts))
    run = np.zeros(len(texts), np.int64)  # texts equal so far share the position of the first of them
    open_positions = np.arange(len(texts))
    skipped = 0
    while len(open_positions):
        items = order[open_positions]
        starts, ends = texts.offsets[:-1][items], texts.offsets[1:][items]
        keys = np.empty(len(items), np.uint64)
        text_keys(starts, ends, texts.blob, np.int64(skipped), keys)
        rest = np.minimum(ends - starts - skipped, 9)  # 9: the text goes on
        ranked = np.lexsort((rest, keys, run[items]))
        items, keys, rest, runs = items[ranked], keys[ranked], rest[ranked], run[items[ranked]]
        order[open_positions] = items
        is_new = np.ones(len(items), np.bool_)
        is_new[1:] = (runs[1:] != runs[:-1]) | (keys[1:] != keys[:-1]) | (rest[1:] != rest[:-1])
        run[items] = runs = np.maximum.accumulate(np.where(is_new, open_positions, 0))
        sizes = np.bincount(runs, minlength=len(texts))
        open_positions = open_positions[(sizes[runs] > 1) & (rest == 9)]
        skipped += 8
    firsts, position = np.unique(run, return_inverse=True)
    return texts.take(order[firsts]), position
