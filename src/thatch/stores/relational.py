"""A cold tier in SQL, the same for every database: what differs is in `sqlite.py` and `postgres.py`.

    meta           version of these tables, schema of the filters
    clusters       what is remembered of each cluster
    subscriptions  all of them, each with its cluster and the tier that answers for it
    attributes     which attribute has which slot, and which derived ones events are asked for (slot −1)
    boxes          rows of those that the database answers for, see `boxes.py`

Every change is one transaction. One engine at a time uses a store: the connection for changes holds a lock on it, which the
database lets go of when the process ends. Questions have a connection of their own, so that a long change does not hold up a
match; each is used by one thread at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import chain
from math import inf
from threading import Lock, RLock
from typing import Any, ClassVar, Protocol

from thatch.errors import StoreError, SubscriptionError, shown
from thatch.model.events import Record
from thatch.model.language import parse
from thatch.model.matching import holds
from thatch.model.schema import Schema
from thatch.stores.boxes import (
    LOWEST,
    TOPMOST,
    Ask,
    BoxRow,
    Variety,
    ask,
    box_rows,
    plain,
    ranged_keys,
    safe,
)
from thatch.tiering.problem import ClusterRecord, Found, Home, Match, StoredSubscription

__all__ = ["SLOTS", "Change", "Connection", "RelationalStore"]

SLOTS = 8  # columns for intervals; attributes get them in the order in which they come
_DERIVED = -1  # the slot of an attribute that has none
_MOST_DERIVED = 256
_LONGEST_ID = 600  # characters; what an index of PostgreSQL surely takes
_BATCH = 1_000

_COLUMNS = "id, subscriber, expires, filter, cluster, cold"


class Change(Protocol):
    """A transaction under way."""

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement; its rows."""

    def run_many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row of values."""

    def insert(self, table: str, columns: str, rows: Sequence[Sequence[Any]]) -> None:
        """Add rows, in the quickest way."""


class Connection(Change, Protocol):
    """A way to the database, opened by its first use; also the transaction under way on it."""

    lock: Lock

    def transaction(self) -> AbstractContextManager[None]:
        """Committed at the end, taken back on an error."""

    def lost(self) -> None:
        """An error has come: whatever state the connection is in, the next call finds it usable."""

    def close(self) -> None:
        """Let go of the database."""


class RelationalStore(ABC):
    """Subscriptions in SQL tables.

    Parameters
    ----------
    schema : declared types, with which filters are read; a store has one for good
    error : what the database raises
    changes, questions : two connections, of which the first holds the lock on the store
    """

    # Statements that bring tables of version 1 to 2, of 2 to 3 and so on; `_create` makes the newest at once.
    upgrades: ClassVar[tuple[tuple[str, ...], ...]] = ()
    explain: ClassVar[str] = "EXPLAIN"  # what stands before a question to see how it is answered

    def __init__(
        self, schema: Schema | None, error: type[Exception], changes: Connection, questions: Connection
    ) -> None:
        self.schema = schema
        self._error, self._changes, self._questions = error, changes, questions
        self._variety = Variety()
        self._slots: dict[str, int] = {}
        self._derived: dict[str, int] = {}
        self._alone = RLock()
        self._learning = Lock()
        # A transaction that nobody saw end may have added attributes: known are those up to so many of such.
        self._unseen, self._known = 1, 0
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    # --- what a database does in its own way -----------------------------------------------------------------------

    @property
    @abstractmethod
    def name(self) -> str:
        """What the store is called in errors."""

    @abstractmethod
    def among(self, column: str) -> str:
        """The condition that a column is one of a list, which is one value of the statement."""

    @abstractmethod
    def listed(self, values: Sequence[Any]) -> Any:
        """A list as one value of a statement."""

    @abstractmethod
    def _create(self, change: Change) -> None:
        """Make the tables of a new store."""

    @abstractmethod
    def _insert_boxes(self, change: Change, rows: list[tuple[int, BoxRow]]) -> None:
        """Add rows of boxes, each with the place of its subscription."""

    @abstractmethod
    def _delete_boxes(self, change: Change, places: Sequence[int]) -> None:
        """Forget all rows of the subscriptions at these places."""

    @abstractmethod
    def candidates(self, asked: Ask) -> tuple[str, list[Any]]:
        """The question for the candidates of an event, and its values; rows are place, id, subscriber, expires, filter."""

    # --- two connections --------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Let go of the database."""
        self._changes.close()
        self._questions.close()

    @contextmanager
    def _told(self, connection: Connection) -> Iterator[None]:
        """What the database finds wrong, as our error."""
        try:
            yield
        except self._error as error:
            connection.lost()
            first = (str(error).strip().splitlines() or ["no reason given"])[0]
            raise StoreError(
                "a database that does what it is asked", f"{type(error).__name__}: {first}", self.name
            ) from error

    @contextmanager
    def _changing(self) -> Iterator[Change]:
        """A transaction: committed at the end, taken back on an error."""
        change = self._changes
        with change.lock, self._told(change), change.transaction():
            yield change

    def alone(self) -> AbstractContextManager[object]:
        """Changes of several calls: other threads wait, who is alone may say so again."""
        return self._alone

    def query(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a question."""
        questions = self._questions
        with questions.lock, self._told(questions):
            return questions.run(statement, values)

    # --- opening ---------------------------------------------------------------------------------------------------

    def _open(self) -> None:
        """Make the tables, or see that they are ours and of this version."""
        told = "" if self.schema is None else repr(self.schema)
        newest = 1 + len(self.upgrades)
        with self._changing() as change:
            if not self._has_tables(change):
                self._create(change)
                change.run_many(
                    "INSERT INTO meta (name, value) VALUES (?, ?)",
                    [("version", str(newest)), ("schema", safe(told))],
                )
            found = dict(change.run("SELECT name, value FROM meta"))
            version = found.get("version", "none")
            if version not in map(str, range(1, newest + 1)):
                raise StoreError(f"tables of version {newest} or before", f"version {version}", self.name)
            if found["schema"] != safe(told):
                raise StoreError(
                    "the schema that the store was made with", shown(told or "no schema"), self.name
                )
            for statement in chain.from_iterable(self.upgrades[int(version) - 1 :]):
                change.run(statement)
            change.run("UPDATE meta SET value = ? WHERE name = 'version'", [str(newest)])

    @abstractmethod
    def _has_tables(self, change: Change) -> bool:
        """Whether the tables are there."""

    def _make_sure(self) -> None:
        """Know all attributes; what is in a column must be asked by its attribute."""
        unseen = self._unseen
        if self._known != unseen:
            self._learn({plain(key): slot for key, slot in self.query("SELECT name, slot FROM attributes")})
            self._known = unseen

    def _learn(self, attributes: dict[str, int]) -> None:
        """Know more attributes, in dicts of their own: other threads may be asking by those that were."""
        with self._learning:
            self._slots = self._slots | {key: slot for key, slot in attributes.items() if slot != _DERIVED}
            self._derived = self._derived | {key: slot for key, slot in attributes.items() if key[-1] == ")"}

    @contextmanager
    def _adding(self, new: dict[str, int]) -> Iterator[None]:
        """A transaction that adds attributes: they are known once it has ended, in doubt if nobody saw that."""
        try:
            yield
        except BaseException:
            self._unseen += 1
            raise
        if new:
            self._learn(new)

    # --- changing --------------------------------------------------------------------------------------------------

    def check(self, identity: str) -> None:
        """Refuse an id that an index may not take."""
        if len(identity) > _LONGEST_ID:
            raise SubscriptionError(f"an id of at most {_LONGEST_ID} characters", shown(identity))

    def put(self, many: Sequence[tuple[StoredSubscription, Home]], clusters: Sequence[ClusterRecord]) -> None:
        """Remember subscriptions in place of those with their ids, and clusters."""
        for each, _ in many:
            self.check(each.identity)
        self._make_sure()
        new = self._new_attributes(each for each, home in many if home.is_cold)
        with self._adding(new), self._changing() as change:
            self._forget(change, [each.identity for each, _ in many])
            self._keep_clusters(change, clusters)
            first = int(change.run("SELECT COALESCE(MAX(place), -1) + 1 FROM subscriptions")[0][0])
            change.insert(
                "subscriptions",
                f"place, {_COLUMNS}",
                [
                    (
                        first + number,
                        safe(each.identity),
                        None if each.subscriber is None else safe(each.subscriber),
                        None if each.expires == inf else each.expires,
                        safe(each.text),
                        home.cluster,
                        int(home.is_cold),
                    )
                    for number, (each, home) in enumerate(many)
                ],
            )
            cold = [(first + number, each) for number, (each, home) in enumerate(many) if home.is_cold]
            self._keep_boxes(change, cold, new)

    def remove(self, identities: Sequence[str]) -> None:
        """Forget subscriptions."""
        with self._changing() as change:
            self._forget(change, identities)

    def move(self, record: ClusterRecord, members: Sequence[StoredSubscription]) -> None:
        """Let the tier that the record tells answer for members of a cluster, and for new ones."""
        self._make_sure()
        new = self._new_attributes(members) if record.is_cold else {}
        with self._adding(new), self._changing() as change:
            self._keep_clusters(change, [record])
            ids = [safe(each.identity) for each in members]
            found = change.run(
                f"SELECT place, id FROM subscriptions WHERE {self.among('id')}", [self.listed(ids)]
            )
            place_of = {plain(identity): place for place, identity in found}
            self._delete_boxes(change, list(place_of.values()))
            change.run(
                f"UPDATE subscriptions SET cold = {int(record.is_cold)} WHERE {self.among('id')}",
                [self.listed(ids)],
            )
            if record.is_cold:
                known = [(place_of[each.identity], each) for each in members if each.identity in place_of]
                self._keep_boxes(change, known, new)

    def fold(self, folds: Sequence[tuple[ClusterRecord, Sequence[int]]]) -> None:
        """Let clusters become part of others, and forget those without members."""
        with self._changing() as change:
            self._keep_clusters(change, [record for record, _ in folds])
            for record, numbers in folds:
                change.run(
                    f"UPDATE subscriptions SET cluster = ? WHERE {self.among('cluster')}",
                    [record.number, self.listed(list(numbers))],
                )
            change.run("DELETE FROM clusters WHERE number NOT IN (SELECT cluster FROM subscriptions)")

    def _forget(self, change: Change, identities: Sequence[str]) -> None:
        ids = self.listed([safe(each) for each in identities])
        places = change.run(f"SELECT place, cold FROM subscriptions WHERE {self.among('id')}", [ids])
        if places:
            self._delete_boxes(change, [place for place, is_cold in places if is_cold])
            change.run(f"DELETE FROM subscriptions WHERE {self.among('id')}", [ids])

    def _keep_clusters(self, change: Change, clusters: Sequence[ClusterRecord]) -> None:
        change.run_many(
            "INSERT INTO clusters (number, name, cold, nodes, predicates) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (number) DO UPDATE SET "
            "cold = excluded.cold, nodes = excluded.nodes, predicates = excluded.predicates",
            [
                (each.number, safe(each.key), int(each.is_cold), each.nodes, each.predicates)
                for each in clusters
            ],
        )

    def _keep_boxes(
        self, change: Change, many: list[tuple[int, StoredSubscription]], new: dict[str, int]
    ) -> None:
        if new:
            change.run_many(
                "INSERT INTO attributes (name, slot) VALUES (?, ?) "
                "ON CONFLICT (name) DO UPDATE SET slot = excluded.slot",  # a derived one may get a slot later
                [(safe(key), slot) for key, slot in new.items()],
            )
        slots = self._slots | {key: slot for key, slot in new.items() if slot != _DERIVED}
        derived = self._derived | {key: slot for key, slot in new.items() if key[-1] == ")"}
        rows = [
            (place, row)
            for place, each in many
            for row in box_rows(each.filter, slots, self._variety, derived)
        ]
        self._insert_boxes(change, rows)

    def _new_attributes(self, many: Iterable[StoredSubscription]) -> dict[str, int]:
        """Slots for attributes that come for the first time, as long as there are any."""
        new: dict[str, int] = {}
        for each in many:
            for key, is_ranged in ranged_keys(each.filter):
                if key in self._slots or key in new:
                    continue
                slot = len(self._slots) + sum(each >= 0 for each in new.values())
                if is_ranged and slot < SLOTS:
                    new[key] = slot
                elif (
                    key[-1] == ")"
                    and key not in self._derived
                    and len(self._derived) + len(new) < _MOST_DERIVED
                ):
                    new[key] = _DERIVED
        return new

    # --- asking ----------------------------------------------------------------------------------------------------

    def clusters(self) -> list[ClusterRecord]:
        """All clusters, with their members counted."""
        rows = self.query(
            "SELECT number, name, c.cold, nodes, predicates, COUNT(s.place) FROM clusters c "
            "LEFT JOIN subscriptions s ON s.cluster = c.number "
            "GROUP BY number, name, c.cold, nodes, predicates ORDER BY number"
        )
        return [ClusterRecord(row[0], plain(row[1]), bool(row[2]), *row[3:]) for row in rows]

    def fast(self) -> Iterator[list[Found]]:
        """What the fast tier must answer for, some at a time."""
        last = -1
        while rows := self.query(
            f"SELECT place, {_COLUMNS} FROM subscriptions WHERE cold = 0 AND place > ? ORDER BY place LIMIT {_BATCH}",
            [last],
        ):
            last = rows[-1][0]
            yield [self._found(row[1:]) for row in rows]

    def find(self, identities: Sequence[str]) -> dict[str, Found]:
        """Those of these ids that are known."""
        rows = self.query(
            f"SELECT {_COLUMNS} FROM subscriptions WHERE {self.among('id')}",
            [self.listed([safe(each) for each in identities])],
        )
        found = [self._found(row) for row in rows]
        return {each.subscription.identity: each for each in found}

    def members(self, cluster: int) -> list[Found]:
        """All subscriptions of a cluster."""
        rows = self.query(f"SELECT {_COLUMNS} FROM subscriptions WHERE cluster = ? ORDER BY place", [cluster])
        return [self._found(row) for row in rows]

    def match(self, record: Record, now: float | None = None) -> list[Match]:
        """Who of those that the database answers for wants an event, in the order in which they came."""
        rows = self.query(*self.candidates(self.asked(record)))
        matched: dict[int, Match] = {}
        for place, identity, subscriber, expires, text in rows:
            if place in matched or (now is not None and expires is not None and expires <= now):
                continue
            filter = parse(plain(text), self.schema)
            if any(holds(conjunction, record) for conjunction in filter.conjunctions):
                matched[place] = Match(plain(identity), None if subscriber is None else plain(subscriber))
        return [matched[place] for place in sorted(matched)]

    def asked(self, record: Record) -> Ask:
        """What the database is asked for an event."""
        self._make_sure()
        return ask(record, self._slots, self._derived)

    def plan(self, record: Record) -> str:
        """How the database finds the candidates of an event, in its own words: which indexes it uses."""
        statement, values = self.candidates(self.asked(record))
        return "\n".join(str(row[-1]) for row in self.query(f"{self.explain} {statement}", values))

    def expired(self, now: float) -> list[str]:
        """Ids of all that has expired, in the order in which they came."""
        rows = self.query("SELECT id FROM subscriptions WHERE expires <= ? ORDER BY place", [now])
        return [plain(identity) for (identity,) in rows]

    def identities(self) -> Iterator[str]:
        """All ids, in the order in which they came."""
        last = -1
        while rows := self.query(
            f"SELECT place, id FROM subscriptions WHERE place > ? ORDER BY place LIMIT {_BATCH}", [last]
        ):
            last = rows[-1][0]
            yield from (plain(identity) for _, identity in rows)

    def _found(self, row: Sequence[Any]) -> Found:
        identity, subscriber, expires, text, cluster, is_cold = row
        text = plain(text)
        subscription = StoredSubscription(
            plain(identity),
            parse(text, self.schema),
            text,
            None if subscriber is None else plain(subscriber),
            inf if expires is None else expires,
        )
        return Found(subscription, Home(cluster, bool(is_cold)))

    @staticmethod
    def _bounds(row: BoxRow) -> list[tuple[float, float]]:
        """An interval for each slot, the whole line where there is no condition."""
        return [row.sides.get(slot, (LOWEST, TOPMOST)) for slot in range(SLOTS)]
