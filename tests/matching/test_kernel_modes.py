"""The whole index gives the right answers as plain Python, and with every access of an array checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.matching.modes import in_every_mode, run_in_mode

PROGRAM = """
import random

import numpy as np
import pyarrow as pa

from thatch.engine.batches import join_parts
from thatch.engine.columns import columns_of
from thatch.matching import reference
from thatch.matching.segments import SegmentIndex
from thatch.matching.segments import batches as batch
from thatch.matching.segments import bitsets
from thatch.matching.segments.building import layout, tables
from thatch.model.events import read_event
from thatch.model.filters import Filter
from thatch.model.language.text import expression_of_text
from thatch.workloads import generate

MIXED = [
    "x > 3", "x between -1e308 and 1e308 and y = 'a'", "x = 0.5 or y = 'b'", "x in (1, 2, 5) and y in ('a', 'ab')",
    "x is null", "x is missing and y > 'a'", "not (x = 1)", "x is distinct from 1", "exists(o.p)", "true",
    "y like '%b%'", "y like 'a%b_'", "y is unlike '%a%' and x < 3", "lower(y) = 'ab'", "reverse(y) like 'b%'",
    "cidr(y, '10.0.0.0/8')", "time(y) >= timestamp '2026-01-01'", "within(lat, lon, circle(0, 0, 500000))",
    "o.p = 1 and o.q = 2", "o.p = 1 and x > 2 and y < 'z' and lat > 0 and lon > 0 and o.q < 9 and w = 1",
    "x = infinity", "x = -infinity", "x > 9007199254740993", "x = 9007199254740993", "x < -9223372036854775807",
    "y >= 'a long key that ends in 1' and y < 'a long key that ends in 3'", "y = 'é'", "y <= ''", "w = true or w = false",
    *(f"x >= {number} and x <= {number + 9.5}" for number in range(0, 90, 9)),
    *(f"lat > {number} and x < 1e30{number % 9}" for number in range(0, 30, 3)),
    *(f"w between -5e307 and {number}e307" for number in range(1, 10)),
]
NUMBERS = [0, 1, 2, 5, 0.5, -0.0, 7.25, 44, 1e308, -1e308, 1.7976931348623157e308, float("inf"), float("-inf"), float("nan"),
           5e-324, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), True, False, None]
WORDS = ["", "a", "ab", "aB", "b", "bab", "é", "10.1.2.3", "2026-01-31", "a long key that ends in 2", "\\U0001f600", "AxbY"]


def drawn(rng):
    event = {}
    for name, pool in (("x", NUMBERS + WORDS), ("y", WORDS + NUMBERS), ("lat", [0, 1.5, 40, 91, "a"]), ("lon", [0, 2, -180]),
                       ("w", NUMBERS), ("o.q", [2, 3, None]), ("nobody", WORDS)):
        if rng.random() < 0.7:
            event[name] = rng.choice(pool)
            if rng.random() < 0.15:
                event[name] = rng.choices(pool, k=rng.randrange(4))
    if rng.random() < 0.3 and "o.q" not in event:
        event["o"] = [{"p": rng.choice([1, 2, "a"]), "q": rng.choice([2, 3])} for _ in range(rng.randrange(3))]
    return event


def asked(index, held, event):
    record = read_event(event)
    wanted = [slot for slot, expression in held.items() if reference.matches(expression, event)]
    assert index.match(record) == wanted, (event, index.match(record), wanted)
    assert index.any(record) == bool(wanted)
    assert index.view.match_plain(event, np.ndarray.tolist) in (None, wanted)
    return len(wanted)


def asked_batch(index, held, rows):
    kinds = {}
    for row in rows:
        for name, value in row.items():
            kinds.setdefault(name, set()).add(type(value))
    names = [name for name, kind in kinds.items() if len(kind - {type(None)}) == 1 and kind.isdisjoint({list, dict})]
    rows = [{name: row[name] for name in names if row.get(name) is not None} for row in rows]
    columns = columns_of(pa.table({name: [row.get(name) for row in rows] for name in names}), "missing", index.view.shape.attributes)
    found = 0
    for fewest in (1, 10**9):  # with masks, and without
        batch._FEWEST, batch._PER_SIDE, batch._ROOM, batch._MOST_ROWS = fewest, -1.0, 200, 2
        counts, slots = join_parts(len(columns), batch.match_parts(index.view, columns))
        ends = np.cumsum(counts)
        for row, event in enumerate(rows):
            wanted = [slot for slot, expression in held.items() if reference.matches(expression, event)]
            assert sorted(slots[ends[row] - counts[row] : ends[row]].tolist()) == wanted
            found += len(wanted)
    return found


rng = random.Random(5)
found = masked = swept = 0
expressions = dict(enumerate(map(expression_of_text, MIXED)))
filters = {slot: Filter.of(each) for slot, each in expressions.items()}
events = [drawn(rng) for _ in range(16)]
flat = [{"x": rng.choice([*map(float, NUMBERS[:14]), None]), "lat": rng.choice([0.0, 1.5, 40.0, 91.0]), "y": rng.choice([*WORDS, None]),
         "lon": rng.choice([0.0, 2.0])} for _ in range(24)]
for capacity, codes, many in ((1, 65_535, 16_384), (7, 65_535, 16_384), (1_000, 65_535, 16_384), (40, 12, 2)):
    tables._CODES, layout._MANY = codes, many
    index = SegmentIndex(capacity)
    for slot, each in filters.items():
        index.add(slot, each)
    index.extend({slot + 200: each for slot, each in filters.items()})
    held = {**expressions, **{slot + 200: each for slot, each in expressions.items()}}
    for slot in range(0, 250, 3):
        if slot in held:
            index.remove(slot)
            del held[slot]
    index.replace(1, filters[2])
    held[1] = expressions[2]
    held = dict(sorted(held.items()))
    found += sum(asked(index, held, event) for event in events)
    found += asked_batch(index, held, flat)
    renumbered = index.renumber(np.arange(300))
    found += sum(asked(renumbered, held, event) for event in events[:8])
tables._CODES, layout._MANY = 65_535, 100
for name in ("W1", "W1c", "W2-3D", "W3", "W4A", "W5", "W6", "W3 swept", "W4A swept"):
    if name.endswith("swept"):
        bitsets._FEWEST, bitsets._GAIN, bitsets._LEAST, bitsets._FEWEST_KEPT, bitsets.MOST_BYTES = 1, 0.0, 0.0, 1, 10**6
        name = name.split()[0]
    workload = generate(name, 80, 6, 5)
    held = dict(enumerate(map(expression_of_text, workload.filter_texts())))
    index = SegmentIndex(50)
    index.extend({slot: Filter.of(each) for slot, each in held.items() if slot < 60})
    for slot in range(60, 80):
        index.add(slot, Filter.of(held[slot]))
    found += sum(asked(index, held, event) for event in workload.events())
    found += asked_batch(index, held, workload.events())
    batch._FEWEST = 1
    list(batch.match_parts(index.view, columns_of(pa.table({"a00": [1.0]}), "missing", index.view.shape.attributes)))
    masked += index.stats()["masked_segments"]
    swept += index.stats()["bitset_segments"]
assert masked > 0 and swept >= 2
print(found)
"""


@pytest.mark.slow
@in_every_mode
def test_the_index_is_right_as_plain_python_and_with_every_access_checked(mode: str, tmp_path: Path) -> None:
    assert int(run_in_mode(PROGRAM, mode, tmp_path)) > 300
