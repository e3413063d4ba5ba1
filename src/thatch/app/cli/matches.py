"""Where `thatch match` puts matches: standard output, a file of JSON lines, or a Parquet file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from thatch.app.cli.output import json_text, say
from thatch.errors import TableError
from thatch.outputs import check_file, new_file, refuse_inputs
from thatch.outputs.places import Inputs

__all__ = ["LineSink", "check_matches", "matches_to"]

_ROWS_AT_ONCE = 65_536


def check_matches(out: Path | None, inputs: Inputs, *, overwrite: bool) -> None:
    """Refuse an output before work begins: one that is read, that exists, or of another kind."""
    if out is None:
        refuse_inputs("/dev/stdout", inputs)  # `>> events.jsonl` would never end
        return
    if out.suffix not in {".parquet", ".jsonl"}:
        raise TableError("a file ending in .parquet or .jsonl", str(out), "--out")
    check_file(out, inputs=inputs, overwrite=overwrite)


@contextmanager
def matches_to(out: Path | None, by: str, *, with_event: bool, overwrite: bool) -> Iterator[LineSink]:
    """Where matches go; a file appears when the block ends, and not if it fails."""
    if out is None:
        yield LineSink(None, with_event=with_event)
        return
    with new_file(out, overwrite=overwrite) as file:
        if out.suffix == ".jsonl":
            yield LineSink(file, with_event=with_event)
            return
        sink = _ParquetSink(file, by, with_event=with_event)
        try:
            yield sink
            sink.flush()
        finally:
            sink.close()  # now: a writer that is collected later would write to a closed file


class LineSink:
    """Writes and counts matches, a JSON line an event."""

    def __init__(self, file: BinaryIO | None, *, with_event: bool) -> None:
        self.count = 0
        self._file, self._with_event = file, with_event

    def write(self, row: int, names: list[str], event: Mapping[str, Any]) -> None:
        """Write the matches of one event."""
        self.count += len(names)
        found: dict[str, Any] = {"event": row, "matches": names}
        line = json_text({**found, "content": event} if self._with_event else found)
        if self._file is None:
            say(line)
        else:
            self._file.write(line.encode() + b"\n")


class _ParquetSink(LineSink):
    """Writes and counts matches, a row a pair."""

    def __init__(self, file: BinaryIO, by: str, *, with_event: bool) -> None:
        super().__init__(file, with_event=with_event)
        content = [("content", pa.string())] if with_event else []
        self._schema = pa.schema([("event", pa.int64()), (by, pa.string()), *content])
        self._writer = pq.ParquetWriter(file, self._schema)
        self._columns: Sequence[list[Any]] = [[] for _ in self._schema]

    def write(self, row: int, names: list[str], event: Mapping[str, Any]) -> None:
        """Write the matches of one event."""
        self.count += len(names)
        values: list[list[Any]] = [
            [row] * len(names),
            names,
            [json_text(event)] * len(names) if self._with_event else [],
        ]
        for column, more in zip(self._columns, values, strict=False):
            column += more
        if len(self._columns[0]) >= _ROWS_AT_ONCE:
            self.flush()

    def close(self) -> None:
        """Write the end of the file."""
        self._writer.close()

    def flush(self) -> None:
        """Write what is left."""
        self._writer.write_table(pa.table(list(self._columns), schema=self._schema))
        self._columns = [[] for _ in self._schema]
