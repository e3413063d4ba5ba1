"""The job of `thatch profile` in this process: everything is counted exactly, one event after the other."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.engine.tables import check_table, numbered_rows
from thatch.errors import EventError
from thatch.formats.reading import Reading
from thatch.model.events import read_event
from thatch.model.profile import ErrorBounds, Profile
from thatch.model.profile.counting import PREDICATE_PAIRS, EventCounts
from thatch.model.schema import Schema
from thatch.pipeline.columns import FILTER, SUBSCRIPTION
from thatch.pipeline.embedded.events import LocalEvents
from thatch.pipeline.embedded.subscriptions import check_rows, read_rows
from thatch.pipeline.embedded.work import JobWork
from thatch.pipeline.forms import FORM
from thatch.pipeline.jobs.job import JobOutput, run_here
from thatch.pipeline.jobs.profile import write_profile
from thatch.pipeline.transforms.profiling.measuring import (
    PREDICATE_ROWS,
    FilterCounts,
    FilterPredicates,
    build_counting_engine,
    list_predicates,
    name_counts,
)
from thatch.pipeline.transforms.profiling.profile import MOST_ATTRIBUTES, check_fraction

__all__ = ["profile_here"]


def profile_here(
    events: str,
    output: JobOutput,
    *,
    subscriptions: str | None = None,
    nulls: Literal["missing", "null"] = "missing",
    fraction: float = 1.0,
    schema: Schema | None = None,
    reading: Reading | None = None,
) -> Profile:
    """Profile the events of files as `profile_files` does, without Spark; a sample is of other events than Spark's."""
    with run_here(output, [events, subscriptions]) as job:
        check_fraction(fraction)
        work = JobWork(output.progress)
        log = LocalEvents(events, fraction, reading, job.tell)
        table = None if subscriptions is None else read_rows(subscriptions, reading)
        rows = log.size()
        work.expect(rows if table is None else 2 * rows + table.num_rows)
        found = _profile_events(log, nulls, schema, work)
        if table is not None:
            found = _measure(found, log, nulls, table, schema, work)
        options = {"nulls": nulls, "fraction": fraction, "schema": schema}
        write_profile(job, found, {"events": events, "subscriptions": subscriptions, **options}, reading)
    return found


def _profile_events(log: LocalEvents, nulls: str, schema: Schema | None, work: JobWork) -> Profile:
    """The first pass: attributes and sets of attributes."""
    count = EventCounts()
    for _, reason in log.rejects():
        count.reject(reason)

    def reject(_: int, reason: str) -> None:
        count.reject(reason)

    for table in log.tables():
        check_table(table, nulls, log.json)
        for _, event in numbered_rows(table, nulls=nulls, json_column=log.json, reject=reject):
            try:
                count.add(read_event(event, schema))
            except EventError as error:
                count.reject(str(error))
        work.step(table.num_rows)
    fields = count.profile_fields()
    fields["attributes"] = fields["attributes"][:MOST_ATTRIBUTES]
    return Profile(**fields, bounds=ErrorBounds(fraction=float(log.fraction)))


def _measure(
    found: Profile,
    log: LocalEvents,
    nulls: Literal["missing", "null"],
    table: pa.Table,
    schema: Schema | None,
    work: JobWork,
) -> Profile:
    """The second pass: what subscriptions ask."""
    checked = check_rows(table, schema, work, with_forms=True)
    what = _collect(checked.good, schema)
    engine = build_counting_engine(what, schema)
    totals: npt.NDArray[np.int64] = np.zeros(len(engine.ids()), np.int64)
    for part in log.tables():
        totals += engine.count_batch(part, nulls=nulls, json=log.json, reject=lambda *_: None)
        work.step(part.num_rows)
    counts: FilterCounts = name_counts(what, engine.ids().to_pylist(), totals.tolist())
    matches = replace(counts.matches, rejected=checked.rejects.num_rows)
    return replace(found, predicates=counts.predicates, predicate_pairs=counts.pairs, matches=matches)


def _collect(accepted: pa.Table, schema: Schema | None) -> FilterPredicates:
    """All predicates, and the pairs that are used most, as `collect_predicates` does."""
    uses: Counter[tuple[str, str | None]] = Counter()
    attributes: dict[str, Any] = {}
    for batch in list_predicates(schema, iter(accepted.select([FORM]).to_batches())):
        for each in batch.to_pylist():
            uses[each["first"], each["second"]] += each["uses"]
            if each["second"] is None:
                attributes[each["first"]] = each["attributes"]
    order = sorted(uses.items(), key=lambda each: (-each[1], each[0][0], each[0][1] or ""))
    alone = [(first, None, attributes[first], count) for (first, second), count in order if second is None]
    pairs = [(*pair, None, count) for pair, count in order if pair[1] is not None]
    named = accepted.select([SUBSCRIPTION, FILTER])
    return FilterPredicates(_table(alone), _table(pairs[:PREDICATE_PAIRS]), named)


def _table(rows: list[tuple[Any, ...]]) -> pa.Table:
    return pa.Table.from_pylist(
        [dict(zip(PREDICATE_ROWS.names, row, strict=True)) for row in rows], PREDICATE_ROWS
    )
