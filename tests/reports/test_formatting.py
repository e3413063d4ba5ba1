"""Values as people read them."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from thatch.reports.formatting import check_formats, format_value, number, simple


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1234567, "1,234,567"),
        (-1234, "−1,234"),
        pytest.param(10**5000, "about 2^16,609", id="huge"),
        (-(10**400), "−about 2^1,328"),
        (0.0, "0"),
        (-0.0, "0"),
        (3.0, "3"),
        (3.14159, "3.142"),
        (1234.56, "1,235"),
        (123456.7, "123,457"),
        (0.00012345, "0.0001234"),
        (0.0000321, "3.21e-5"),
        (1.5e20, "1.5e20"),
        (math.nan, "NaN"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (True, "yes"),
        (None, "–"),
        (Decimal("1234.50"), "1,234.50"),
        (Decimal("NaN"), "NaN"),
        (Decimal("sNaN"), "NaN"),
        (np.int64(5000), "5,000"),
        (np.float32(0.5), "0.5"),
        (np.bool_(False), "no"),
        (pa.scalar(7000), "7,000"),
        (timedelta(minutes=2), "2 min 0 s"),
        (date(2024, 3, 1), "2024-03-01"),
        (datetime(2024, 3, 1, 12, 30, tzinfo=UTC), "2024-03-01 12:30:00+00:00"),
        (b"\x00\xff", "00 ff"),
        ([1, ["a", None]], '[1, ["a", null]]'),
        ({"b": {2, 1}}, '{"b": [1, 2]}'),
        ({(1, 2): 3}, "{(1, 2): 3}"),
        (np.array([1, 2]), "[1, 2]"),
    ],
)
def test_a_value_is_shown_as_people_write_it(value, text):
    assert format_value(value) == text


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (0.032, "percent", "3.2 %"),
        (1, "percent", "100 %"),
        (0.99999, "percent", "> 99.9 %"),
        (0.000012, "percent", "0.0012 %"),
        (0, "percent", "0 %"),
        (999, "bytes", "999 B"),
        (999_999, "bytes", "1 MB"),
        (1_400_000_000, "bytes", "1.4 GB"),
        (5e21, "bytes", "5,000 EB"),
        (0, "seconds", "0 s"),
        (3.2e-9, "seconds", "3.2 ns"),
        (0.000_032, "seconds", "32 µs"),
        (0.25, "seconds", "250 ms"),
        (12.34, "seconds", "12.3 s"),
        (75.3, "seconds", "1 min 15 s"),
        (-4000, "seconds", "−1 h 6 min"),
        (math.inf, "bytes", "∞"),
        (math.nan, "percent", "NaN"),
        (None, "percent", "–"),
        ("no number", "percent", "no number"),
        (2024, "text", "2024"),
        (None, "text", "–"),
    ],
)
def test_a_format_says_what_a_number_measures(value, form, text):
    assert format_value(value, form) == text


def test_a_list_that_holds_itself_is_shown_all_the_same():
    endless: list[object] = [1]
    endless.append(endless)
    assert format_value(endless) == "[1, [...]]"


@given(
    st.integers() | st.floats() | st.decimals(allow_nan=True),
    st.sampled_from([None, "percent", "bytes", "seconds"]),
)
@example(1.797693134862316e306, "percent")
def test_every_number_is_shown_in_few_characters(value, form):
    assert 0 < len(format_value(value, form)) <= 60


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_every_value_has_a_text(value):
    assert isinstance(format_value(value), str)


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (5, 5.0),
        (True, None),
        ("5", None),
        (math.nan, None),
        (10**400, math.inf),
        (-(10**400), -math.inf),
        (Decimal("1.5"), 1.5),
    ],
)
def test_only_numbers_have_a_place_among_numbers(value, place):
    assert number(value) == place


def test_scalars_of_numpy_and_arrow_become_python_values():
    assert simple(np.float64(1.5)) == 1.5
    assert simple(pa.scalar("a")) == "a"
    assert simple(np.array([[1], [2]])) == [[1], [2]]


def test_an_unknown_format_is_refused_by_name():
    with pytest.raises(ValueError, match="got 'procent' - at 'share'"):
        check_formats({"share": "procent"})  # type: ignore[dict-item]
