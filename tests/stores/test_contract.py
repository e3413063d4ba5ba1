"""One contract for every store: what it remembers, and that it answers as the plain tier does."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from threading import Event, Thread

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.examples import examples
from tests.stores.databases import KINDS, cold, made, opener, record
from tests.strategies import events, expressions, schemas
from thatch.errors import StoreError, SubscriptionError, ThatchError
from thatch.model.events import read_event
from thatch.model.filters import Filter
from thatch.model.schema import Schema
from thatch.model.types import Integer
from thatch.stores import PostgresStore, SqliteStore
from thatch.tiering.problem import Home, StoredSubscription
from thatch.tiering.reference import PlainColdTier

SHARED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]  # examples share a store, and empty it


@pytest.fixture(params=KINDS)
def kind(request) -> str:
    return request.param


@pytest.fixture
def opens(kind, request, tmp_path_factory):
    return opener(kind, request, tmp_path_factory)


@pytest.fixture
def store(opens):
    opened = opens()
    yield opened
    opened.close()


def matched(store, event, now=None) -> list[str]:
    return [each.identity for each in store.match(read_event(event, store.schema), now)]


# --- what it remembers -------------------------------------------------------------------------------------------


def test_a_store_that_is_opened_again_knows_everything(opens):
    store = opens()
    fast = made("fast", "x < 5", "desk")
    store.put([(fast, Home(0, is_cold=False)), (made("slow", "y = 'a'", expires=9.5), cold(1))], [record(0)])
    store.put([], [record(1)])
    store.close()
    again = opens()
    assert [each for some in again.fast() for each in some] == [(fast, Home(0, is_cold=False))]
    assert again.find(["slow", "none"]) == {"slow": (made("slow", "y = 'a'", expires=9.5), cold(1))}
    assert [(each.number, each.members) for each in again.clusters()] == [(0, 1), (1, 1)]
    assert list(again.identities()) == ["fast", "slow"]
    assert matched(again, {"x": 1, "y": "a"}) == ["slow"]
    again.close()


def test_an_axis_that_a_derived_attribute_gets_later_is_its_own_after_a_restart(opens):
    store = opens()
    later = "t > timestamp '2020-01-01T00:00:00Z'"
    store.put([(made("s1", later), cold())], [record()])
    store.put([(made("s2", f"not ({later})"), cold())], [])
    store.close()
    again = opens()
    again.put([(made("s3", "b > 5"), cold())], [])
    assert matched(again, {"t": "2019-01-01T00:00:00Z", "b": 9e30}) == ["s2", "s3"]
    assert matched(again, {"t": "2021-01-01T00:00:00Z", "b": 1}) == ["s1"]
    axes = [axis for (axis,) in again.query("SELECT axis FROM attributes WHERE axis >= 0")]
    assert len(axes) == len(set(axes))
    again.close()


def test_a_known_id_is_replaced_in_both_tiers(store):
    store.put([(made("a", "x = 1"), cold()), (made("b", "x = 1"), cold())], [record()])
    store.put([(made("a", "x = 2"), cold()), (made("b", "x = 1"), Home(0, is_cold=False))], [])
    assert matched(store, {"x": 1}) == []
    assert matched(store, {"x": 2}) == ["a"]
    assert sorted(store.identities()) == ["a", "b"]


def test_what_is_removed_is_gone_and_unknown_ids_are_no_error(store):
    store.put([(made("a", "x = 1 or y < 3"), cold()), (made("b", "x > 0"), cold())], [record()])
    store.remove(["a", "never"])
    assert matched(store, {"x": 1, "y": 1}) == ["b"]
    assert list(store.identities()) == ["b"]


def test_a_move_changes_who_answers_and_may_be_made_twice(store):
    some = [made(name, text) for name, text in (("a", "x = 1"), ("b", "x > 0"), ("c", "y like 'q%'"))]
    store.put([(each, Home(0, is_cold=False)) for each in some], [record(is_cold=False)])
    event = {"x": 1, "y": "quiet"}
    assert matched(store, event) == []
    for _ in range(2):
        store.move(record(), some)
        assert matched(store, event) == ["a", "b", "c"]
        assert list(store.fast()) == []
    for _ in range(2):
        store.move(record(is_cold=False), some)
        assert matched(store, event) == []
        assert [each.subscription.identity for each in next(store.fast())] == ["a", "b", "c"]
    assert not store.clusters()[0].is_cold


def test_clusters_become_part_of_others_and_those_without_members_are_forgotten(opens):
    store = opens()
    many = [(made(f"s{n}", f"x = {n}"), cold(n)) for n in range(4)]
    store.put(many, [record(n) for n in range(5)])
    for _ in range(2):
        store.fold([(record(7), [0, 2]), (record(3), [1])])
        found = store.find([f"s{n}" for n in range(4)])
        assert [found[f"s{n}"].home for n in range(4)] == [cold(7), cold(3), cold(7), cold(3)]
        assert [(each.number, each.members) for each in store.clusters()] == [(3, 2), (7, 2)]
        assert matched(store, {"x": [0, 1, 2, 3]}) == ["s0", "s1", "s2", "s3"]
        store.close()
        store = opens()
    store.close()


def test_expired_ones_are_left_out_and_told(store):
    store.put([(made("a", "x = 1", expires=5), cold()), (made("b", "x = 1"), cold())], [record()])
    assert matched(store, {"x": 1}) == ["a", "b"]
    assert matched(store, {"x": 1}, now=5) == ["b"]
    assert store.find_expired(4.9) == []
    assert store.find_expired(5) == ["a"]


def test_odd_texts_come_back_as_they_were(store):
    odd = ["nul\0", "back\\slash", "\\0", "\\\\0\0", "'", '"%s?"', "\U0001f600", ""]
    ids = [f"i{each}".replace("\0", "0") for each in odd]  # which are not empty and have no NUL
    store.put([(made(*each), cold()) for each in zip(ids, ["x = 1"] * 8, odd, strict=True)], [])
    found = store.match(read_event({"x": 1}))
    assert [(each.identity, each.subscriber) for each in found] == list(zip(ids, odd, strict=True))
    store.remove(ids[:4])
    assert matched(store, {"x": 1}) == ids[4:]


def test_many_are_read_in_parts(store):
    names = [f"s{number}" for number in range(2_500)]
    store.put([(made(name, "x = 1"), Home(0, is_cold=False)) for name in names], [record()])
    assert list(store.identities()) == names
    assert [each.subscription.identity for some in store.fast() for each in some] == names


# --- one engine at a time ---------------------------------------------------------------------------------------------


def test_a_store_that_is_in_use_is_not_opened_a_second_time(opens):
    store = opens()
    with pytest.raises(StoreError, match="in use"):
        opens()
    store.put([(made("a", "x = 1"), cold())], [record()])
    store.close()
    again = opens()
    assert list(again.identities()) == ["a"]
    again.close()


@pytest.mark.slow
def test_a_process_that_is_killed_lets_go_of_its_file(tmp_path):
    path = tmp_path / "store.db"
    program = f"from thatch import SqliteStore; kept = SqliteStore({str(path)!r}); print('open', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout.readline() == "open\n"
        with pytest.raises(StoreError, match="in use"):
            SqliteStore(path)
        child.kill()
    SqliteStore(path).close()


# --- that it answers exactly ---------------------------------------------------------------------------------------


@examples(30, suppress_health_check=SHARED)
@given(data=st.data())
def test_it_answers_as_the_plain_tier_does(store, data):
    store.remove(list(store.identities()))
    plain = PlainColdTier()
    many = []
    for number, expression in enumerate(data.draw(st.lists(expressions, min_size=1, max_size=6))):
        try:
            filter = Filter.of(expression)
        except ThatchError:
            continue
        many.append((StoredSubscription(f"s{number}", filter, str(filter), None, float("inf")), cold()))
    for tier in (store, plain):
        tier.put(many, [record()])
    for event in data.draw(st.lists(events, min_size=1, max_size=4)):
        try:
            read = read_event(event)
            expected = plain.match(read)
        except ThatchError:
            continue
        assert store.match(read) == expected


@examples(8, suppress_health_check=SHARED)
@given(data=st.data())
def test_it_answers_alike_with_a_schema(data, kind, request, tmp_path_factory):
    schema = data.draw(schemas)
    if schema is None:
        return
    store, plain = opener(kind, request, tmp_path_factory)(schema=schema), PlainColdTier()
    many = []
    for number, expression in enumerate(data.draw(st.lists(expressions, min_size=1, max_size=4))):
        try:
            filter = Filter.of(expression, schema)
        except ThatchError:
            continue
        many.append((StoredSubscription(f"s{number}", filter, str(filter), None, float("inf")), cold()))
    for tier in (store, plain):
        tier.put(many, [])
    for event in data.draw(st.lists(events, min_size=1, max_size=3)):
        try:
            read = read_event(event, schema)
            expected = plain.match(read)
        except ThatchError:
            continue
        assert store.match(read) == expected
    store.close()


# --- the indexes are used --------------------------------------------------------------------------------------------


def test_the_database_uses_its_indexes_on_conjunctions_and_on_boxes(kind, store):
    conjunctions = [made(f"c{n}", f"symbol = 's{n % 500}' and price < {n}") for n in range(2_000)]
    boxes = [
        made(f"b{n}", f"a between {n} and {n + 40} and b between {n % 97} and {n % 97 + 9}")
        for n in range(2_000)
    ]
    store.put([(each, cold()) for each in conjunctions + boxes], [record()])
    plan = store.plan(read_event({"symbol": "s7", "price": 3, "a": 1_000, "b": 50}))
    if kind == "sqlite":
        assert "USING INDEX boxes_access (access=?)" in plan
        assert "SCAN t VIRTUAL TABLE INDEX 2:" in plan
        assert "SCAN b" not in plan
    else:
        assert "boxes_access" in plan
        assert "boxes_sides" in plan
        assert "Seq Scan on boxes" not in plan


@pytest.mark.postgres
@pytest.mark.slow
@pytest.mark.xdist_group("postgres")
def test_postgres_uses_its_indexes_also_once_the_question_is_prepared(request, tmp_path_factory):
    store = opener("postgres", request, tmp_path_factory)()
    boxes = [made(f"b{n}", f"a between {n} and {n + 40} and b between {n % 97} and 99") for n in range(2_000)]
    store.put([(each, cold()) for each in boxes], [record()])
    store.query("ANALYZE boxes")

    def scans() -> list:
        store.query("SELECT pg_stat_force_next_flush()")
        (counted,) = store.query(
            "SELECT seq_scan, idx_scan FROM pg_stat_user_tables "
            "WHERE schemaname = current_schema AND relname = 'boxes'"
        )
        return counted

    whole, by_index = scans()
    for a in range(10):  # psycopg prepares a question that comes for the sixth time
        assert len(store.match(read_event({"a": 100 * a, "b": 99}))) == (1 if a == 0 else 41)
    now_whole, now_by_index = scans()
    assert now_whole == whole
    assert now_by_index >= by_index + 10
    store.close()


# --- what is wrong ---------------------------------------------------------------------------------------------------


def test_a_store_of_another_version_is_refused(opens):
    store = opens()
    with store._changing() as change:
        change.run("UPDATE meta SET value = '7' WHERE name = 'version'")
    store.close()
    with pytest.raises(StoreError, match="version 7"):
        opens()


def test_an_older_store_is_brought_to_the_newest_version(kind, opens, monkeypatch):
    opens().close()
    statement = "ALTER TABLE clusters ADD COLUMN colour TEXT"
    monkeypatch.setattr({"sqlite": SqliteStore, "postgres": PostgresStore}[kind], "upgrades", ((statement,),))
    store = opens()
    assert store.query("SELECT colour FROM clusters") == []
    store.close()
    opens().close()  # and not once more


def test_a_store_keeps_its_schema(opens):
    schema = Schema({"x": Integer(0, 9)})
    store = opens(schema=schema)
    store.put([(made("a", "x = 3", schema=schema), cold())], [])
    assert matched(store, {"x": 3}) == ["a"]
    store.close()
    with pytest.raises(StoreError, match="schema"):
        opens()
    opens(schema=schema).close()


def test_a_change_that_fails_changes_nothing(store):
    store.put([(made("a", "x = 1"), cold())], [record()])
    with pytest.raises(SubscriptionError, match="600"):
        store.put([(made("b", "x = 1"), cold()), (made("c" * 601, "x = 1"), cold())], [])
    with pytest.raises(ZeroDivisionError), store._changing() as change:
        assert change.run("DELETE FROM subscriptions") == [1 // 0]
    assert list(store.identities()) == ["a"]
    assert matched(store, {"x": 1}) == ["a"]


def test_a_commit_that_nobody_saw_is_no_harm(store, monkeypatch):
    whole = type(store)._changing

    @contextmanager
    def unseen(self):
        with whole(self) as change:
            yield change
        raise StoreError("an answer", "none")

    with monkeypatch.context() as patched:
        patched.setattr(type(store), "_changing", unseen)
        with pytest.raises(StoreError):
            store.put([(made("a", "p < 5 and lower(k) = 'x'"), cold())], [record()])
    assert matched(store, {"p": 1, "k": "X"}) == ["a"]
    store.put([(made("b", "q < 5"), cold()), (made("c", "p > 7 and q > 7"), cold())], [record()])
    assert matched(store, {"p": 1, "q": 9, "k": "X"}) == ["a"]
    assert matched(store, {"p": 9, "q": 1, "k": "X"}) == ["b"]
    assert matched(store, {"p": 9, "q": 9}) == ["c"]


def test_an_event_may_be_asked_while_attributes_are_added(tmp_path):
    store = SqliteStore(tmp_path / "store.db", waits=False)
    store.put([(made("a", "lower(k) = 'x' and p < 5"), cold())], [record()])
    asking, read = Event(), read_event({"k": "X", "p": 1})

    class Slow(dict):
        """What is asked by, when another thread goes on in between."""

        def __iter__(self):
            for each in super().__iter__():
                asking.set()
                writer.join()
                yield each

    store._derived = Slow(store._derived)
    writer = Thread(
        target=lambda: asking.wait() and store.put([(made("b", "k like '%X' and q < 5"), cold())], [])
    )
    writer.start()
    assert [each.identity for each in store.match(read)] == ["a"]
    assert [each.identity for each in store.match(read_event({"k": "X", "p": 1, "q": 1}))] == ["a", "b"]
    store.close()


def test_other_tables_are_left_alone(tmp_path):
    import sqlite3

    path = tmp_path / "theirs.db"
    with sqlite3.connect(path) as theirs:
        theirs.execute("CREATE TABLE birds (name TEXT)")
    theirs.close()
    with pytest.raises(StoreError, match="birds"):
        SqliteStore(path)


def test_a_file_that_is_no_database_is_refused(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"no database at all, but long enough to look at" * 50)
    with pytest.raises(StoreError, match="not a database"):
        SqliteStore(path)


def test_a_full_disk_is_told_and_changes_nothing(tmp_path):
    store = SqliteStore(tmp_path / "small.db")
    store.put([(made("a", "x = 1"), cold())], [record()])
    store._changes.run("PRAGMA max_page_count = 30")
    with pytest.raises(StoreError, match="full"):
        store.put([(made(f"s{n}", f"x = {n} and y = 'much text'"), cold()) for n in range(3_000)], [])
    assert list(store.identities()) == ["a"]
    store.put([(made("b", "x = 1"), cold())], [])
    assert matched(store, {"x": 1}) == ["a", "b"]
    store.close()
