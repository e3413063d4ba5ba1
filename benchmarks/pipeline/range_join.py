"""What people write in Spark's SQL today: a join on bounds, attribute by attribute."""

from __future__ import annotations

from functools import reduce
from typing import Any

__all__ = ["range_join"]


def range_join(events: Any, bounds: Any, names: list[str]) -> Any:
    """Pairs of events and boxes. A side without bounds is null in both, an event without the attribute null there."""
    from pyspark.sql import functions as f

    def holds(name: str) -> Any:
        value, low, high = (f.col(f"`{column}`") for column in (name, f"low {name}", f"high {name}"))
        return low.isNull() | ((value >= low) & (value <= high))

    condition = reduce(lambda one, other: one & other, map(holds, names))
    spread = events.repartition(8)  # or a small file is one task
    numbered = spread.withColumn("event", f.monotonically_increasing_id())
    return numbered.join(f.broadcast(bounds), condition).select("event", "subscription")
