"""Ticks: round, few, on the axis, whatever the values."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thatch.reports.figures import PlotAxis
from thatch.reports.figures.ticks import date_ticks, even_ticks, log_ticks

sizes = st.floats(-1e290, 1e290)


@given(st.lists(st.none() | sizes, max_size=5), st.booleans(), st.booleans())
def test_even_ticks_are_a_few_on_an_axis_that_holds_all_values(values, from_zero, is_tight):
    (low, high), ticks = even_ticks(values, from_zero=from_zero, is_tight=is_tight)
    assert low < high
    slack = (high - low) * 1e-6
    assert all(low - slack <= each <= high + slack for each in values if each is not None)
    assert not from_zero or low <= 0 <= high
    assert len(ticks) <= 12
    assert ticks == sorted(set(ticks))
    assert all(low - slack <= each <= high + slack for each in ticks)


@given(st.lists(st.none() | st.floats(1e-290, 1e290), max_size=5))
def test_logarithmic_ticks_are_a_few_on_an_axis_that_holds_all_values(values):
    (low, high), ticks = log_ticks(values)
    assert 0 < low < high
    assert all(low <= each <= high for each in values if each is not None)
    assert len(ticks) <= 12
    assert all(low <= each <= high for each in ticks)


@given(st.lists(st.datetimes(timezones=st.just(UTC)).map(datetime.timestamp), max_size=4))
def test_ticks_of_moments_are_a_few_and_can_be_written(values):
    ((low, high), ticks), write = date_ticks(values)
    assert low < high
    assert len(ticks) <= 14
    assert len({write(each) for each in ticks}) == len(ticks)


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([0, 10], ["0", "2", "4", "6", "8", "10"]),
        ([1, 3], ["1", "2", "3"]),
        ([0.1, 0.3], ["0.1", "0.15", "0.2", "0.25", "0.3"]),
        ([-250.5, 1_000], ["0", "500", "1,000"]),
        ([7], ["7"]),
        ([], ["0", "1"]),
    ],
)
def test_even_ticks_are_round(values, texts):
    assert [text for _, text in PlotAxis().layout(values)["ticks"]] == texts


def test_logarithmic_ticks_are_powers_of_ten_or_parts_of_them():
    named = PlotAxis(log=True, format="seconds").layout([4e-6, 2.1])["ticks"]
    assert [text for _, text in named] == ["10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s"]
    short = PlotAxis(log=True).layout([30, 90])["ticks"]
    assert [text for _, text in short] == ["50"]
    assert len(PlotAxis(log=True).layout([1e-20, 1e20])["ticks"]) <= 8


def test_ticks_of_years_are_starts_of_months():
    days = [datetime(2020, 1, 15, tzinfo=UTC).timestamp(), datetime(2024, 6, 1, tzinfo=UTC).timestamp()]
    texts = [text for _, text in PlotAxis().layout(days, are_moments=True)["ticks"]]
    assert texts == ["2020-01", "2021-01", "2022-01", "2023-01", "2024-01"]
