"""Subscriptions of one predicate on top of a tail from a pool, which is what leaves something to merge (paper L, section 6)."""

from __future__ import annotations

import numpy as np

import thatch

__all__ = ["ATTRIBUTES", "SCHEMA", "VALUES", "events", "filters"]

ATTRIBUTES = 20
VALUES = 34  # of every attribute, so that there are about 2,000 distinct predicates, as in the paper's set A
SCHEMA = thatch.Schema({f"a{number}": thatch.Integer(0, VALUES - 1) for number in range(ATTRIBUTES)})
_TAILS_IN_1000 = 16  # of the subscriptions
_OPERATORS = ("<", "<=", ">=", ">", "=")
_SHARES = (0.175, 0.175, 0.175, 0.175, 0.3)


def filters(count: int, seed: int) -> list[thatch.Filter]:
    """So many subscriptions: a tail of three comparisons on the lower attributes, one predicate on an upper one."""
    rng = np.random.default_rng(seed)
    tails = [_tail(rng) for _ in range(max(1, count * _TAILS_IN_1000 // 1_000))]
    chosen = rng.integers(0, len(tails), count).tolist()
    attribute = rng.integers(0, ATTRIBUTES // 2, count).tolist()
    operator = rng.choice(_OPERATORS, count, p=_SHARES).tolist()
    value = rng.integers(1, VALUES - 1, count).tolist()
    texts = zip(attribute, operator, value, chosen, strict=True)
    return [
        thatch.parse(f"a{key} {by} {than} and {tails[tail]}", schema=SCHEMA) for key, by, than, tail in texts
    ]


def events(count: int, seed: int) -> list[dict[str, int]]:
    """Events with all attributes, values spread evenly."""
    drawn = np.random.default_rng(seed).integers(0, VALUES, (count, ATTRIBUTES))
    return [dict(zip(SCHEMA, row, strict=True)) for row in drawn.tolist()]


def _tail(rng: np.random.Generator) -> str:
    keys = rng.choice(np.arange(ATTRIBUTES // 2, ATTRIBUTES), 3, replace=False).tolist()
    return " and ".join(
        f"a{key} <= {rng.integers(VALUES // 2, VALUES - 1)}"
        if rng.random() < 0.5
        else f"a{key} >= {rng.integers(1, VALUES // 2)}"
        for key in sorted(keys)
    )
