from __future__ import annotations

from math import inf, nan, nextafter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workloads.scan import is_matched, rows
from thatch.model.filters import Filter
from thatch.model.language.text import expression_of_text
from thatch.workloads import NAMES, Cells, Intervals, Matrix, Workload, generate

numeric = [name for name in NAMES if name != "W5"]


def test_intervals_are_written_in_the_shortest_form() -> None:
    columns = Intervals(
        offsets=np.array([0, 3, 5]),
        attribute=np.array([2, 0, 1, 1, 0]),
        low=np.array([5, -inf, 0.1, 3, 1e-7]),
        high=np.array([5, 7, 1, inf, 2.5]),
    )
    assert columns.texts(["x", "y", "z"]) == [
        "z = 5 and x <= 7 and y between 0.1 and 1",
        "y >= 3 and x between 1e-07 and 2.5",
    ]


def test_events_leave_out_what_is_missing_and_write_whole_numbers_as_integers() -> None:
    matrix = Matrix(values=np.array([[1, nan, 2.5], [nan, nan, nan], [nan, -0.0, 1e15]]))
    expected = [{"x": 1, "z": 2.5}, {}, {"y": 0, "z": 10**15}]
    assert matrix.objects(["x", "y", "z"]) == expected
    assert [type(value) for event in matrix.objects(["x", "y", "z"]) for value in event.values()] == [
        int,
        float,
        int,
        int,
    ]
    cells = Cells(
        offsets=np.array([0, 2, 2, 4]), attribute=np.array([0, 2, 2, 1]), value=np.array([1, 2.5, 1e15, 0])
    )
    assert cells.objects(["x", "y", "z"]) == expected


@pytest.mark.parametrize("name", numeric)
def test_filters_match_the_events_that_the_arrays_contain(name: str) -> None:
    workload = generate(name, 300, 15, 3)
    assert isinstance(workload.subscriptions, Intervals)
    filters = workload.filters()
    for event, row in zip(workload.events(), rows(workload), strict=True):
        matched = [each.matches(event) for each in filters]
        assert matched == is_matched(workload.subscriptions, row).tolist()


@pytest.mark.parametrize("name", numeric)
def test_filters_hold_up_to_both_ends_of_every_interval_and_not_beyond(name: str) -> None:
    workload = generate(name, 25, 0, 3)
    columns, filters = workload.subscriptions, workload.filters()
    assert isinstance(columns, Intervals)
    for number, start in enumerate(columns.offsets[:-1]):
        places = range(start, columns.offsets[number + 1])
        event = {key_at(workload, place): max(columns.low[place], 0.0) for place in places}
        assert filters[number].matches(event)
        for place in places:
            for end, outwards in ((columns.low[place], -inf), (columns.high[place], inf)):
                beyond = nextafter(end, outwards)
                assert filters[number].matches(event | {key_at(workload, place): end})
                assert filters[number].matches(event | {key_at(workload, place): beyond}) == (end == beyond)


def key_at(workload: Workload, place: int) -> str:
    """The name of a condition's attribute."""
    return workload.attributes[int(workload.subscriptions.attribute[place])]


@given(
    low=st.floats(allow_nan=False, allow_infinity=False),
    high=st.floats(allow_nan=False, allow_infinity=False),
)
def test_every_double_is_written_so_that_it_reads_back_the_same(low: float, high: float) -> None:
    low, high = min(low, high), max(low, high)
    columns = Intervals(
        offsets=np.array([0, 1]), attribute=np.array([0]), low=np.array([low]), high=np.array([high])
    )
    (text,) = columns.texts(["x"])
    parsed = Filter.of(expression_of_text(text))
    assert parsed.matches({"x": low})
    assert parsed.matches({"x": high})
    assert not parsed.matches({"x": nextafter(low, -inf)})
    assert not parsed.matches({"x": nextafter(high, inf)})
