"""What a store needs of a database: a connection, and the tables that all databases have alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from threading import Lock
from typing import Any, Protocol

__all__ = ["AXES", "StoreConnection", "create_tables"]

AXES = 8  # attributes with columns for an interval, given in the order in which they come


class StoreConnection(Protocol):
    """A connection, opened by its first use; also the transaction under way on it."""

    lock: Lock

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement; return its rows."""

    def run_many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row of values."""

    def insert(self, table: str, columns: str, rows: Sequence[Sequence[Any]]) -> None:
        """Add rows, in the quickest way."""

    def transaction(self) -> AbstractContextManager[None]:
        """Commit at the end, roll back on an error."""

    def reset(self) -> None:
        """Make the connection usable again after an error."""

    def close(self) -> None:
        """Close it."""


def create_tables(integer: str, real: str, key_text: str) -> list[str]:
    """The statements that create the tables that all databases have alike, but for the names of types."""
    return [
        "CREATE TABLE meta (name text PRIMARY KEY, value text NOT NULL)",
        (
            f"CREATE TABLE clusters (number {integer} PRIMARY KEY, name text NOT NULL, cold smallint NOT NULL, "
            f"nodes {integer} NOT NULL, predicates {integer} NOT NULL)"
        ),
        (
            f"CREATE TABLE subscriptions (slot {integer} PRIMARY KEY, id {key_text} NOT NULL UNIQUE, subscriber text, "
            f"expires {real}, filter text NOT NULL, cluster {integer} NOT NULL, cold smallint NOT NULL)"
        ),
        "CREATE INDEX subscriptions_cluster ON subscriptions (cluster)",
        "CREATE INDEX subscriptions_fast ON subscriptions (slot) WHERE cold = 0",
        "CREATE INDEX subscriptions_expires ON subscriptions (expires) WHERE expires IS NOT NULL",
        "CREATE TABLE attributes (name text PRIMARY KEY, axis integer NOT NULL)",
    ]
