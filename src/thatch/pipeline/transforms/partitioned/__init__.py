"""Plan (b): subscriptions are partitioned too, and an event visits only the shards that may want it.

In reading order: `splitting` (which subscription belongs to which shard), `summaries` (what a shard holds, in a few
boxes), `shards` (indexes as rows), `routing` (events to shards), `visiting` (matching there).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from thatch.pipeline.schemas import EVENT, EVENTS, HOUR, SUBSCRIBER, SUBSCRIPTION
from thatch.pipeline.transforms.events import HOURS, KEY, Reading
from thatch.pipeline.transforms.partitioned.routing import slots_of
from thatch.pipeline.transforms.partitioned.shards import Shards, sharded
from thatch.pipeline.transforms.partitioned.visiting import visited_counts, visited_pairs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Shards", "counts", "hours", "pairs", "sharded"]


def pairs(log: DataFrame, shards: Shards, reading: Reading, now: float | None = None) -> DataFrame:
    """Who wants which event: `event`, `subscription`, `subscriber`.

    Parameters
    ----------
    log : events as `prepared` gives them
    now : leave out what has expired by this moment
    """
    return visited_pairs(log, shards, slots_of(log, shards, reading), reading, now)


def counts(log: DataFrame, shards: Shards, reading: Reading, now: float | None = None) -> DataFrame:
    """How many events each subscription gets, also none: `subscription`, `events`."""
    return visited_counts(log, shards, slots_of(log, shards, reading), reading, now)


def hours(log: DataFrame, shards: Shards, reading: Reading, now: float | None = None) -> DataFrame:
    """How many events each subscriber gets in each hour: `subscriber`, `hour`, `events`.

    An event that a subscriber wants for subscriptions in several shards is one delivery, so pairs are shuffled.
    """
    from pyspark.sql import functions as f

    key = f.struct(f.col(f"`{KEY}`").alias(EVENT), f.col(f"`{HOURS}`").alias(HOUR))
    found = pairs(log.withColumn(KEY, key).drop(HOURS), shards, reading, now)
    deliveries = found.select(
        f.coalesce(SUBSCRIBER, SUBSCRIPTION).alias(SUBSCRIBER), f"{EVENT}.{EVENT}", f"{EVENT}.{HOUR}"
    ).dropDuplicates()
    hour = f.timestamp_seconds(f.col(HOUR).cast("bigint") * 3_600).alias(HOUR)
    return (
        deliveries.groupBy(SUBSCRIBER, HOUR).agg(f.count("*").alias(EVENTS)).select(SUBSCRIBER, hour, EVENTS)
    )
