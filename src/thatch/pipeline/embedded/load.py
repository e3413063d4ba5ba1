"""The job of `thatch load` in this process."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from thatch.engine import Engine
from thatch.formats.reading import Reading
from thatch.model.schema import Schema
from thatch.pipeline.columns import EXPIRES, FILTER, REASON, ROW, SUBSCRIBER, SUBSCRIPTION
from thatch.pipeline.embedded.subscriptions import CheckedRows, check_rows, read_rows
from thatch.pipeline.embedded.work import ROWS_AT_ONCE, JobWork
from thatch.pipeline.jobs.job import JobOutput, run_here
from thatch.pipeline.jobs.load import INDEX, REJECTS, SUBSCRIPTIONS, write_facts
from thatch.pipeline.jobs.load_report import LONGEST_SHOWN, MOST_NAMES, MOST_REASONS, LoadFacts, by_frequency
from thatch.pipeline.tasks import scratch_file
from thatch.pipeline.transforms.loading import BOXES, CONDITIONS

__all__ = ["load_here"]

_EXPECTED = re.compile(r"(Expected .+?), got ", re.DOTALL)


def load_here(
    path: str,
    output: JobOutput,
    *,
    schema: Schema | None = None,
    with_index: bool = True,
    reading: Reading | None = None,
) -> LoadFacts:
    """Load the subscriptions of files as `load_files` does, without Spark."""
    with run_here(output, [path]) as job:
        work = JobWork(output.progress)
        rows = read_rows(path, reading)
        work.expect(rows.num_rows * (1 + with_index))
        checked = check_rows(rows, schema, work, with_conditions=True)
        checked.check(reading or Reading(), rows.num_rows, path)
        job.put_parts(SUBSCRIPTIONS, checked.accepted)
        job.put_parts(REJECTS, checked.rejects)
        if with_index:
            made = scratch_file(".thatch")
            _build_engine(checked.accepted, schema, work).save(made)
            job.folder.put(INDEX, made)
        facts = _count(checked)
        write_facts(job, facts, path, schema, with_index=with_index)
    return facts


def _build_engine(accepted: pa.Table, schema: Schema | None, work: JobWork) -> Engine:
    engine = Engine(schema)
    rows = accepted.drop_columns([ROW])
    for start in range(0, rows.num_rows, ROWS_AT_ONCE):
        part = rows.slice(start, ROWS_AT_ONCE)
        refused = engine.subscribe_many(part)
        assert not refused.num_rows, refused
        work.step(part.num_rows)
    engine.compact()
    return engine


def _count(checked: CheckedRows) -> LoadFacts:
    """Count what was found, as `load_facts` does."""
    good = checked.good
    found = _count_features(good)
    return LoadFacts(
        accepted=good.num_rows,
        subscribers=pc.count_distinct(good.column(SUBSCRIBER), mode="only_valid").as_py(),
        expiring=good.num_rows - good.column(EXPIRES).null_count,
        refused=checked.rejects.num_rows,
        reasons=_reasons(checked.rejects),
        attributes=by_frequency(found, "attribute"),
        kinds=by_frequency(found, "kind"),
        boxes={int(name): count for name, count in found["boxes"].items()},
        lengths={int(name): count for name, count in found["length"].items()},
    )


def _count_features(good: pa.Table) -> dict[str, dict[str, int]]:
    """Count filters and conditions by attribute, kind and size."""
    counts: dict[str, Counter[str]] = {
        what: Counter()
        for what in ("attribute", "conditions by attribute", "kind", "conditions by kind", "boxes", "length")
    }
    columns = (good.column(name).to_pylist() for name in (CONDITIONS, BOXES, FILTER))
    for conditions, boxes, text in zip(*columns, strict=True):
        split = [each.split(" ", 1) for each in conditions]
        for what, names in (
            ("kind", [kind for kind, _ in split]),
            ("attribute", [attribute for _, attribute in split]),
        ):
            counts[what].update(set(names))
            counts[f"conditions by {what}"].update(names)
        counts["boxes"][str(_size_class(boxes))] += 1
        counts["length"][str(_size_class(len(text)))] += 1
    return {what: dict(_most_common(each)[:MOST_NAMES]) for what, each in counts.items()}


def _size_class(size: int) -> int:
    return max(size, 1).bit_length() - 1


def _most_common(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda each: (-each[1], each[0]))


def _reasons(rejects: pa.Table) -> tuple[dict[str, Any], ...]:
    """Reasons without the values, which differ from row to row."""
    first: dict[str, dict[str, Any]] = {}
    counts: Counter[str] = Counter()
    for each in rejects.to_pylist():
        reason = each[REASON]
        found = _EXPECTED.match(reason)
        expected = (found[1] if found else reason)[:LONGEST_SHOWN]
        counts[expected] += 1
        cut = {name: each[name] and each[name][:LONGEST_SHOWN] for name in (SUBSCRIPTION, FILTER, REASON)}
        first.setdefault(
            expected,
            {
                "first row": each[ROW],
                "its id": cut[SUBSCRIPTION],
                "its filter": cut[FILTER],
                "its reason": cut[REASON],
            },
        )
    listed = _most_common(counts)[:MOST_REASONS]
    return tuple({"rows": count, "expected": expected} | first[expected] for expected, count in listed)
