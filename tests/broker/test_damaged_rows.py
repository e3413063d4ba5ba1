"""Rows that were damaged are refused, and all others matched, as Python reads them, whatever kernels read."""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec
import pytest

from tests.broker.pump import Pump
from thatch import parse
from thatch.broker.broker import Broker
from thatch.broker.effects import Deliver, Published
from thatch.broker.event_codec import EncodedEvent
from thatch.broker.event_frames import EventFrame
from thatch.broker.messages import Publish, Subscribe
from thatch.broker.settings import Routing
from thatch.errors import EventError

ROWS = 64  # of a frame
VALUES = (7, -5, 7.5, 2**60 + 1, 2**63, True, None, "t1", "W3", "é", float("nan"), [1, 7, "t1"], {"p": 7})
NAMES = ("x", "s", "u", "y", "o", "o.p", "nobody asks", "é")
FILTERS = (
    *(f"x between {number % 50} and {number % 50 + 3} and s = 't{number % 7}'" for number in range(150)),
    *(f"lower(u) like 'w{number}%'" for number in range(60)),
    *(f"o.p = {number} or y > {number}" for number in range(60)),
)


def damaged(rng: Random) -> bytes:
    event: dict[str, Any] = {rng.choice(NAMES): rng.choice(VALUES) for _ in range(rng.randrange(6))}
    row = bytearray(msgspec.msgpack.encode(event))
    for _ in range(rng.choice((0, 0, 0, 1, 1, 2))):
        place = rng.randrange(len(row)) if row else 0
        match rng.randrange(3):
            case 0:
                row[place : place + 1] = bytes((rng.choice((rng.randrange(256), 0xFF, 0xC1, 0xD9, 0xDF)),))
            case 1:
                del row[place:]
            case _:
                row.insert(place, rng.randrange(256))
    return bytes(row)


@pytest.mark.parametrize("seed", [1, 2])
def test_damaged_rows_are_refused_and_the_others_matched_as_python_reads_them(seed: int) -> None:
    rng = Random(seed)
    net = Pump()
    net.brokers["a"] = Broker("a", Routing(way="subscriptions"))
    net.items["a"] = {}
    filters = {f"s{number}": parse(text) for number, text in enumerate(FILTERS)}
    for about, each in filters.items():
        net.say("a", "desk", Subscribe(subscription=about, filter=each))
    for first in range(1, 8 * ROWS, ROWS):
        rows = tuple(damaged(rng) for _ in range(ROWS))
        frame = EventFrame("press", tuple(range(first, first + ROWS)), rows)
        effects = net.say("a", "press", Publish(frame))
        (answer,) = [each for each in effects if isinstance(each, Published)]
        refused = {each.number for each in answer.refused}
        got = {
            number: set(wanting)
            for each in effects
            if isinstance(each, Deliver)
            for number, wanting in zip(each.frame.numbers, each.subscriptions, strict=True)
        }
        for place, (number, row) in enumerate(zip(frame.numbers, rows, strict=True)):
            try:
                record = EncodedEvent(row, None).record
            except EventError:
                assert number in refused, row
                continue
            assert number not in refused, row
            if place % 8 == 0:
                expected = {about for about, each in filters.items() if each.holds(record)}
                assert got.get(number, set()) == expected, row
