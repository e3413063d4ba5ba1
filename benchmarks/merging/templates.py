"""Set A of li2005 in any size: a pool of tails that grows with the number of subscriptions leaves as much to merge."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import thatch
from thatch.workloads.li2005 import NAMES, TEMPLATES, draw_publications, draw_subscriptions

__all__ = ["SCHEMA", "events", "filters"]

_SHAPE = TEMPLATES["A"]
_FITTED = 200_000  # subscriptions, for which its pool was
SCHEMA = thatch.Schema(dict.fromkeys(NAMES, thatch.Integer(0, _SHAPE.values - 1)))


def filters(count: int, seed: int) -> list[thatch.Filter]:
    """So many subscriptions: a tail of three comparisons on the lower attributes, one predicate on an upper one."""
    shape = replace(_SHAPE, tails=max(1, count * _SHAPE.tails // _FITTED))
    texts = draw_subscriptions(np.random.default_rng(seed), count, shape).texts()
    return [
        thatch.parse(text, schema=SCHEMA) for text in texts
    ]  # one schema: to compare two takes as long as to merge


def events(count: int, seed: int) -> list[dict[str, int]]:
    """Events with all attributes, values spread evenly."""
    rows = draw_publications(np.random.default_rng(seed), count, _SHAPE.values)
    return [dict(zip(NAMES, row, strict=True)) for row in rows.tolist()]
