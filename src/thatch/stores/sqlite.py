"""The cold tier in a SQLite file: nothing to install, nothing to start.

Rows with an access key are found by a B-tree; the others by an R*Tree of the first five axes, which is its limit. Its
32-bit floats are rounded outwards, so that it finds too much rather than too little.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any

from thatch.errors import StoreError
from thatch.model.schema import Schema
from thatch.stores.boxes import BoxQuery, StoredBox
from thatch.stores.connection import AXES, StoreConnection, create_tables
from thatch.stores.relational import RelationalStore

__all__ = ["SqliteStore"]

_TREE = 5  # dimensions that an R*Tree can have
_CACHE = 1 << 20  # bytes of pages that a connection keeps

_SIDES = ", ".join(f"low{axis}, high{axis}" for axis in range(AXES))
_TREE_SIDES = ", ".join(f"low{axis}, high{axis}" for axis in range(_TREE))

_TABLES = (
    *create_tables(integer="INTEGER", real="REAL", key_text="TEXT"),
    "CREATE TABLE boxes (box INTEGER PRIMARY KEY, slot INTEGER NOT NULL, access TEXT, "
    + ", ".join(f"low{axis} REAL NOT NULL, high{axis} REAL NOT NULL" for axis in range(AXES))
    + ")",
    "CREATE INDEX boxes_slot ON boxes (slot)",
    "CREATE INDEX boxes_access ON boxes (access) WHERE access IS NOT NULL",
    f"CREATE VIRTUAL TABLE tree USING rtree(box, {_TREE_SIDES})",
)


class _SqliteConnection:
    """A connection to a file; one that owns the file holds a lock on another beside it."""

    def __init__(self, path: str, cache: int, *, waits: bool, owns: bool) -> None:
        self.lock = Lock()
        self._path, self._cache, self._waits, self._owns = path, cache, waits, owns
        self._link: sqlite3.Connection | None = None
        self._owned: sqlite3.Connection | None = None

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._opened().execute(statement, values).fetchall()

    def run_many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        self._opened().executemany(statement, rows)

    def insert(self, table: str, columns: str, rows: Sequence[Sequence[Any]]) -> None:
        marks = ", ".join("?" * (1 + columns.count(",")))
        self.run_many(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.run("BEGIN IMMEDIATE")
        try:
            yield
            self.run("COMMIT")
        except BaseException:
            if self._opened().in_transaction:
                self.run("ROLLBACK")
            raise

    def reset(self) -> None:
        """Nothing to do for a file."""

    def close(self) -> None:
        for each in (self._link, self._owned):
            if each is not None:
                each.close()

    def _opened(self) -> sqlite3.Connection:
        if self._link is None:
            if self._owns:
                self._owned = _owned(self._path)
            self._link = sqlite3.connect(
                self._path, isolation_level=None, check_same_thread=False, timeout=30
            )
            for pragma in (
                "journal_mode = WAL",
                f"synchronous = {'FULL' if self._waits else 'NORMAL'}",
                f"cache_size = -{self._cache >> 10}",
            ):
                self._link.execute(f"PRAGMA {pragma}")
        return self._link


def _owned(path: str) -> sqlite3.Connection:
    """Begin a transaction on an empty file beside the store, and keep it open: SQLite lets nobody else begin one."""
    beside = sqlite3.connect(f"{path}-owner", isolation_level=None, check_same_thread=False, timeout=0)
    try:
        beside.execute("PRAGMA journal_mode = OFF")  # nothing is written, so nothing is rolled back
        beside.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        beside.close()
        if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
            raise StoreError("The store is in use by another engine", where=path) from None
        raise
    return beside


class SqliteStore(RelationalStore):
    """Subscriptions in a SQLite file, created if missing; one engine at a time may have it open.

    Parameters
    ----------
    path : of the file; while it is open, SQLite keeps two others beside it, and a lock file stays there for good
    schema : declared types, as the engine has them
    cache : bytes of pages that each of two connections keeps in memory
    waits : for the disk at every change; otherwise a power cut, but no crash, may lose the last ones

    Raises
    ------
    StoreError
        If the file is not a store, has another version or schema, or is in use.
    """

    tables = _TABLES
    explain = "EXPLAIN QUERY PLAN"

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        schema: Schema | None = None,
        cache: int = _CACHE,
        waits: bool = True,
    ) -> None:
        self._path, self._cache = os.fspath(path), cache
        changes, queries = (
            _SqliteConnection(self._path, cache, waits=waits, owns=owns) for owns in (True, False)
        )
        super().__init__(schema, sqlite3.Error, changes, queries)

    @property
    def name(self) -> str:
        """The file."""
        return self._path

    def nbytes(self) -> int:
        """Pages that both connections may keep."""
        return 2 * self._cache

    def among(self, column: str) -> str:
        return f"{column} IN (SELECT value FROM json_each(?))"

    def list_value(self, values: Sequence[Any]) -> Any:
        return json.dumps(values, ensure_ascii=False)

    def _has_tables(self, change: StoreConnection) -> bool:
        names = [name for (name,) in change.run("SELECT name FROM sqlite_master WHERE type = 'table'")]
        if names and "meta" not in names:
            raise StoreError("a store or no file", f"tables {', '.join(names)}", self.name)
        return bool(names)

    def _insert_boxes(self, change: StoreConnection, rows: list[tuple[int, StoredBox]]) -> None:
        first = change.run("SELECT COALESCE(MAX(box), 0) + 1 FROM boxes")[0][0]
        numbered = [
            (first + number, slot, row.access, [end for side in row.bounds(AXES) for end in side])
            for number, (slot, row) in enumerate(rows)
        ]
        change.insert(
            "boxes",
            f"box, slot, access, {_SIDES}",
            [(box, slot, access, *ends) for box, slot, access, ends in numbered],
        )
        change.insert(
            "tree",
            f"box, {_TREE_SIDES}",
            [(box, *ends[: 2 * _TREE]) for box, _, access, ends in numbered if access is None],
        )

    def _delete_boxes(self, change: StoreConnection, slots: Sequence[int]) -> None:
        listed = [self.list_value(slots)]
        among = self.among("slot")
        change.run(
            f"DELETE FROM tree WHERE box IN (SELECT box FROM boxes WHERE {among} AND access IS NULL)", listed
        )
        change.run(f"DELETE FROM boxes WHERE {among}", listed)

    def candidates(self, query: BoxQuery) -> tuple[str, list[Any]]:
        """By access key in the B-tree, and by the first axes in the R*Tree; then by all axes."""
        columns = "s.slot, s.id, s.subscriber, s.expires, s.filter"
        by_axes, by_tree = _conditions("b", len(query.sides)), _conditions("t", min(len(query.sides), _TREE))
        ends = [end for low, high in query.sides for end in (high, low)]
        statement = (
            f"SELECT {columns} FROM boxes b JOIN subscriptions s ON s.slot = b.slot "
            f"WHERE {self.among('b.access')}{by_axes} UNION ALL "
            f"SELECT {columns} FROM tree t JOIN boxes b ON b.box = t.box JOIN subscriptions s ON s.slot = b.slot "
            f"WHERE 1{by_tree}{by_axes}"
        )
        return statement, [self.list_value(query.keys), *ends, *ends[: 2 * _TREE], *ends]


def _conditions(table: str, axes: int) -> str:
    return "".join(f" AND {table}.low{axis} <= ? AND {table}.high{axis} >= ?" for axis in range(axes))
