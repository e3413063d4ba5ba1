"""The public `match`: who would have received which event of a log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from thatch.engine import Engine
from thatch.engine.subscriptions import SYSTEM_CLOCK, Moment, seconds
from thatch.errors import SparkError, shown
from thatch.model.schema import Schema
from thatch.pipeline.columns import DataFrame
from thatch.pipeline.indexes import SharedIndex, build_index
from thatch.pipeline.transforms import mapped, partitioned
from thatch.pipeline.transforms.events import EventReader, prepare_events
from thatch.pipeline.transforms.partitioned import build_shards

if TYPE_CHECKING:
    from pyspark.accumulators import Accumulator

__all__ = ["MOST_MAPPED", "Give", "Strategy", "match"]

Give = Literal["pairs", "slots", "counts", "hours"]
Strategy = Literal["auto", "mapped", "partitioned"]

# Up to this many subscriptions the driver builds one index, a file of about 2 GB, and every worker maps it.
MOST_MAPPED = 10_000_000


def match(  # noqa: PLR0913 - all options of a match
    events: DataFrame,
    subscriptions: DataFrame | Engine | SharedIndex | str | Path,
    *,
    give: Give = "pairs",
    event: str | None = None,
    json: str | None = None,
    nulls: Literal["missing", "null"] = "missing",
    time: str | None = None,
    now: Moment | None = None,
    schema: Schema | None = None,
    strategy: Strategy = "auto",
    bad: Literal["raise", "skip"] = "raise",
    skipped: Accumulator[int] | None = None,
) -> DataFrame:
    """Find who would have received which event of a log.

    Parameters
    ----------
    events : a column per attribute (structs and maps are nested objects), or one column of JSON texts; only columns that
        filters name are read, and others may have any type
    subscriptions : a table with `subscription`, `filter` and perhaps `subscriber` and `expires`; an engine; or the path
        of a saved one
    give : "pairs" (`event`, `subscription`); "slots" (`event`, `slots`, a list of numbers in the index, which
        `Engine.ids` names; the fastest, and an event may have several rows); "counts" (`subscription`, `events`, zero
        included); "hours" (`subscriber`, `hour`, `events`: each event counts once a subscriber, or once a subscription
        that has no subscriber)
    event : the column that names events, which is then no attribute; by default Spark numbers them
    json : the column that holds each event as JSON text, which keeps null and missing apart
    nulls : whether null in a column means that the attribute is missing, or null
    time : for "hours", the column (or with `json` the dotted path) of the time of an event
    now : judge expiry by this moment; by the time of this call if not given, on every worker
    schema : declared types, for a table of subscriptions
    strategy : "mapped" builds one index that every worker maps; "partitioned" splits the subscriptions too, for sets that
        do not fit on one machine; "auto" chooses by their number
    bad : what to do with rows that are not events
    skipped : with bad="skip", grows with every row that is left out; a row may count more than once

    Examples
    --------
    ::

        spark = thatch.pipeline.session()
        log = spark.read.parquet("quotes.parquet")
        alerts = spark.read.parquet("alerts.parquet")
        thatch.pipeline.match(log, alerts, give="counts").orderBy("events").show()
    """
    options = ((give, Give), (strategy, Strategy), (bad, Literal["raise", "skip"]))
    for value, choices in options:
        if value not in get_args(choices):
            raise SparkError(f"one of {', '.join(get_args(choices))}", shown(value))
    if (give == "hours") != (time is not None):
        raise SparkError("`time` with give='hours', and only there", f"time={time!r} with give={give!r}")
    when = SYSTEM_CLOCK() if now is None else seconds(now, "now")
    reader = EventReader(json=json, nulls=nulls, skips=bad == "skip", now=when, skipped=skipped)
    if isinstance(subscriptions, (Engine, SharedIndex, str, Path)):
        if strategy == "partitioned":
            raise SparkError("strategy='partitioned' needs a table of subscriptions, not an index")
    elif strategy == "partitioned" or (strategy == "auto" and subscriptions.count() > MOST_MAPPED):
        if give == "slots":
            raise SparkError("give='slots' needs strategy='mapped': slots are numbers in one index")
        prepare_events(events, reader, event=event, time=time)  # refuses events before it builds shards
        shards = build_shards(subscriptions, schema)
        log = prepare_events(events, reader, event=event, time=time, names=shards.attributes)
        return _PARTITIONED[give](log, shards, reader)
    prepare_events(events, reader, event=event, time=time)  # refuses events before it builds an index
    if not isinstance(subscriptions, SharedIndex):
        subscriptions = build_index(events.sparkSession, subscriptions, schema)
    log = prepare_events(events, reader, event=event, time=time, names=subscriptions.attributes)
    return _MAPPED[give](log, subscriptions, reader)


_MAPPED = {
    "pairs": mapped.match_pairs,
    "slots": mapped.match_slots,
    "counts": mapped.match_counts,
    "hours": mapped.match_hours,
}
_PARTITIONED = {
    "pairs": partitioned.match_pairs,
    "counts": partitioned.match_counts,
    "hours": partitioned.match_hours,
}
