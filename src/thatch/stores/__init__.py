"""Subscriptions in a database, which also answers for those that memory has no room for: SQLite and PostgreSQL."""

from __future__ import annotations

from thatch.stores.embedded import EmbeddedPostgres
from thatch.stores.postgres import PostgresStore
from thatch.stores.sqlite import SqliteStore

__all__ = ["EmbeddedPostgres", "PostgresStore", "SqliteStore"]
