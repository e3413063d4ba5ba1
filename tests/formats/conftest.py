"""Files of every kind, written from the same rows."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

WriteRows = Callable[[list[dict[str, Any]], str], str]
WriteBytes = Callable[[bytes, str], str]


@pytest.fixture
def write_bytes(tmp_path: Path) -> WriteBytes:
    """Writes bytes to a file with a given ending; packs them if it ends in `gz`."""

    def write(content: bytes, ending: str) -> str:
        path = tmp_path / f"file.{ending}"
        path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
        return str(path)

    return write


@pytest.fixture
def write_rows(write_bytes: WriteBytes) -> WriteRows:
    """Writes rows to a file of the kind that its ending names."""

    def write(rows: list[dict[str, Any]], ending: str) -> str:
        if ending == "parquet":
            stream = io.BytesIO()
            pq.write_table(pa.Table.from_pylist(rows), stream)
            return write_bytes(stream.getvalue(), ending)
        if ending.startswith("csv"):
            text = io.StringIO()
            writer = csv.DictWriter(text, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
            return write_bytes(text.getvalue().encode(), ending)
        return write_bytes("".join(json.dumps(row) + "\n" for row in rows).encode(), ending)

    return write
