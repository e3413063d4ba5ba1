"""Read files on Spark and here, to compare the two."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa

from thatch.engine.tables import event_rows
from thatch.formats.events import read_events as read_embedded
from thatch.formats.reading import Reading
from thatch.pipeline.sources import EventSource

SPLITS = {"spark.sql.files.maxPartitionBytes": "100b", "spark.sql.files.openCostInBytes": "0"}


def written(path: Path, content: bytes) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return str(path)


def events_of(source: EventSource, nulls: str = "missing") -> list[tuple[int, dict]]:
    """Events by row as whoever matches reads them; JSON that holds none is left out."""
    table = source.table.toArrow().sort_by(source.row)
    rows = table.column(source.row).to_pylist()
    if source.json is not None:
        lines = table.column(source.json).cast(pa.binary()).to_pylist()
        return [(row, line.decode("utf-8", "surrogateescape")) for row, line in zip(rows, lines, strict=True)]
    plain = table.drop_columns(source.row)
    return list(zip(rows, event_rows(plain, nulls=nulls, json_column=None), strict=True))


def rejects_of(source: EventSource) -> list[tuple[int, str]]:
    if source.rejects is None:
        return []
    return sorted((each["row"], each["reason"]) for each in source.rejects.collect())


def embedded(path: str, remarks: list | None = None, **reading) -> tuple[list[tuple[int, dict]], list]:
    rejects, heard = [], [] if remarks is None else remarks
    options = {"reading": Reading(**reading), "tell": heard.append}
    events = list(read_embedded(path, lambda *each: rejects.append(each), **options))
    return events, sorted(rejects)


def typed(events: list) -> list:
    return [(row, {name: (type(value), value) for name, value in event.items()}) for row, event in events]
