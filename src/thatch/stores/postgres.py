"""The cold tier in PostgreSQL.

Rows with an access key are found by a B-tree; the others by one GiST index over the ranges of all axes. We define the
type of the ranges, as PostgreSQL has none for doubles. The next call reopens a lost connection.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from thatch.errors import MissingPackageError, ParameterError, StoreError, shown
from thatch.model.schema import Schema
from thatch.stores.boxes import LOWEST, TOPMOST, BoxQuery, StoredBox
from thatch.stores.connection import AXES, StoreConnection, create_tables
from thatch.stores.relational import RelationalStore

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresStore"]

_BYTES = 256 << 10  # what two connections take in this process, rows under way included
_LOCK = 1_953_653_108  # distinguishes our locks from others in the database
_PATIENCE = 2_000  # milliseconds: a session that ends keeps its lock for a moment,
_KEEPALIVES = "-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3"  # and not for long if the line is cut
_SIDES = ", ".join(f"side{axis}" for axis in range(AXES))

_TABLES = (
    "CREATE TYPE doubles AS RANGE (subtype = float8, subtype_diff = float8mi)",
    *create_tables(integer="bigint", real="float8", key_text='text COLLATE "C"'),
    'CREATE TABLE boxes (slot bigint NOT NULL, access text COLLATE "C", '
    + ", ".join(f"side{axis} doubles NOT NULL" for axis in range(AXES))
    + ")",
    "CREATE INDEX boxes_slot ON boxes (slot)",
    "CREATE INDEX boxes_access ON boxes (access) WHERE access IS NOT NULL",
    f"CREATE INDEX boxes_sides ON boxes USING gist ({_SIDES}) WHERE access IS NULL",
)


class _PostgresConnection:
    """A connection, opened when it is needed and again after it was lost.

    One that owns the namespace holds a lock on it as long as it lives. Reopened, it checks whether another engine had the
    lock in between: then what is in memory may be outdated.
    """

    def __init__(self, where: str, namespace: str, *, owns: bool) -> None:
        self.lock = Lock()
        self._where, self._namespace, self._owns = where, namespace, owns
        self._link: psycopg.Connection[tuple[Any, ...]] | None = None
        self._signature: str | None = None

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        cursor = self._opened().execute(_written(statement), values or None)
        return cursor.fetchall() if cursor.description is not None else []

    def run_many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._opened().cursor() as cursor:
            cursor.executemany(_written(statement), rows)

    def insert(self, table: str, columns: str, rows: Sequence[Sequence[Any]]) -> None:
        statement: Any = f"COPY {table} ({columns}) FROM STDIN"
        with self._opened().cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._opened().transaction():
            yield

    def reset(self) -> None:
        """Close a connection in an unknown state."""
        self.close()

    def close(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            link.close()

    def sign(self) -> None:
        """Store which engine has the namespace now."""
        self._signature = uuid4().hex
        self.run(
            "INSERT INTO meta (name, value) VALUES ('owner', ?) "
            "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            [self._signature],
        )

    def _opened(self) -> psycopg.Connection[tuple[Any, ...]]:
        import psycopg

        if self._link is None or self._link.closed:
            self._link = psycopg.connect(
                self._where,
                autocommit=True,
                connect_timeout=10,
                options=f"-c search_path={self._namespace} -c client_min_messages=warning {_KEEPALIVES}",
                keepalives_idle=30,
            )
            try:
                if self._owns:
                    self._own(self._link)
            except BaseException:
                self.close()
                raise
        return self._link

    def _own(self, link: psycopg.Connection[tuple[Any, ...]]) -> None:
        import psycopg

        link.execute(f"SET lock_timeout = {_PATIENCE}")
        try:
            link.execute("SELECT pg_advisory_lock(%s, hashtext(%s))", [_LOCK, self._namespace])
        except psycopg.errors.LockNotAvailable:
            raise StoreError("The store is in use by another engine", where=_named(self._namespace)) from None
        link.execute("SET lock_timeout = 0")
        if self._signature is not None:
            found = link.execute("SELECT value FROM meta WHERE name = 'owner'").fetchall()
            if found != [(self._signature,)]:
                reason = "Another engine changed this store while the connection was lost: open it again"
                raise StoreError(reason, where=_named(self._namespace))


class PostgresStore(RelationalStore):
    """Subscriptions in a PostgreSQL database; one engine at a time may have a namespace open.

    Parameters
    ----------
    where : a connection string or address, `postgresql://user@host:port/database`
    schema : declared types, as the engine has them
    namespace : the PostgreSQL schema that holds the tables; created if missing

    Raises
    ------
    MissingPackageError
        If psycopg is not installed.
    StoreError
        If the database cannot be reached, has tables of another version or schema, or is in use.
    """

    tables = _TABLES

    def __init__(self, where: str, *, schema: Schema | None = None, namespace: str = "thatch") -> None:
        if re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", namespace) is None:
            raise ParameterError("lower-case letters, digits and _", shown(namespace), "namespace")
        try:
            import psycopg
        except ImportError as error:
            raise MissingPackageError("psycopg", "brokers", "a store in PostgreSQL") from error
        self._namespace = namespace
        self._owner = _PostgresConnection(where, namespace, owns=True)
        super().__init__(
            schema, psycopg.Error, self._owner, _PostgresConnection(where, namespace, owns=False)
        )

    @property
    def name(self) -> str:
        """The PostgreSQL schema, not the address, which may hold a password."""
        return _named(self._namespace)

    def nbytes(self) -> int:
        """What two connections take."""
        return _BYTES

    def _open(self) -> None:
        super()._open()
        with self._translate_errors(self._owner):
            self._owner.sign()

    def among(self, column: str) -> str:
        return f"{column} = ANY(?)"

    def list_value(self, values: Sequence[Any]) -> Any:
        return list(values)

    def _has_tables(self, change: StoreConnection) -> bool:
        found = change.run(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = ?", [self._namespace]
        )
        names = [name for (name,) in found]
        if names and "meta" not in names:
            raise StoreError("a store or an empty namespace", f"tables {', '.join(names)}", self.name)
        return bool(names)

    def _create(self, change: StoreConnection) -> None:
        change.run(f"CREATE SCHEMA IF NOT EXISTS {self._namespace}")
        super()._create(change)

    def _insert_boxes(self, change: StoreConnection, rows: list[tuple[int, StoredBox]]) -> None:
        change.insert(
            "boxes",
            f"slot, access, {_SIDES}",
            [(slot, row.access, *map(_range, row.bounds(AXES))) for slot, row in rows],
        )

    def _delete_boxes(self, change: StoreConnection, slots: Sequence[int]) -> None:
        change.run(f"DELETE FROM boxes WHERE {self.among('slot')}", [list(slots)])

    def candidates(self, query: BoxQuery) -> tuple[str, list[Any]]:
        """By access key in the B-tree, and by all axes in the GiST index."""
        columns = "s.slot, s.id, s.subscriber, s.expires, s.filter"
        joined = "FROM boxes b JOIN subscriptions s ON s.slot = b.slot"
        sides = "".join(f" AND b.side{axis} && ?::doubles" for axis in range(len(query.sides)))
        ranges = [f"[{low!r},{high!r}]" for low, high in query.sides]
        statement = (
            f"SELECT {columns} {joined} WHERE {self.among('b.access')}{sides} "
            f"UNION ALL SELECT {columns} {joined} WHERE b.access IS NULL{sides}"
        )
        return statement, [query.keys, *ranges, *ranges]


def _named(namespace: str) -> str:
    return f"the namespace {namespace}"


def _range(side: tuple[float, float]) -> str:
    low, high = side
    return f"[{'' if low == LOWEST else repr(low)},{'' if high == TOPMOST else repr(high)}]"


def _written(statement: str) -> Any:
    """A statement with the marks of psycopg."""
    return statement.replace("?", "%s")
