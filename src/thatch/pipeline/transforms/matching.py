"""Who would have received what: the public `match`, and which physical plan does it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from thatch.engine import Engine
from thatch.engine.subscriptions import Moment, seconds
from thatch.errors import SparkError, shown
from thatch.model.schema import Schema
from thatch.pipeline.indexes import Index, indexed
from thatch.pipeline.schemas import EVENT, SUBSCRIPTION
from thatch.pipeline.transforms import mapped, partitioned
from thatch.pipeline.transforms.events import Reading, prepared

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["MOST_MAPPED", "match"]

Give = Literal["pairs", "places", "counts", "hours"]
Plan = Literal["auto", "mapped", "partitioned"]

# Subscriptions up to which one index is built by the driver and mapped by every worker: about 2 GB of file.
MOST_MAPPED = 10_000_000


def match(  # noqa: PLR0913 - the questions that can be asked of a log
    events: DataFrame,
    subscriptions: DataFrame | Engine | Index | str | Path,
    *,
    give: Give = "pairs",
    event: str | None = None,
    json: str | None = None,
    nulls: Literal["missing", "null"] = "missing",
    time: str | None = None,
    now: Moment | None = None,
    schema: Schema | None = None,
    plan: Plan = "auto",
    bad: Literal["raise", "skip"] = "raise",
) -> DataFrame:
    """Who would have received which event of a log.

    Parameters
    ----------
    events : a column per attribute (structs are nested objects), or one column of JSON texts
    subscriptions : a table with `subscription`, `filter` and perhaps `subscriber` and `expires`; an engine; or the path
        of a saved one
    give : "pairs" (`event`, `subscription`); "places" (`event`, `places`, a list of numbers in the index, which
        `Engine.ids` names; the quickest, and an event may have several rows); "counts" (`subscription`, `events`, those
        that got none included); "hours" (`subscriber`, `hour`, `events`: each event once a subscriber, who is the
        subscription's id where there is no subscriber)
    event : the column that names events, which is no attribute then; by default they are numbered by Spark
    json : the column that holds each event as JSON text, which keeps null and missing apart
    nulls : whether null in a column means that the attribute is missing, or null
    time : for "hours", the column (or with `json` the dotted path) with the time of an event
    now : leave out what has expired by this moment
    schema : declared types, for a table of subscriptions
    plan : "mapped" builds one index that every worker maps; "partitioned" splits the subscriptions too, for sets that
        no machine should hold; "auto" chooses by their number
    bad : what to do with rows that are no events

    Examples
    --------
    ::

        spark = thatch.pipeline.session()
        log = spark.read.parquet("quotes.parquet")
        alerts = spark.read.parquet("alerts.parquet")
        thatch.pipeline.match(log, alerts, give="counts").orderBy("events").show()
    """
    for value, known in ((give, Give), (plan, Plan), (bad, Literal["raise", "skip"])):
        if value not in known.__args__:  # type: ignore[attr-defined]
            raise SparkError(f"one of {', '.join(known.__args__)}", shown(value))  # type: ignore[attr-defined]
    if (give == "hours") != (time is not None):
        raise SparkError("`time` with give='hours', and only there", f"time={time!r} with give={give!r}")
    reading = Reading(json=json, nulls=nulls, skips=bad == "skip")
    when = None if now is None else seconds(now, "now")
    log = prepared(events, reading, event=event, time=time)
    if _is_partitioned(plan, subscriptions):
        shards = partitioned.sharded(_table(subscriptions), schema)
        return _of_shards(give)(log, shards, reading, when)
    if isinstance(subscriptions, Index):
        index = subscriptions
    else:
        index = indexed(log.sparkSession, subscriptions, schema)
    return _MAPPED[give](log, index, reading, when)


_MAPPED = {
    "pairs": mapped.pairs,
    "places": mapped.places,
    "counts": mapped.counts,
    "hours": mapped.hours,
}


def _of_shards(give: Give) -> Callable[..., DataFrame]:
    if give == "places":
        raise SparkError(
            "plan='mapped' with give='places', which are numbers in one index", "plan='partitioned'"
        )
    return {"pairs": _named_pairs, "counts": partitioned.counts, "hours": partitioned.hours}[give]


def _named_pairs(
    log: DataFrame, shards: partitioned.Shards, reading: Reading, now: float | None
) -> DataFrame:
    return partitioned.pairs(log, shards, reading, now).select(EVENT, SUBSCRIPTION)


def _is_partitioned(plan: Plan, subscriptions: object) -> bool:
    if isinstance(subscriptions, (Engine, Index, str, Path)):
        if plan == "partitioned":
            raise SparkError("a table of subscriptions for plan='partitioned'", "an index")
        return False
    return plan == "partitioned" or (plan == "auto" and _table(subscriptions).count() > MOST_MAPPED)


def _table(subscriptions: object) -> DataFrame:
    return cast("DataFrame", subscriptions)
