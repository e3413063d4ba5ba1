"""Load, or compile, the kernels that an engine may come to need, before the first event that would wait for them."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pyarrow as pa

from thatch.engine.engine import Engine
from thatch.matching.growing import FEW

__all__ = ["warm"]

_FILTERS = [  # by number; together they come to every kind of side, check and segment
    "x = {n}",
    "x > {n} and y < 9 or name = 'n{n}'",
    "name like '%a_{n}%' and y is not null",
    "lower(name) like '%b{n}' and z != {n}",
    "x between {n} and 999 and y between {n} and 999",
    "tag in ('a', 'b', 'c{n}') and z is missing",
]
_EVENTS: list[dict[str, Any]] = [
    {"x": 5, "y": 7, "name": "abc"},
    {"x": 5, "y": None, "name": "a5b"},
    {"x": [1, 5], "name": ["a", "xb3"], "tag": "a"},
    {"x": [{"a": [1]}, 2**60], "deep": {"er": 1.5}},
    {"tag": "c7"},
]
_BOXES = 9_000  # so many that their ids are folded, and that their segment gets bitsets


def warm() -> None:
    """Load all that engines of this process need, so that no subscription and no event waits for it later.

    A service calls it when it starts. It takes a few seconds if the kernels are in the cache on disk, else as long as it
    takes to compile them: some minutes. A second call is quick.
    """
    texts = Engine(background=False)
    for number in range(FEW + 2):
        texts.subscribe(f"s{number}", _FILTERS[number % len(_FILTERS)].format(n=number))
    ids = [f"s{number}" for number in range(FEW, FEW + 50)]
    filters = [_FILTERS[number % len(_FILTERS)].format(n=number) for number in range(50)]
    texts.subscribe_many(pa.table({"subscription": ids, "filter": filters}))
    low = np.tile(np.arange(_BOXES)[:, None] % 500, (1, 3)).astype(np.float64)
    boxes = Engine.from_columns([f"b{n}" for n in range(_BOXES)], ["x", "y", "w"], low, low + 400)
    for engine in (texts, boxes):
        _use(engine)
        engine.compact()
        _use(engine)
        _use(pickle.loads(pickle.dumps(engine)))  # noqa: S301 - what was just made


def _use(engine: Engine) -> None:
    """Make every call that comes to kernels."""
    first = next(iter(engine))
    for on in (True, False):
        engine.tally(on=on)
        _ask(engine)
    engine.subscribe(f"{first}-new", "x = 1 and name like '_a%'")
    engine.subscribe(first, "x = 2")
    _ask(engine)
    engine.unsubscribe(f"{first}-new")
    engine.subscriptions(subscriber="nobody", tag="none")


def _ask(engine: Engine) -> None:
    for event in _EVENTS:
        engine.match(event)
        engine.any(event)
        engine.count(event)
    rows = [{"x": number % 700, "y": number % 9, "name": f"a{number}"} for number in range(600)]
    table = pa.Table.from_pylist(rows)
    for columns in (["x", "y", "name"], ["x", "y"]):
        for some in (table, table.slice(0, 3)):
            engine.match_batch(some.select(columns), ordered=True)
            engine.count_batch(some.select(columns))
    engine.match_batch(pa.table({"event": [json.dumps(each) for each in _EVENTS]}), json="event")
