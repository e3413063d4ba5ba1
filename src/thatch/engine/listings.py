"""What an engine holds, listed as tables."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from thatch.engine.register import NEVER, Register
from thatch.matching.growing import GrowingIndex

__all__ = ["SUBSCRIPTIONS", "subscriptions_table", "tallies_table"]

SUBSCRIPTIONS = pa.schema(
    [
        pa.field("subscription", pa.string(), nullable=False),
        pa.field("subscriber", pa.string()),
        pa.field("filter", pa.string(), nullable=False),
        pa.field("expires", pa.float64()),
    ]
)
_TALLIES = pa.schema(
    [
        pa.field("subscription", pa.string()),
        pa.field("candidates", pa.int64()),
        pa.field("matches", pa.int64()),
    ]
)


def subscriptions_table(index: GrowingIndex, register: Register) -> pa.Table:
    """All subscriptions in order; the caller holds the lock."""
    places = register.taken()
    expiry = register.expiry(places)
    columns = [
        pa.array(register.names(places), pa.string()),
        pa.array(register.subscribers(places), pa.string()),
        pa.array([str(index.filter(place)) for place in places.tolist()], pa.string()),
        pa.array(expiry, pa.float64(), mask=expiry == NEVER),
    ]
    return pa.Table.from_arrays(columns, schema=SUBSCRIPTIONS)


def tallies_table(index: GrowingIndex, register: Register) -> pa.Table:
    """Candidates and matches of each subscription in order; the caller holds the lock."""
    places, segments = register.taken(), index.segments
    counted = np.zeros((register.places, 2), np.int64) if segments is None else segments.tallies()
    names = pa.array(register.names(places), pa.string())
    columns = [names, pa.array(counted[places, 0]), pa.array(counted[places, 1])]
    return pa.Table.from_arrays(columns, schema=_TALLIES)
