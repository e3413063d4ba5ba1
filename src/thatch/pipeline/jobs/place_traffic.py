"""How many events of a log each broker of a plan would get: counted, however attributes hang together."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

from thatch.engine import Engine
from thatch.errors import EventError
from thatch.formats.events import read_events as read_events_here
from thatch.model.schema import Schema
from thatch.pipeline.schemas import EVENTS, SUBSCRIPTION
from thatch.pipeline.sources import read_events
from thatch.pipeline.transforms.matching import match
from thatch.pipeline.transforms.refusing import refused
from thatch.placement.plan import PlacementPlan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["counted_here", "counted_on_spark"]


def counted_here(plan: PlacementPlan, path: str, schema: Schema | None) -> PlacementPlan:
    """The plan with the counts of a file of events; rows that are no events are left out."""
    engine = _filters(plan, schema)
    passing: Counter[str] = Counter()
    events = 0
    for _, event in read_events_here(path, lambda *_: None):
        with suppress(EventError):
            passing.update(engine.match(event))
            events += 1
    return plan.with_counts(events, passing)


def counted_on_spark(
    spark: SparkSession, plan: PlacementPlan, path: str, schema: Schema | None
) -> PlacementPlan:
    """The same of files of any size, by tasks."""
    log = read_events(spark, path)
    found = match(
        log.table, _filters(plan, schema), give="counts", event=log.row, json=log.json, bad="skip"
    ).toArrow()
    passing = dict(zip(found.column(SUBSCRIPTION).to_pylist(), found.column(EVENTS).to_pylist(), strict=True))
    bad = 0 if log.json is None else refused(log.table, event=log.row, json=log.json).count()
    return plan.with_counts(log.table.count() - bad, passing)


def _filters(plan: PlacementPlan, schema: Schema | None) -> Engine:
    """The filters of brokers as subscriptions."""
    engine = Engine(schema)
    for name, filter in zip(plan.tree.names, plan.filters, strict=True):
        if filter is not None:
            engine.subscribe(name, str(filter))
    return engine
