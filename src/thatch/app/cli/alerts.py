"""`thatch match --window`: alerts instead of matches."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from thatch.app.cli.output import FirstRows, json_text, note, note_rows, progress, say
from thatch.app.cli.sources import read_valid_events
from thatch.engine import Engine
from thatch.errors import ParameterError, TableError, shown
from thatch.formats.live import Live
from thatch.formats.reading import Reading
from thatch.model.derived import moment_text
from thatch.outputs import new_file
from thatch.windows import Alert, Window

__all__ = ["AlertReading", "WindowOptions", "check_window", "find_alerts"]

_ALERTS = pa.schema(
    [
        ("subscription", pa.string()),
        ("key", pa.string()),  # JSON text
        ("first", pa.timestamp("us", tz="UTC")),
        ("last", pa.timestamp("us", tz="UTC")),
        ("count", pa.int64()),
        ("values", pa.string()),  # JSON text
    ]
)
_REMARKS = {
    "late": "events came too late to count: --lateness waits for them",
    "without_key": "events that match lack an attribute of the window and do not count",
    "evicted_keys": "keys were forgotten, since there were too many at a time",
    "hurried": "events were counted before it was certain that no earlier ones come, since too many waited",
}


@dataclass(frozen=True, slots=True)
class WindowOptions:
    """What the command line says of a window."""

    window: str | None
    time: str | None
    lateness: str | None


@dataclass(frozen=True, slots=True)
class AlertReading:
    """How events are read and judged."""

    nulls: Literal["missing", "null"]
    reading: Reading
    live: Live
    now: float | None


def check_window(options: WindowOptions, *, by: str, spark: bool, with_event: bool) -> Window | None:
    """The window that is asked for, if one is; refuses what does not go with it before work begins."""
    if options.window is None:
        if options.lateness is not None:
            raise TableError("--lateness needs --window")
        return None
    if spark:
        raise TableError("--window does not work with --spark: use thatch.pipeline.watch")
    if by != "subscription" or with_event:
        raise TableError("--by subscriber and --with-event do not work with --window")
    return Window.parse(options.window, time=options.time or "time", lateness=options.lateness or 0)


def find_alerts(
    window: Window, engine: Engine, events: str, out: Path | None, how: AlertReading, *, overwrite: bool
) -> None:
    """Match events, and print or write alerts as they become certain."""
    for each in window.rule.steps:
        if each not in engine:
            raise ParameterError("the id of a subscription", shown(each), "--window")
    rejects = FirstRows()
    names = engine.attributes() | window.attributes()

    def take(event: dict[str, Any]) -> list[Alert]:
        return window.add(event, engine.match(event, now=how.now))

    try:
        with progress("events", beside_results=out is None) as meter, _sink(out, overwrite=overwrite) as sink:
            for _, alerts in read_valid_events(
                events, rejects, take, how.nulls, how.reading, how.live, names
            ):
                meter.step()
                sink.write(alerts)
            sink.write(window.finish())
    finally:
        note_rows(f"rows of {events} are not events and were skipped", rejects, rejects.total)
        counts = window.stats()
        for name, remark in _REMARKS.items():
            if counts[name]:
                note(f"{counts[name]:,} {remark}")
    if out is not None:
        note(f"{counts['alerts']:,} alerts written to {out}")


@contextmanager
def _sink(out: Path | None, *, overwrite: bool) -> Iterator[_AlertLines]:
    if out is None:
        yield _AlertLines(None)
        return
    with new_file(out, overwrite=overwrite) as file:
        if out.suffix == ".jsonl":
            yield _AlertLines(file)
            return
        with pq.ParquetWriter(file, _ALERTS) as writer:
            sink = _AlertTable()
            yield sink
            writer.write_table(pa.Table.from_pylist(sink.rows, schema=_ALERTS))


class _AlertLines:
    """Writes a JSON line for each alert."""

    def __init__(self, file: BinaryIO | None) -> None:
        self._file = file

    def write(self, alerts: list[Alert]) -> None:
        """Write some alerts."""
        for each in alerts:
            line = json_text(_line(each))
            if self._file is None:
                say(line)
            else:
                self._file.write(line.encode() + b"\n")


class _AlertTable(_AlertLines):
    """Keeps a row for each alert."""

    def __init__(self) -> None:
        super().__init__(None)
        self.rows: list[dict[str, Any]] = []

    def write(self, alerts: list[Alert]) -> None:
        """Keep some alerts."""
        for each in alerts:
            self.rows.append(
                {
                    "subscription": each.subscription,
                    "key": json.dumps(each.key),
                    "first": round(each.first * 10**6),
                    "last": round(each.last * 10**6),
                    "count": each.count,
                    "values": json.dumps(each.values) if each.values else None,
                }
            )


def _line(alert: Alert) -> dict[str, Any]:
    """An alert as people read it: times as texts, and nothing that says nothing."""
    line: dict[str, Any] = {} if alert.subscription is None else {"subscription": alert.subscription}
    line["key"] = alert.key
    line["first"], line["last"] = (moment_text(round(time * 10**6)) for time in (alert.first, alert.last))
    line["count"] = alert.count
    return {**line, "values": list(alert.values)} if alert.values else line
