"""On every workload the engine, one event at a time and in batches, answers what the simple index answers."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import thatch
from thatch.matching.necessary import NecessaryIndex
from thatch.model.events import read_event
from thatch.workloads import NAMES, generate

COUNT = 1_500


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_engine_batches_and_the_simple_index_agree(name: str) -> None:
    workload = generate(name, COUNT, 60, 11)
    filters = workload.filters()
    simple = NecessaryIndex()
    for place, each in enumerate(filters):
        simple.add(place, each)
    engine = thatch.Engine()
    table = pa.table({"subscription": [f"s{row}" for row in range(COUNT)], "filter": workload.filter_texts()})
    assert engine.subscribe_many(table).num_rows == 0
    events = workload.events()
    # Few events of some workloads match anything, so events made to match are planted.
    events += [_planted(each) for each in filters[:20]]
    wanted = [[f"s{place}" for place in simple.match(read_event(event))] for event in events]
    assert any(wanted)
    assert [engine.match(event) for event in events] == wanted
    pairs = [(row, name) for row, names in enumerate(wanted) for name in names]
    batch = engine.match_batch(
        pa.table({"event": [json.dumps(event) for event in events]}), json="event", ordered=True
    )
    assert [(each["event"], each["subscription"]) for each in batch.to_pylist()] == pairs
    for row in range(0, COUNT, 3):
        engine.unsubscribe(f"s{row}")
    left = [[name for name in names if int(name[1:]) % 3] for names in wanted]
    assert [engine.match(event) for event in events] == left


def _planted(filter: thatch.Filter) -> dict[str, object]:
    """An event at the lower corner of a filter's first box, where that is a plain value."""
    event: dict[str, object] = {}
    for key, low, high in next(filter.boxes()).intervals:
        for cut in (low, high):
            if len(cut) == 3 and key[-1] != ")":
                event[key] = cut[1]
                break
    return event
