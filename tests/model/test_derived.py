"""Derived attributes: folding, addresses and moments, and what cannot be read as one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import strategies as make
from thatch.model.derived import (
    FIRST_MICROSECOND,
    LAST_MICROSECOND,
    address_of,
    derive,
    fold,
    ip_text,
    microseconds_of,
    moment_text,
)
from thatch.model.lines import BOTTOM, point

SECOND = 1_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


# --- lower and reverse -----------------------------------------------------------------------------------------


@given(make.texts, make.texts)
def test_folding_goes_code_point_by_code_point(one, other):
    assert fold(one + other) == fold(one) + fold(other)
    assert fold(fold(one)) == fold(one)


@pytest.mark.parametrize(
    ("text", "folded"),
    [("IBM", "ibm"), ("Straße", "strasse"), ("ẞ", "ss"), ("ΣΑΣ", "σασ"), ("ﬁ", "fi"), ("İ", "i̇"), ("ı", "ı")],
)
def test_folding_is_that_of_unicode(text, folded):
    assert fold(text) == folded


@pytest.mark.parametrize("value", [None, True, False, 5, 0.5, float("inf"), float("nan")])
def test_lower_and_reverse_leave_what_is_no_text_unchanged(value):
    for key in ("lower(x)", "reverse(x)", "reverse(lower(x))"):
        assert derive(key, point(value)) == point(value)
        assert derive(key, BOTTOM) == BOTTOM


@given(make.texts)
def test_reverse_of_lower_folds_first(text):
    assert derive("reverse(lower(x))", point(text)) == point(fold(text)[::-1])
    assert derive("reverse(x)", derive("reverse(x)", point(text))) == point(text)


@pytest.mark.parametrize("value", [None, True, 5, 0.5, float("nan"), "", "soon", "10.0.0"])
def test_what_is_no_address_and_no_moment_is_missing(value):
    assert derive("ip(x)", point(value)) == BOTTOM
    assert derive("time(x)", point(value)) == BOTTOM
    assert derive("ip(x)", BOTTOM) == derive("time(x)", BOTTOM) == BOTTOM


# --- addresses -------------------------------------------------------------------------------------------------

old_addresses = st.integers(0, 2**32 - 1).map(IPv4Address)
new_addresses = st.integers(0, 2**128 - 1).map(IPv6Address)
addresses = st.one_of(old_addresses, new_addresses)


@given(addresses)
def test_an_address_comes_back_from_its_text_on_the_line(address):
    assert address_of(ip_text(str(address))) == str(address)
    assert ip_text(address.exploded) == ip_text(str(address))


@given(addresses, addresses)
def test_texts_of_addresses_sort_as_addresses_do(one, other):
    order = [(address.version, int(address)) for address in (one, other)]
    assert (ip_text(str(one)) < ip_text(str(other))) == (order[0] < order[1])


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("10.0.0.1", "40a000001"),
        ("255.255.255.255", "4ffffffff"),
        ("::", "6" + "0" * 32),
        ("::1", "6" + "0" * 31 + "1"),
        ("2001:DB8::", "620010db8" + "0" * 24),
        ("::ffff:10.0.0.1", "6" + "0" * 20 + "ffff0a000001"),
    ],
)
def test_an_address_is_read(text, read):
    assert ip_text(text) == read
    assert derive("ip(x)", point(text)) == point(read)


@pytest.mark.parametrize(
    "text",
    [
        "", " 10.0.0.1", "10.0.0.1 ", "10.0.0.1\n", "10.0.0", "10.0.0.256", "10.0.0.01", "10.0.0.-1", "10.0.0.1/32",
        "0x0a.0.0.1", "١.0.0.1", "167772161", ":", ":::", "1::2::3", "::1%eth0", "::g", "::1/128", "[::1]", "::10.0.0",
        "1:2:3:4:5:6:7:8:9", "12345::",
    ],
)  # fmt: skip
def test_what_is_no_address_is_not_read(text):
    assert ip_text(text) is None


# --- moments ---------------------------------------------------------------------------------------------------

moments = st.one_of(
    st.integers(FIRST_MICROSECOND, LAST_MICROSECOND),
    st.sampled_from([FIRST_MICROSECOND, LAST_MICROSECOND, -1, 0, 1, -SECOND, SECOND, -SECOND - 1]),
)
zones = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(moments)
def test_a_moment_comes_back_from_its_text(microseconds):
    assert microseconds_of(moment_text(microseconds)) == microseconds
    assert moment_text(microseconds).endswith("Z")


@given(st.datetimes(), zones)
def test_a_moment_is_read_in_its_zone(naive, zone):
    aware = naive.replace(tzinfo=zone)
    microseconds = (aware - EPOCH) // timedelta(microseconds=1)
    is_in_calendar = FIRST_MICROSECOND <= microseconds <= LAST_MICROSECOND
    assert microseconds_of(aware.isoformat()) == (microseconds if is_in_calendar else None)
    assert microseconds_of(aware.isoformat(sep=" ")) == microseconds_of(aware.isoformat())
    assert microseconds_of(naive.isoformat()) == microseconds_of(naive.replace(tzinfo=UTC).isoformat())


@given(moments, moments)
def test_texts_of_moments_mean_what_numbers_do(one, other):
    assert (microseconds_of(moment_text(one)) < microseconds_of(moment_text(other))) == (one < other)


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("1970-01-01", 0),
        ("1970-01-01T00:00", 0),
        ("1970-01-01 00:00:00", 0),
        ("1970-01-01T00:00:01Z", SECOND),
        ("1970-01-01T00:00:01z", SECOND),
        ("1970-01-01T01:00+01", 0),
        ("1970-01-01T01:30+0130", 0),
        ("1970-01-01T01:30:00+01:30", 0),
        ("1969-12-31T23:00:00-01:00", 0),
        ("1970-01-01T00:00:00-00:00", 0),
        ("1970-01-01T23:59:00+23:59", 0),
        ("1970-01-01T00:00:00.5Z", SECOND // 2),
        ("1970-01-01T00:00:00,000001", 1),
        ("1970-01-01T00:00:00.0000019Z", 1),
        ("1969-12-31T23:59:59.9999999Z", -1),
        ("1972-02-29", (365 + 365 + 31 + 28) * 86_400 * SECOND),
        ("2000-02-29", 951_782_400 * SECOND),
        ("2024-02-29T12:00:00Z", 1_709_208_000 * SECOND),
        ("0001-01-01", FIRST_MICROSECOND),
        ("0001-01-01T00:00:00-01:00", FIRST_MICROSECOND + 3_600 * SECOND),
        ("9999-12-31T23:59:59.999999Z", LAST_MICROSECOND),
        ("9999-12-31T23:59:59.999999+01:00", LAST_MICROSECOND - 3_600 * SECOND),
    ],
)
def test_a_moment_is_read(text, microseconds):
    assert microseconds_of(text) == microseconds
    assert derive("time(x)", point(text)) == point(microseconds)


@pytest.mark.parametrize(
    "text",
    [
        "", "soon", "2026", "2026-01", "26-01-31", "2026-1-31", "2026-01-31T", "2026-01-31T12", "2026-01-31t12:00",
        "2026-01-31T12:00:", "2026-01-31T12:00:00.", "2026-01-31T12:00:00.Z", "2026-01-31T12:00:00.5.5", "20260131",
        "2026-01-31Z", "2026-01-31+01:00", "2026-01-31T12:00:00 Z", "2026-01-31T12:00:00UTC", " 2026-01-31", "2026-01-31 ",
        "2026-01-31\n", "2026-02-29", "1900-02-29", "2026-02-30", "2026-04-31", "2026-00-01", "2026-13-01", "2026-01-00",
        "2026-01-31T24:00:00Z", "2026-01-31T12:60:00Z", "2026-01-31T12:00:60Z", "2026-01-31T12:00:00+24:00",
        "2026-01-31T12:00:00+10:60", "2026-01-31T12:00:00+10:99", "2026-01-31T12:00:00-1", "2026-01-31T12:00:00+1:00",
        "0000-01-01", "10000-01-01", "-2026-01-31", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01",
        "２０２６-01-31", "2026-01-31T12:00:00.٣", "2026/01/31", "2026-W05-6", "2026-031",
    ],
)  # fmt: skip
def test_what_is_no_moment_is_not_read(text):
    assert microseconds_of(text) is None
