"""The cold tier in PostgreSQL.

Rows with an access key are found by a B-tree; the others by one GiST index over the ranges of all slots. The ranges are of
a type of our own, as PostgreSQL has none of doubles. A connection that was lost is made again by the next call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

from thatch.errors import MissingPackageError, ParameterError, StoreError, shown
from thatch.model.schema import Schema
from thatch.stores.boxes import LOWEST, TOPMOST, Ask, BoxRow
from thatch.stores.relational import SLOTS, Change, RelationalStore

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresStore"]

_BYTES = 256 << 10  # what two connections take in this process, rows under way included
_SIDES = ", ".join(f"side{slot}" for slot in range(SLOTS))

_TABLES = (
    "CREATE TYPE doubles AS RANGE (subtype = float8, subtype_diff = float8mi)",
    "CREATE TABLE meta (name text PRIMARY KEY, value text NOT NULL)",
    (
        "CREATE TABLE clusters (number bigint PRIMARY KEY, name text NOT NULL, cold smallint NOT NULL, "
        "nodes bigint NOT NULL, predicates bigint NOT NULL)"
    ),
    (
        'CREATE TABLE subscriptions (place bigint PRIMARY KEY, id text COLLATE "C" NOT NULL UNIQUE, subscriber text, '
        "expires float8, filter text NOT NULL, cluster bigint NOT NULL, cold smallint NOT NULL)"
    ),
    "CREATE INDEX subscriptions_cluster ON subscriptions (cluster)",
    "CREATE INDEX subscriptions_fast ON subscriptions (place) WHERE cold = 0",
    "CREATE INDEX subscriptions_expires ON subscriptions (expires) WHERE expires IS NOT NULL",
    "CREATE TABLE attributes (name text PRIMARY KEY, slot integer NOT NULL)",
    'CREATE TABLE boxes (place bigint NOT NULL, access text COLLATE "C", '
    + ", ".join(f"side{slot} doubles NOT NULL" for slot in range(SLOTS))
    + ")",
    "CREATE INDEX boxes_place ON boxes (place)",
    "CREATE INDEX boxes_access ON boxes (access) WHERE access IS NOT NULL",
    f"CREATE INDEX boxes_sides ON boxes USING gist ({_SIDES}) WHERE access IS NULL",
)


class _Connection:
    """A connection, made when it is needed and after it was lost; also the transaction under way on it."""

    def __init__(self, where: str, namespace: str) -> None:
        self.lock = Lock()
        self._where, self._namespace = where, namespace
        self._link: psycopg.Connection[tuple[Any, ...]] | None = None

    def link(self) -> psycopg.Connection[tuple[Any, ...]]:
        import psycopg

        if self._link is None or self._link.closed:
            self._link = psycopg.connect(
                self._where,
                autocommit=True,
                connect_timeout=10,
                options=f"-c search_path={self._namespace} -c client_min_messages=warning",
                keepalives_idle=30,
            )
        return self._link

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        cursor = self.link().execute(_written(statement), values or None)
        return cursor.fetchall() if cursor.description is not None else []

    def run_many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        with self.link().cursor() as cursor:
            cursor.executemany(_written(statement), rows)

    def drop(self) -> None:
        """Forget a connection in an unknown state."""
        link, self._link = self._link, None
        if link is not None:
            link.close()


class PostgresStore(RelationalStore):
    """Subscriptions in a PostgreSQL database.

    Parameters
    ----------
    where : a connection string or address, `postgresql://user@host:port/database`
    schema : declared types, as the engine has them
    namespace : the PostgreSQL schema that holds the tables; made if there is none

    Raises
    ------
    MissingPackageError
        If psycopg is not installed.
    StoreError
        If the database cannot be reached, or has tables of another version or schema.
    """

    def __init__(self, where: str, *, schema: Schema | None = None, namespace: str = "thatch") -> None:
        super().__init__(schema)
        if re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", namespace) is None:
            raise ParameterError("lower-case letters, digits and _", shown(namespace), "namespace")
        try:
            import psycopg
        except ImportError as error:
            raise MissingPackageError("psycopg", "brokers", "a store in PostgreSQL") from error
        self._error: type[Exception] = psycopg.Error
        self._namespace = namespace
        self._changes, self._questions = _Connection(where, namespace), _Connection(where, namespace)
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    @property
    def name(self) -> str:
        """The PostgreSQL schema; an address may hold a password."""
        return f"the namespace {self._namespace}"

    def nbytes(self) -> int:
        """What two connections take."""
        return _BYTES

    def close(self) -> None:
        """Let go of the database."""
        self._changes.drop()
        self._questions.drop()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except self._error as error:
            first = (str(error).strip().splitlines() or ["no reason given"])[0]
            raise StoreError(
                "a database that does what it is asked", f"{type(error).__name__}: {first}", self.name
            ) from error

    @contextmanager
    def _changing(self) -> Iterator[Change]:
        change = self._changes
        with change.lock, self._told():
            try:
                with change.link().transaction():
                    yield change
            except self._error:
                change.drop()
                raise

    def query(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        questions = self._questions
        with questions.lock, self._told():
            try:
                return questions.run(statement, values)
            except self._error:
                questions.drop()
                raise

    def among(self, column: str) -> str:
        return f"{column} = ANY(?)"

    def listed(self, values: Sequence[Any]) -> Any:
        return list(values)

    def _has_tables(self, change: Change) -> bool:
        found = change.run(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = ?", [self._namespace]
        )
        names = [name for (name,) in found]
        if names and "meta" not in names:
            raise StoreError(
                "a namespace that a store has made, or none", f"tables {', '.join(names)}", self.name
            )
        return bool(names)

    def _create(self, change: Change) -> None:
        change.run(f"CREATE SCHEMA IF NOT EXISTS {self._namespace}")
        for statement in _TABLES:
            change.run(statement)

    def _insert_boxes(self, change: Change, rows: list[tuple[int, BoxRow]]) -> None:
        marks = ", ".join(["?", "?", *["?::doubles"] * SLOTS])
        change.run_many(
            f"INSERT INTO boxes (place, access, {_SIDES}) VALUES ({marks})",
            [(place, row.access, *map(_range, self._bounds(row))) for place, row in rows],
        )

    def _delete_boxes(self, change: Change, places: Sequence[int]) -> None:
        change.run(f"DELETE FROM boxes WHERE {self.among('place')}", [list(places)])

    def candidates(self, asked: Ask) -> tuple[str, list[Any]]:
        """By access key in the B-tree, and by all slots in the GiST index."""
        columns = "s.place, s.id, s.subscriber, s.expires, s.filter"
        joined = "FROM boxes b JOIN subscriptions s ON s.place = b.place"
        sides = "".join(f" AND b.side{slot} && ?::doubles" for slot in range(len(asked.sides)))
        ranges = [f"[{low!r},{high!r}]" for low, high in asked.sides]
        statement = (
            f"SELECT {columns} {joined} WHERE {self.among('b.access')}{sides} "
            f"UNION ALL SELECT {columns} {joined} WHERE b.access IS NULL{sides}"
        )
        return statement, [asked.keys, *ranges, *ranges]


def _range(side: tuple[float, float]) -> str:
    low, high = side
    return f"[{'' if low == LOWEST else repr(low)},{'' if high == TOPMOST else repr(high)}]"


def _written(statement: str) -> Any:
    """A statement with the marks of psycopg."""
    return statement.replace("?", "%s")
