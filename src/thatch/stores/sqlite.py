"""The cold tier in a file of SQLite: nothing to install, nothing to start.

Rows with an access key are found by a B-tree; the others by an R*Tree of the first five slots, which is as many as it
takes. Its 32-bit floats are rounded outwards, so that it finds too much rather than too little.
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
from thatch.stores.boxes import Ask, BoxRow
from thatch.stores.relational import SLOTS, Change, RelationalStore

__all__ = ["SqliteStore"]

_TREE = 5  # dimensions that an R*Tree can have
_CACHE = 1 << 20  # bytes of pages that a connection keeps

_SIDES = ", ".join(f"low{slot}, high{slot}" for slot in range(SLOTS))
_TREE_SIDES = ", ".join(f"low{slot}, high{slot}" for slot in range(_TREE))

_TABLES = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    (
        "CREATE TABLE clusters (number INTEGER PRIMARY KEY, name TEXT NOT NULL, cold INTEGER NOT NULL, "
        "nodes INTEGER NOT NULL, predicates INTEGER NOT NULL)"
    ),
    (
        "CREATE TABLE subscriptions (place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, subscriber TEXT, expires REAL, "
        "filter TEXT NOT NULL, cluster INTEGER NOT NULL, cold INTEGER NOT NULL)"
    ),
    "CREATE INDEX subscriptions_cluster ON subscriptions (cluster)",
    "CREATE INDEX subscriptions_fast ON subscriptions (place) WHERE cold = 0",
    "CREATE INDEX subscriptions_expires ON subscriptions (expires) WHERE expires IS NOT NULL",
    "CREATE TABLE attributes (name TEXT PRIMARY KEY, slot INTEGER NOT NULL)",
    "CREATE TABLE boxes (box INTEGER PRIMARY KEY, place INTEGER NOT NULL, access TEXT, "
    + ", ".join(f"low{slot} REAL NOT NULL, high{slot} REAL NOT NULL" for slot in range(SLOTS))
    + ")",
    "CREATE INDEX boxes_place ON boxes (place)",
    "CREATE INDEX boxes_access ON boxes (access) WHERE access IS NOT NULL",
    f"CREATE VIRTUAL TABLE tree USING rtree(box, {_TREE_SIDES})",
)


class _Connection:
    """A connection, which is also the transaction under way on it; one that owns the file holds a lock beside it."""

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

    def lost(self) -> None:
        """Nothing is lost with a file."""

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
    """A transaction on an empty file beside the store, as long as it is open: SQLite lets nobody else begin one."""
    beside = sqlite3.connect(f"{path}-owner", isolation_level=None, check_same_thread=False, timeout=0)
    try:
        beside.execute("PRAGMA journal_mode = OFF")  # nothing is written, so that nothing can be taken back
        beside.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        beside.close()
        if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
            raise StoreError("a store that nobody else has open", "one that is in use", path) from None
        raise
    return beside


class SqliteStore(RelationalStore):
    """Subscriptions in a file of SQLite, which is made if there is none; one engine at a time may have it open.

    Parameters
    ----------
    path : of the file; SQLite puts two others beside it while it is open, and an empty one that shows who has it stays
    schema : declared types, as the engine has them
    cache : bytes of pages that each of two connections keeps in memory
    waits : for the disk at every change; otherwise a power cut, but no crash, may lose the last ones

    Raises
    ------
    StoreError
        If the file is no such store, of another version or schema, or in use.
    """

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
        changes, questions = (
            _Connection(self._path, cache, waits=waits, owns=owns) for owns in (True, False)
        )
        super().__init__(schema, sqlite3.Error, changes, questions)

    @property
    def name(self) -> str:
        """The file."""
        return self._path

    def nbytes(self) -> int:
        """Pages that both connections may keep."""
        return 2 * self._cache

    def among(self, column: str) -> str:
        return f"{column} IN (SELECT value FROM json_each(?))"

    def listed(self, values: Sequence[Any]) -> Any:
        return json.dumps(values, ensure_ascii=False)

    def _has_tables(self, change: Change) -> bool:
        names = [name for (name,) in change.run("SELECT name FROM sqlite_master WHERE type = 'table'")]
        if names and "meta" not in names:
            raise StoreError("a file that a store has made, or none", f"tables {', '.join(names)}", self.name)
        return bool(names)

    def _create(self, change: Change) -> None:
        for statement in _TABLES:
            change.run(statement)

    def _insert_boxes(self, change: Change, rows: list[tuple[int, BoxRow]]) -> None:
        first = change.run("SELECT COALESCE(MAX(box), 0) + 1 FROM boxes")[0][0]
        numbered = [
            (first + number, place, row.access, [end for side in self._bounds(row) for end in side])
            for number, (place, row) in enumerate(rows)
        ]
        change.insert(
            "boxes",
            f"box, place, access, {_SIDES}",
            [(box, place, access, *ends) for box, place, access, ends in numbered],
        )
        change.insert(
            "tree",
            f"box, {_TREE_SIDES}",
            [(box, *ends[: 2 * _TREE]) for box, _, access, ends in numbered if access is None],
        )

    def _delete_boxes(self, change: Change, places: Sequence[int]) -> None:
        listed = [self.listed(places)]
        among = self.among("place")
        change.run(
            f"DELETE FROM tree WHERE box IN (SELECT box FROM boxes WHERE {among} AND access IS NULL)", listed
        )
        change.run(f"DELETE FROM boxes WHERE {among}", listed)

    def candidates(self, asked: Ask) -> tuple[str, list[Any]]:
        """By access key in the B-tree, and by the first slots in the R*Tree; then by all slots."""
        columns = "s.place, s.id, s.subscriber, s.expires, s.filter"
        by_slots, by_tree = _conditions("b", len(asked.sides)), _conditions("t", min(len(asked.sides), _TREE))
        ends = [end for low, high in asked.sides for end in (high, low)]
        statement = (
            f"SELECT {columns} FROM boxes b JOIN subscriptions s ON s.place = b.place "
            f"WHERE {self.among('b.access')}{by_slots} UNION ALL "
            f"SELECT {columns} FROM tree t JOIN boxes b ON b.box = t.box JOIN subscriptions s ON s.place = b.place "
            f"WHERE 1{by_tree}{by_slots}"
        )
        return statement, [self.listed(asked.keys), *ends, *ends[: 2 * _TREE], *ends]


def _conditions(table: str, slots: int) -> str:
    return "".join(f" AND {table}.low{slot} <= ? AND {table}.high{slot} >= ?" for slot in range(slots))
