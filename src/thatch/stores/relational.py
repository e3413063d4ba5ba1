"""A cold tier in SQL, the same for every database: what differs is in `sqlite.py` and `postgres.py`.

    meta           version of these tables, schema of the filters
    clusters       a row per cluster
    subscriptions  all of them, each with its cluster and the tier that answers for it
    attributes     which attribute has which axis, and which derived ones are access keys (axis -1)
    boxes          rows of the subscriptions that the database answers for, see `boxes.py`

Every change is one transaction. One engine at a time uses a store: the connection for changes holds a lock on it, which the
database releases when the process ends. Queries have a connection of their own, so that a long change does not delay a
match; each connection is used by one thread at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, count
from math import inf
from threading import Lock, RLock
from typing import Any, ClassVar

from thatch.errors import StoreError, SubscriptionError, shown
from thatch.model.events import Record
from thatch.model.language import parse
from thatch.model.schema import Schema
from thatch.model.values import check_id
from thatch.stores.boxes import (
    BoxQuery,
    StoredBox,
    Variety,
    box_query,
    box_rows,
    escape,
    ranged_keys,
    unescape,
)
from thatch.stores.connection import AXES, StoreConnection
from thatch.tiering.problem import ClusterRecord, ColdTier, Found, Home, Match, StoredSubscription

__all__ = ["RelationalStore"]

_NO_AXIS, _BATCH = -1, 1_000
_MOST_DERIVED = 256
_LONGEST_ID = 600  # characters; an index of PostgreSQL surely takes that many

_COLUMNS = "id, subscriber, expires, filter, cluster, cold"


class RelationalStore(ColdTier, ABC):
    """Subscriptions in SQL tables.

    Parameters
    ----------
    schema : declared types, with which filters are parsed; a store keeps its schema
    error : what the database raises
    changes, queries : two connections, of which the first holds the lock on the store
    """

    # Statements that upgrade tables of version 1 to 2, of 2 to 3 and so on; `_create` makes the newest at once.
    upgrades: ClassVar[tuple[tuple[str, ...], ...]] = ()
    tables: ClassVar[tuple[str, ...]]  # statements that create them
    explain: ClassVar[str] = "EXPLAIN"  # put before a query to see its plan

    def __init__(
        self,
        schema: Schema | None,
        error: type[Exception],
        changes: StoreConnection,
        queries: StoreConnection,
    ) -> None:
        self.schema = schema
        self._error, self._changes, self._queries = error, changes, queries
        self._variety = Variety()
        self._axes: dict[str, int] = {}
        self._derived: dict[str, int] = {}
        self._alone = RLock()
        self._learning = Lock()
        # A transaction whose end nobody saw may have added attributes: known are those up to so many of such.
        self._unseen, self._known = 1, 0
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    # --- what each database does in its own way ---------------------------------------------------------------------

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the store in errors."""

    @abstractmethod
    def among(self, column: str) -> str:
        """The condition that a column is one of a list, which is one value of the statement."""

    @abstractmethod
    def list_value(self, values: Sequence[Any]) -> Any:
        """A list as one value of a statement."""

    @abstractmethod
    def _has_tables(self, change: StoreConnection) -> bool:
        """Whether the tables exist."""

    def _create(self, change: StoreConnection) -> None:
        """Create the tables of a new store."""
        for statement in self.tables:
            change.run(statement)

    @abstractmethod
    def _insert_boxes(self, change: StoreConnection, rows: list[tuple[int, StoredBox]]) -> None:
        """Add rows of boxes, each with the slot of its subscription."""

    @abstractmethod
    def _delete_boxes(self, change: StoreConnection, slots: Sequence[int]) -> None:
        """Delete all rows of the subscriptions in these slots."""

    @abstractmethod
    def candidates(self, query: BoxQuery) -> tuple[str, list[Any]]:
        """The statement that finds the candidates of an event, and its values; rows are slot, id, subscriber, expires, filter."""

    # --- two connections --------------------------------------------------------------------------------------------

    def close(self) -> None:
        self._changes.close()
        self._queries.close()

    @contextmanager
    def _translate_errors(self, connection: StoreConnection) -> Iterator[None]:
        """Raise `StoreError` for what the database raises, and its driver for values that it cannot write."""
        try:
            yield
        except (self._error, UnicodeError, OverflowError) as error:
            connection.reset()
            first = (str(error).strip().splitlines() or ["no reason given"])[0]
            reason = f"The database failed: {type(error).__name__}: {first}"
            raise StoreError(reason, where=self.name) from error

    @contextmanager
    def _changing(self) -> Iterator[StoreConnection]:
        """A transaction."""
        change = self._changes
        with change.lock, self._translate_errors(change), change.transaction():
            yield change

    def lock(self) -> RLock:
        return self._alone

    def query(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        queries = self._queries
        with queries.lock, self._translate_errors(queries):
            return queries.run(statement, values)

    # --- opening ---------------------------------------------------------------------------------------------------

    def _open(self) -> None:
        """Create the tables, or check that they are ours and upgrade them to this version."""
        schema = "" if self.schema is None else repr(Schema(dict(sorted(self.schema.items()))))
        newest = 1 + len(self.upgrades)
        with self._changing() as change:
            if not self._has_tables(change):
                self._create(change)
                change.run_many(
                    "INSERT INTO meta (name, value) VALUES (?, ?)",
                    [("version", str(newest)), ("schema", escape(schema))],
                )
            found = dict(change.run("SELECT name, value FROM meta"))
            version = found.get("version", "none")
            if version not in map(str, range(1, newest + 1)):
                raise StoreError(f"tables of version {newest} or before", f"version {version}", self.name)
            if found["schema"] not in (escape(schema), escape(repr(self.schema))):  # before: as declared
                expected = "the schema that the store was created with"
                raise StoreError(expected, shown(schema or "no schema"), self.name)
            for statement in chain.from_iterable(self.upgrades[int(version) - 1 :]):
                change.run(statement)
            change.run("UPDATE meta SET value = ? WHERE name = 'version'", [str(newest)])

    def _load_attributes(self) -> None:
        """Know all attributes that are stored: each column must be queried by its attribute."""
        unseen = self._unseen
        if self._known != unseen:
            rows = self.query("SELECT name, axis FROM attributes")
            self._learn({unescape(key): axis for key, axis in rows})
            self._known = unseen

    def _learn(self, attributes: dict[str, int]) -> None:
        """Know more attributes, in new dicts: other threads may be using the old ones."""
        with self._learning:
            self._axes, self._derived = self._with(attributes)

    def _with(self, attributes: dict[str, int]) -> tuple[dict[str, int], dict[str, int]]:
        """The axes and the derived attributes, and those among more attributes."""
        axes = {key: axis for key, axis in attributes.items() if axis != _NO_AXIS}
        derived = {key: axis for key, axis in attributes.items() if key[-1] == ")"}
        return self._axes | axes, self._derived | derived

    @contextmanager
    def _adding(self, new: dict[str, int]) -> Iterator[StoreConnection]:
        """A transaction that adds attributes: known once it has ended, uncertain if nobody saw that."""
        try:
            with self._changing() as change:
                yield change
        except BaseException:
            self._unseen += 1
            raise
        if new:
            self._learn(new)

    # --- changing --------------------------------------------------------------------------------------------------

    def check(self, identity: str) -> None:
        if len(check_id(identity)) > _LONGEST_ID:
            raise SubscriptionError(f"an id of at most {_LONGEST_ID} characters", shown(identity))

    def put(self, many: Sequence[tuple[StoredSubscription, Home]], clusters: Sequence[ClusterRecord]) -> None:
        for each, _ in many:
            self.check(each.identity)
        self._load_attributes()
        new = self._new_attributes(each for each, home in many if home.is_cold)
        with self._adding(new) as change:
            free = count(int(change.run("SELECT COALESCE(MAX(slot), -1) + 1 FROM subscriptions")[0][0]))
            known = self._delete(change, [each.identity for each, _ in many])  # these keep their slots
            slots = [known[each.identity] if each.identity in known else next(free) for each, _ in many]
            self._put_clusters(change, clusters)
            change.insert(
                "subscriptions",
                f"slot, {_COLUMNS}",
                [
                    (
                        slot,
                        escape(each.identity),
                        None if each.subscriber is None else escape(each.subscriber),
                        None if each.expires == inf else each.expires,
                        escape(each.text),
                        home.cluster,
                        int(home.is_cold),
                    )
                    for slot, (each, home) in zip(slots, many, strict=True)
                ],
            )
            cold = [(slot, each) for slot, (each, home) in zip(slots, many, strict=True) if home.is_cold]
            self._put_boxes(change, cold, new)

    def remove(self, identities: Sequence[str]) -> None:
        with self._changing() as change:
            self._delete(change, identities)

    def move(self, record: ClusterRecord, members: Sequence[StoredSubscription]) -> None:
        self._load_attributes()
        new = self._new_attributes(members) if record.is_cold else {}
        among, ids = self.among("id"), [self.list_value([escape(each.identity) for each in members])]
        with self._adding(new) as change:
            self._put_clusters(change, [record])
            found = change.run(f"SELECT slot, id FROM subscriptions WHERE {among}", ids)
            slot_of = {unescape(identity): slot for slot, identity in found}
            self._delete_boxes(change, list(slot_of.values()))
            change.run(f"UPDATE subscriptions SET cold = {int(record.is_cold)} WHERE {among}", ids)
            if record.is_cold:
                known = [(slot_of[each.identity], each) for each in members if each.identity in slot_of]
                self._put_boxes(change, known, new)

    def fold(self, folds: Sequence[tuple[ClusterRecord, Sequence[int]]]) -> None:
        with self._changing() as change:
            self._put_clusters(change, [record for record, _ in folds])
            for record, numbers in folds:
                change.run(
                    f"UPDATE subscriptions SET cluster = ? WHERE {self.among('cluster')}",
                    [record.number, self.list_value(list(numbers))],
                )
            change.run("DELETE FROM clusters WHERE number NOT IN (SELECT cluster FROM subscriptions)")

    def _delete(self, change: StoreConnection, identities: Sequence[str]) -> dict[str, int]:
        """Delete subscriptions; return the slots that they had."""
        among, ids = self.among("id"), [self.list_value([escape(each) for each in identities])]
        found = change.run(f"SELECT id, slot, cold FROM subscriptions WHERE {among}", ids)
        if found:
            self._delete_boxes(change, [slot for _, slot, is_cold in found if is_cold])
            change.run(f"DELETE FROM subscriptions WHERE {among}", ids)
        return {unescape(identity): slot for identity, slot, _ in found}

    def _put_clusters(self, change: StoreConnection, clusters: Sequence[ClusterRecord]) -> None:
        change.run_many(
            "INSERT INTO clusters (number, name, cold, nodes, predicates) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (number) DO UPDATE SET "
            "cold = excluded.cold, nodes = excluded.nodes, predicates = excluded.predicates",
            [
                (each.number, escape(each.key), int(each.is_cold), each.nodes, each.predicates)
                for each in clusters
            ],
        )

    def _put_boxes(
        self, change: StoreConnection, many: list[tuple[int, StoredSubscription]], new: dict[str, int]
    ) -> None:
        if new:
            change.run_many(
                "INSERT INTO attributes (name, axis) VALUES (?, ?) "
                "ON CONFLICT (name) DO UPDATE SET axis = excluded.axis",  # a derived one may get an axis later
                [(escape(key), axis) for key, axis in new.items()],
            )
        axes, derived = self._with(new)
        rows = [
            (slot, row) for slot, each in many for row in box_rows(each.filter, axes, self._variety, derived)
        ]
        self._insert_boxes(change, rows)

    def _new_attributes(self, many: Iterable[StoredSubscription]) -> dict[str, int]:
        """Axes for attributes that come for the first time, as long as there are any."""
        new: dict[str, int] = {}
        for each in many:
            for key, is_ranged in ranged_keys(each.filter):
                if key in self._axes or key in new:
                    continue
                axis = len(self._axes) + sum(each >= 0 for each in new.values())
                has_room = len(self._derived) + len(new) < _MOST_DERIVED
                if is_ranged and axis < AXES:
                    new[key] = axis
                elif key[-1] == ")" and key not in self._derived and has_room:
                    new[key] = _NO_AXIS
        return new

    # --- asking ----------------------------------------------------------------------------------------------------

    def clusters(self) -> list[ClusterRecord]:
        rows = self.query(
            "SELECT number, name, c.cold, nodes, predicates, COUNT(s.slot) FROM clusters c "
            "LEFT JOIN subscriptions s ON s.cluster = c.number "
            "GROUP BY number, name, c.cold, nodes, predicates ORDER BY number"
        )
        return [ClusterRecord(row[0], unescape(row[1]), bool(row[2]), *row[3:]) for row in rows]

    def fast(self) -> Iterator[list[Found]]:
        for rows in self._pages(_COLUMNS, "cold = 0"):
            yield [self._found(row[1:]) for row in rows]

    def find(self, identities: Sequence[str]) -> dict[str, Found]:
        rows = self.query(
            f"SELECT {_COLUMNS} FROM subscriptions WHERE {self.among('id')}",
            [self.list_value([escape(each) for each in identities])],
        )
        found = [self._found(row) for row in rows]
        return {each.subscription.identity: each for each in found}

    def members(self, cluster: int) -> list[Found]:
        rows = self.query(f"SELECT {_COLUMNS} FROM subscriptions WHERE cluster = ? ORDER BY slot", [cluster])
        return [self._found(row) for row in rows]

    def match(self, record: Record, now: float | None = None) -> list[Match]:
        matched: dict[int, Match] = {}
        for slot, identity, subscriber, expires, text in self.query(*self.candidates(self.box_query(record))):
            if slot in matched or (now is not None and expires is not None and expires <= now):
                continue
            filter = parse(unescape(text), self.schema)
            if filter.holds(record):
                matched[slot] = Match(
                    unescape(identity), None if subscriber is None else unescape(subscriber)
                )
        return [matched[slot] for slot in sorted(matched)]

    def box_query(self, record: Record) -> BoxQuery:
        """What the database is asked for an event."""
        self._load_attributes()
        return box_query(record, self._axes, self._derived)

    def plan(self, record: Record) -> str:
        """How the database finds the candidates of an event, in its own words: which indexes it uses."""
        statement, values = self.candidates(self.box_query(record))
        return "\n".join(str(row[-1]) for row in self.query(f"{self.explain} {statement}", values))

    def find_expired(self, now: float) -> list[str]:
        rows = self.query("SELECT id FROM subscriptions WHERE expires <= ? ORDER BY slot", [now])
        return [unescape(identity) for (identity,) in rows]

    def identities(self) -> Iterator[str]:
        for rows in self._pages("id", "1 = 1"):
            yield from (unescape(identity) for _, identity in rows)

    def _pages(self, columns: str, condition: str) -> Iterator[list[tuple[Any, ...]]]:
        """Slots and columns of the subscriptions that satisfy a condition, some at a time."""
        last = -1
        where = f"{condition} AND slot > ? ORDER BY slot LIMIT {_BATCH}"
        while rows := self.query(f"SELECT slot, {columns} FROM subscriptions WHERE {where}", [last]):
            last = rows[-1][0]
            yield rows

    def _found(self, row: Sequence[Any]) -> Found:
        identity, subscriber, expires, text, cluster, is_cold = row
        text = unescape(text)
        subscription = StoredSubscription(
            unescape(identity),
            parse(text, self.schema),
            text,
            None if subscriber is None else unescape(subscriber),
            inf if expires is None else expires,
        )
        return Found(subscription, Home(cluster, bool(is_cold)))
