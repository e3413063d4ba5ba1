"""What a store refuses before any database is asked, and what it answers as everything else does."""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest

from tests.stores.databases import cold, made
from thatch import Engine, parse
from thatch.errors import NeverMatchesError, SubscriptionError
from thatch.matching import reference
from thatch.model.events import read_event
from thatch.model.language import expression_of
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


@pytest.mark.slow
def test_everything_that_reads_a_pattern_agrees_on_every_text(tmp_path):
    """`_` at any place, empty pieces, characters around the surrogates, case-folded text, pieces of both kernels."""
    rng = Random(7)
    letters = ["a", "A", "b", "ß", "é", "\ud7ff", "\ue000", "😀", "%", "\\"]
    parts = [
        "a",
        "A",
        "b",
        "ß",
        "é",
        "\ud7ff",
        "\ue000",
        "😀",
        "%",
        "%",
        "%",
        "_",
        "_",
        "\\%",
        "\\\\",
        "a" * 70,
    ]
    forms = ["".join(rng.choices(parts, k=rng.randrange(7))) for _ in range(80)] + [
        "",
        "%",
        "%%",
        "%_%",
        "_",
    ]
    words = ("x like '{}'", "x not like '{}'", "x is unlike '{}'", "lower(x) like '{}'")
    texts = {f"{n} {word}": word.format(form) for n, form in enumerate(forms) for word in words}
    filters = {}
    for name, text in texts.items():
        with suppress(NeverMatchesError):
            filters[name] = parse(text)
    engine, store = Engine(), SqliteStore(tmp_path / "store.db")
    for name, filter in filters.items():
        engine.subscribe(name, filter)
    store.put([(made(name, texts[name]), cold()) for name in filters], [])
    for _ in range(40):
        value = "".join(rng.choices(letters, k=rng.randrange(9))) + "a" * rng.choice([0, 0, 71])
        event = {"x": value}
        expected = [name for name in filters if reference.matches(expression_of(texts[name]), event, None)]
        assert [name for name, filter in filters.items() if filter.matches(event)] == expected
        assert [name for name, filter in filters.items() if filter.explain(event)] == expected
        assert engine.match(event) == expected
        assert [each.identity for each in store.match(read_event(event))] == expected
    store.close()
