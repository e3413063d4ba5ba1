"""The job of `thatch reduce` in this process."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from thatch.pipeline.columns import EXPIRES, FILTER, ROW, SUBSCRIPTION
from thatch.pipeline.embedded.subscriptions import CheckedRows, check_rows, read_rows_or_loaded
from thatch.pipeline.embedded.work import ROWS_AT_ONCE, JobWork
from thatch.pipeline.jobs.job import REJECTS, JobOutput, list_options, run_here
from thatch.pipeline.jobs.reduce import ACTIVE, GIVEN, PASSIVE, ReduceOptions, write_facts
from thatch.pipeline.jobs.reduce_report import MOST_LISTED, SHOWN, ReduceFacts, curve_of
from thatch.pipeline.tasks import run_parts_here
from thatch.pipeline.transforms.reducing.deciding import Decider
from thatch.pipeline.transforms.reducing.pieces import ATTRIBUTES, INPUT, make_local_gather
from thatch.pipeline.transforms.reducing.reduce import arrange_rows, check_limits, decide_rows
from thatch.pipeline.transforms.reducing.verdicts import (
    BOXES,
    EXHAUSTED,
    NODES,
    PROOF,
    ROUNDS,
    VERDICT_ROWS,
    make_batches,
)

__all__ = ["reduce_here"]

_AT_ONCE = 64  # parts, so that progress shows


def reduce_here(path: str, options: ReduceOptions, output: JobOutput) -> ReduceFacts:
    """Reduce the subscriptions of files as `reduce_files` does, without Spark."""
    with run_here(output, [path]) as job:
        work = JobWork(output.progress)
        table, schema = read_rows_or_loaded(path, options.schema, options.reading)
        work.expect(2 * table.num_rows)
        checked = check_rows(table, schema, work, with_forms=True)
        checked.check(options.reading, table.num_rows, path)
        job.put_parts(REJECTS, checked.rejects)
        found = _reduce(checked, options, schema, work)
        given = _join(found, checked)
        is_active = given.column(ACTIVE)
        job.put_parts(ACTIVE, given.filter(is_active).drop_columns([ACTIVE, PROOF]))
        job.put_parts(PASSIVE, given.filter(pc.invert(is_active)).drop_columns([ACTIVE, EXHAUSTED]))
        facts = _count(found, checked)
        parameters = {"subscriptions": path, **list_options(options), "schema": schema}
        write_facts(job, facts, path, parameters)
    return facts


def _reduce(checked: CheckedRows, options: ReduceOptions, schema: Any, work: JobWork) -> pa.Table:
    """What `reduce` finds, in the order of `row`."""
    rows = checked.good.append_column(INPUT.field("reason"), pa.nulls(checked.good.num_rows, pa.string()))
    gather = make_local_gather(lambda: work.over(rows.select(INPUT.names).cast(INPUT)))
    found = arrange_rows(gather, options.order, schema)
    decider = Decider(options.policy, check_limits(options.policy, options.budget, options.order))

    def run(*each: Any, count: int, **others: Any) -> list[pa.Buffer]:
        work.expect(count * ROWS_AT_ONCE)
        return run_parts_here(lambda: work.step(ROWS_AT_ONCE), *each, count=count, **others)

    verdicts = decide_rows(found, decider, run, at_once=_AT_ONCE)
    return pa.Table.from_batches(make_batches(found, verdicts, options.policy), VERDICT_ROWS)


def _join(found: pa.Table, checked: CheckedRows) -> pa.Table:
    """The subscriptions as they were given, with the result for each; both are in the order of `row`."""
    for name in (FILTER, EXPIRES):
        found = found.append_column(checked.accepted.schema.field(name), checked.accepted.column(name))
    others = [name for name in found.column_names if name not in GIVEN]
    return found.select([*GIVEN, *others])


def _count(found: pa.Table, checked: CheckedRows) -> ReduceFacts:
    """Count what was found, as `reduce_facts` does."""
    rows = found.to_pylist()
    single = sum(len(each[PROOF]) == 1 for each in rows)
    passive = sum(not each[ACTIVE] for each in rows)
    exhausted = [(each[ROW], each[SUBSCRIPTION]) for each in rows if each[EXHAUSTED]]
    searched = [(each[ROW], each[SUBSCRIPTION], each[NODES]) for each in rows if each[NODES]]
    sizes = Counter(len(each[PROOF]) for each in rows if not each[ACTIVE])
    first = checked.rejects.slice(0, SHOWN).to_pylist()
    return ReduceFacts(
        active=len(rows) - passive,
        single=single,
        several=sum(len(each[PROOF]) > 1 for each in rows),
        exhausted=len(exhausted),
        large=found.column(BOXES).null_count,
        refused=checked.rejects.num_rows,
        nodes=sum(each[NODES] for each in rows),
        rounds=sum(each[ROUNDS] for each in rows),
        first_refused=tuple((each[ROW], each["reason"]) for each in first),
        first_exhausted=tuple(exhausted[:MOST_LISTED]),
        hardest=tuple(sorted(searched, key=lambda each: (-each[2], each[0]))[:SHOWN]),
        masks=_masks(rows),
        coverers=_coverers(rows),
        sizes=tuple(sorted(sizes.items())),
        curve=curve_of(found.column(ACTIVE).to_numpy()),
    )


def _masks(rows: list[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Counts by set of attributes, the most frequent first."""
    counts: dict[str, list[int]] = {}
    for each in rows:
        count = counts.setdefault(each[ATTRIBUTES], [0, 0, 0, 0])
        size = len(each[PROOF])
        for number, is_so in enumerate((True, each[ACTIVE], size == 1, size > 1)):
            count[number] += is_so
    listed = sorted(counts.items(), key=lambda each: (-each[1][0], each[0]))[:MOST_LISTED]
    return tuple(
        {
            ATTRIBUTES: keys,
            "subscriptions": every,
            "needed": needed,
            "share needed": needed / every,
            "covered by one": single,
            "by several": several,
        }
        for keys, (every, needed, single, several) in listed
    )


def _coverers(rows: list[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Active ones by how many others they cover, alone and with others."""
    covers = Counter(chain.from_iterable(each[PROOF] for each in rows))
    alone = Counter(each[PROOF][0] for each in rows if len(each[PROOF]) == 1)
    keys = {each[SUBSCRIPTION]: each[ATTRIBUTES] for each in rows if each[ACTIVE]}
    first = sorted(covers.items(), key=lambda each: (-each[1], each[0]))[:MOST_LISTED]
    return tuple(
        {
            SUBSCRIPTION: identity,
            ATTRIBUTES: keys[identity],
            "covers": count,
            "alone": alone[identity],
            "with others": count - alone[identity],
        }
        for identity, count in first
    )
