"""Deliveries are counted once an event and subscriber, whatever the pieces and however many there are."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thatch.pipeline.transforms import deliveries
from thatch.pipeline.transforms.deliveries import Deliveries


def counted(matches, who, hours, piece):
    """What `Deliveries` makes of matches, given in pieces of a size."""

    def pieces(start, count):
        chosen = [(event - start, place) for event, place in matches if start <= event < start + count]
        for first in range(0, len(chosen), piece):
            some = chosen[first : first + piece]
            yield pa.record_batch(
                [pa.array([e for e, _ in some], pa.int64()), pa.array([p for _, p in some], pa.int32())],
                ["event", "slot"],
            )

    told = Deliveries(np.array(who, np.int32), max(who) + 1)
    told.add(pa.array(hours, pa.int32()), pieces)
    result = Counter()
    for subscriber, hour, events in zip(*(column.to_pylist() for column in told.take()), strict=True):
        assert (subscriber, hour) not in result
        result[subscriber, hour] = events
    return result


@pytest.mark.parametrize(("most", "large"), [(1 << 23, 1 << 20), (3, 2)])
@given(data=st.data())
def test_an_event_counts_once_for_a_subscriber_and_an_hour(data, most, large):
    who = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=8))
    hours = data.draw(st.lists(st.one_of(st.none(), st.integers(-3, 500_000)), min_size=1, max_size=20))
    matches = data.draw(
        st.lists(
            st.tuples(st.integers(0, len(hours) - 1), st.integers(0, len(who) - 1)), unique=True, max_size=60
        )
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deliveries, "_MOST", most)
        patch.setattr(deliveries, "_LARGE", large)
        told = counted(sorted(matches), who, hours, data.draw(st.integers(1, 10)))
    once = {(event, who[place]) for event, place in matches}
    assert told == Counter((subscriber, hours[event]) for event, subscriber in once)


def test_what_was_taken_is_not_told_again():
    told = Deliveries(np.zeros(1, np.int32), 1)
    piece = pa.record_batch([pa.array([0]), pa.array([0], pa.int32())], ["event", "slot"])
    told.add(pa.array([7], pa.int32()), lambda *_: [piece])
    assert [column.to_pylist() for column in told.take()] == [[0], [7], [1]]
    assert [column.to_pylist() for column in told.take()] == [[], [], []]
