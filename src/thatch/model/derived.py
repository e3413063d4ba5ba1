"""Derived attributes: functions of one attribute whose conditions are intervals again.

`suffix` is a prefix of `reverse(x)`; ignoring case is `lower(x)`; CIDR is an interval of `ip(x)`; a timestamp
condition is an interval of `time(x)`. `lower` and `reverse` leave what is not text unchanged; `ip` and `time`
give missing for what they cannot read.

On its line an address is text that sorts as addresses do: `4` and eight hexadecimal digits, or `6` and
thirty-two. A moment is a whole number of microseconds since 1970 in UTC. Both lines are discrete.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from math import isnan

from thatch.errors import FilterError, shown
from thatch.model.lines import BOTTOM, Cut, Literal
from thatch.model.names import split
from thatch.model.values import canonical_number

__all__ = [
    "FIRST_MICROSECOND",
    "LAST_MICROSECOND",
    "address_of",
    "canonical_literal",
    "derive",
    "fold",
    "ip_text",
    "microseconds_of",
    "moment_text",
]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
FIRST_MICROSECOND = (datetime(1, 1, 1, tzinfo=UTC) - _EPOCH) // _MICROSECOND
LAST_MICROSECOND = (datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC) - _EPOCH) // _MICROSECOND

# Written out instead of datetime.fromisoformat, whose idea of ISO-8601 changes between Python versions.
_MOMENT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)"
    r"(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:(Z|z)|([+-])(\d\d)(?::?(\d\d))?)?)?\Z",
    re.ASCII,
)


def fold(text: str) -> str:
    """Text as it is compared when case is ignored: Unicode case folding, code point by code point."""
    return text.casefold()


def canonical_literal(key: str, value: Literal) -> Literal:
    """A literal as filters keep it: whole numbers as integers, addresses and moments in their line's own form."""
    if isinstance(value, float):
        if isnan(value):
            raise FilterError("a number", "NaN, which is equal to nothing", key)
        value = canonical_number(value)
    function = split(key)[0][:1] if key[-1] == ")" else ()
    if value is None or function not in (("ip",), ("time",)):
        return value
    read = None
    if isinstance(value, str):
        read = ip_text(value) if function == ("ip",) else microseconds_of(value)
    if read is None:
        expected = "an address" if function == ("ip",) else "a timestamp such as '2026-01-31T12:00:00Z'"
        raise FilterError(expected, shown(value), key)
    return read


def derive(key: str, base: Cut) -> Cut:
    """The point of the derived attribute `key` where the attribute itself lies at point `base`."""
    functions, _ = split(key)
    for function in reversed(functions):
        base = _apply(function, base)
    return base


def _apply(function: str, base: Cut) -> Cut:
    is_text = base[0] == 6
    if function == "lower":
        return (6, fold(base[1]), 0) if is_text else base
    if function == "reverse":
        return (6, base[1][::-1], 0) if is_text else base
    if not is_text:
        return BOTTOM
    if function == "ip":
        address = ip_text(base[1])
        return BOTTOM if address is None else (6, address, 0)
    moment = microseconds_of(base[1])
    return BOTTOM if moment is None else (5, moment, 0)


@lru_cache(maxsize=4_096)
def ip_text(text: str) -> str | None:
    """An address as text that sorts as addresses do; None for what is not an address.

    Examples
    --------
    >>> ip_text("10.0.0.1"), ip_text("example.org")
    ('40a000001', None)
    """
    try:
        if ":" in text:
            return f"6{int(IPv6Address(text)):032x}" if "%" not in text else None
        return f"4{int(IPv4Address(text)):08x}"
    except AddressValueError:
        return None


def address_of(text: str) -> str:
    """The address that a text made by `ip_text` stands for."""
    number = int(text[1:], 16)
    return str(IPv4Address(number) if text[0] == "4" else IPv6Address(number))


@lru_cache(maxsize=4_096)
def microseconds_of(text: str) -> int | None:
    """Microseconds since 1970 in UTC of an ISO-8601 date or date and time; None for what is not one.

    A time without a zone is UTC. Digits past the microsecond are cut off.

    Examples
    --------
    >>> microseconds_of("1970-01-01T00:00:01Z"), microseconds_of("yesterday")
    (1000000, None)
    """
    found = _MOMENT.match(text)
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction, _, sign, zone_hours, zone_minutes = found.groups()
    try:
        zone = UTC
        if sign:
            if int(zone_minutes or 0) > 59:
                return None
            offset = timedelta(hours=int(zone_hours), minutes=int(zone_minutes or 0))
            zone = timezone(-offset if sign == "-" else offset)
        moment = datetime(
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0),
            int((fraction or "0")[:6].ljust(6, "0")), tzinfo=zone,
        )  # fmt: skip
    except ValueError:
        return None
    microseconds = (moment - _EPOCH) // _MICROSECOND
    # A zone can push a moment of year 1 or 9999 past the calendar, where it could not be printed again.
    return microseconds if FIRST_MICROSECOND <= microseconds <= LAST_MICROSECOND else None


def moment_text(microseconds: int) -> str:
    """The ISO-8601 text of a number of microseconds since 1970 in UTC."""
    return (_EPOCH + microseconds * _MICROSECOND).replace(tzinfo=None).isoformat() + "Z"
