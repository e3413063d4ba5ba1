"""What a store refuses and accepts before any database is asked."""

from __future__ import annotations

import pytest

from tests.stores.databases import cold, made
from thatch.errors import SubscriptionError
from thatch.model.schema import Schema
from thatch.model.types import Integer
from thatch.stores import SqliteStore


def test_a_store_takes_an_equal_schema_declared_in_another_order(tmp_path):
    for names in ("xy", "yx"):
        schema = Schema({name: Integer(0, ord(name)) for name in names})
        SqliteStore(tmp_path / "store.db", schema=schema).close()


@pytest.mark.parametrize("bad", ["", "a\0b"])
def test_empty_ids_and_ids_with_nul_are_refused(tmp_path, bad):
    store = SqliteStore(tmp_path / "store.db")
    with pytest.raises(SubscriptionError, match="not empty and has no NUL"):
        store.put([(made(bad, "x = 1"), cold())], [])
    store.close()
