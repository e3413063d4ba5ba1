"""A saved engine: one file, versioned and checksummed.

    8 bytes   magic, THATCH and the major version
    4 bytes   length of the header, little endian
    header    JSON: minor version, schema, lengths
    payload   Arrow IPC stream: subscription, subscriber, filter (canonical text), expires; in order
    32 bytes  SHA-256 of everything before

A file is written beside its place and moved there when it is whole, so that a crash leaves the old one.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa

from thatch.errors import IndexFileError, ThatchError
from thatch.model.schema import Schema

__all__ = ["SUBSCRIPTIONS", "read_engine", "write_engine"]

_MAGIC = b"THATCH\x00\x01"
_MINOR = 0
_SUM = 32

SUBSCRIPTIONS = pa.schema(
    [
        pa.field("subscription", pa.string(), nullable=False),
        pa.field("subscriber", pa.string()),
        pa.field("filter", pa.string(), nullable=False),
        pa.field("expires", pa.float64()),
    ]
)


def write_engine(path: Path, table: pa.Table, schema: Schema | None) -> None:
    """Write a table of subscriptions and its schema, whole or not at all."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, SUBSCRIPTIONS) as writer:
        writer.write_table(table)
    payload = sink.getvalue()
    described = schema.describe() if schema is not None else None
    header = json.dumps({"minor": _MINOR, "schema": described, "payload": payload.size}).encode()
    parts = [_MAGIC, len(header).to_bytes(4, "little"), header, payload]
    digest = hashlib.sha256()
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                for part in parts:
                    digest.update(part)
                    file.write(part)
                file.write(digest.digest())
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)  # noqa: PTH105 - the two are the same call
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise IndexFileError("a place where a file can be written", str(error), str(path)) from error


def read_engine(path: Path) -> tuple[pa.Table, Schema | None]:
    """The table of subscriptions and the schema in a saved engine.

    Raises
    ------
    IndexFileError
        If the file is missing, damaged, foreign or of a newer version.
    """
    try:
        content = memoryview(path.read_bytes())
    except OSError as error:
        raise IndexFileError("a saved engine", str(error), str(path)) from error
    header, payload = _verified(content, path)
    try:
        schema = Schema.from_description(header["schema"]) if header["schema"] is not None else None
        table = pa.ipc.open_stream(payload).read_all()
    except (ThatchError, pa.ArrowException, KeyError, TypeError, AttributeError) as error:
        raise IndexFileError("a saved engine", f"a damaged one ({error})", str(path)) from error
    if table.schema != SUBSCRIPTIONS:
        raise IndexFileError(f"columns {SUBSCRIPTIONS.names}", str(table.schema.names), str(path))
    return table, schema


def _verified(content: memoryview, path: Path) -> tuple[dict[str, Any], memoryview]:
    """The header and payload of a file whose checksum is right."""
    expected = "a saved engine"
    if bytes(content[:6]) != _MAGIC[:6]:
        raise IndexFileError(expected, "another kind of file", str(path))
    if len(content) < len(_MAGIC) + 4 + _SUM:
        raise IndexFileError(expected, f"one cut short at {len(content)} bytes", str(path))
    if hashlib.sha256(content[:-_SUM]).digest() != bytes(content[-_SUM:]):
        raise IndexFileError(expected, "one that was cut short or changed (its checksum is wrong)", str(path))
    if bytes(content[:8]) != _MAGIC:
        raise IndexFileError(f"version {_MAGIC[7]}", f"version {content[7]}", str(path))
    start = len(_MAGIC) + 4
    length = int.from_bytes(content[len(_MAGIC) : start], "little")
    try:
        header = json.loads(bytes(content[start : start + length]))
        if header["minor"] > _MINOR:
            raise IndexFileError(f"minor version {_MINOR} or older", str(header["minor"]), str(path))
        payload = content[start + length : -_SUM]
        if len(payload) != header["payload"]:
            raise IndexFileError(f"{header['payload']} bytes of payload", str(len(payload)), str(path))
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, IndexFileError):
            raise
        raise IndexFileError(expected, f"a damaged one ({error})", str(path)) from error
    return header, payload
