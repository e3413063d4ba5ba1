"""The queue between a broker and who reads."""

from __future__ import annotations

import asyncio

import pytest

from thatch.broker.event_codec import encode_event
from thatch.errors import ParameterError, SubscriptionError
from thatch.runtime.event_queue import EventQueue


async def read_all(stream: EventQueue) -> list:
    found = []
    try:
        while True:
            found.append(await stream.get())
    except StopAsyncIteration:
        return found


def test_events_come_in_order_and_the_end_comes_after_them():
    async def main():
        stream = EventQueue(10)
        for number in range(3):
            stream.put(encode_event({"x": number}))
        stream.close()
        stream.put(encode_event({"x": 99}))
        return await read_all(stream)

    assert asyncio.run(main()) == [{"x": 0}, {"x": 1}, {"x": 2}]


def test_of_too_many_events_the_oldest_are_dropped_and_counted():
    async def main():
        stream = EventQueue(2)
        for number in range(5):
            stream.put(encode_event({"x": number}))
        assert (len(stream), stream.dropped) == (2, 3)
        stream.close()
        return await read_all(stream)

    assert asyncio.run(main()) == [{"x": 3}, {"x": 4}]


def test_readers_share_what_comes():
    async def main():
        stream = EventQueue(10)
        readers = [asyncio.create_task(read_all(stream)) for _ in range(3)]
        for number in range(9):
            stream.put(encode_event({"x": number}))
            await asyncio.sleep(0)
        stream.close()
        parts = await asyncio.gather(*readers)
        return sorted(event["x"] for part in parts for event in part)

    assert asyncio.run(main()) == list(range(9))


def test_a_reader_that_is_cancelled_loses_nothing():
    async def main():
        stream = EventQueue(10)
        first, second = (asyncio.create_task(stream.get()) for _ in range(2))
        await asyncio.sleep(0)
        stream.put(encode_event({"x": 1}))  # wakes the first, which is cancelled before it can take it
        first.cancel()
        found = await asyncio.wait_for(second, 5)
        assert first.cancelled()
        return found

    assert asyncio.run(main()) == {"x": 1}


def test_an_error_comes_after_what_waits():
    async def main():
        stream = EventQueue(10)
        stream.put(encode_event({"x": 1}))
        stream.close(SubscriptionError("this", "that"))
        assert await stream.get() == {"x": 1}
        for _ in range(2):
            with pytest.raises(SubscriptionError):
                await stream.get()

    asyncio.run(main())


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, None])
def test_a_limit_is_a_whole_number_above_zero(limit):
    with pytest.raises(ParameterError, match="limit"):
        EventQueue(limit)


def test_what_is_put_back_comes_next_and_what_is_read_is_the_readers_own():
    async def main():
        stream = EventQueue(2)
        shared = encode_event({"x": {"y": [1]}, "z": (1, [2])})
        for _ in range(2):
            stream.put(shared)
        got = await stream.get()
        got["x"]["y"].append(5)
        got["z"][1].append(5)
        again = await stream.get()
        stream.put(encode_event({"x": 2}))
        stream.put(encode_event({"x": 3}))
        stream.put_back({"x": 1})
        stream.put(encode_event({"x": 4}))
        return again, stream.dropped, [await stream.get() for _ in range(len(stream))]

    again, dropped, rest = asyncio.run(main())
    assert again == {"x": {"y": [1]}, "z": [1, [2]]}
    assert (dropped, rest) == (1, [{"x": 2}, {"x": 3}, {"x": 4}])
