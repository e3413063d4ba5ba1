"""Which Python values are accepted, and what each becomes on the line.

=====================================  ==========================================================
Python                                 on the line
=====================================  ==========================================================
`None`, `bool`, `str`                  null, boolean, text
`int`                                  number, exact; outside 64 bits (signed) refused
`float`                                number; NaN is its own point (refused as a filter literal)
`decimal.Decimal`                      whole numbers of 64 bits exactly, else the nearest double
`datetime.datetime`                    ISO-8601 text in UTC with a trailing Z (naive = UTC)
`datetime.date`                        ISO-8601 text, `2026-11-15`
`uuid.UUID`                            text
NumPy scalars                          as the Python value they stand for; `datetime64` as datetime
`enum.Enum`                            its value
=====================================  ==========================================================

Refused: `bytes`, complex numbers, text with lone surrogates, and everything else.
"""

from __future__ import annotations

import enum
import uuid
from datetime import UTC, date, datetime
from decimal import Decimal
from math import isfinite
from typing import Any

import numpy as np

from thatch.errors import EventError, SubscriptionError, shown
from thatch.model.lines import Literal

__all__ = [
    "MAX_INTEGER",
    "MIN_INTEGER",
    "canonical_number",
    "check_id",
    "check_text",
    "finite",
    "is_id",
    "is_text",
    "read_scalar",
    "reason_of",
    "unique_names",
]

MIN_INTEGER = -(2**63)
MAX_INTEGER = 2**63 - 1

_ACCEPTED = "null, a boolean, a number or text"


def is_text(value: str) -> bool:
    """Whether the string is text at all: no lone surrogate in it."""
    if value.isascii():
        return True
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def check_text(value: str, where: str) -> str:
    """The text itself, refused if it holds a lone surrogate."""
    if not is_text(value):
        raise EventError("text without lone surrogates", shown(value), where)
    return value


def is_id(value: object) -> bool:
    """Whether a value may name a subscription, a subscriber, a client, a broker, …: text, not empty, without NUL.

    Databases and file formats cannot hold NUL, and nobody sees an empty name.
    """
    return isinstance(value, str) and value != "" and "\0" not in value and is_text(value)


def check_id(value: object, what: str = "id", where: str = "") -> str:
    """The id itself, refused if it cannot be one."""
    if not is_id(value):
        expected = f"a text as {what} that is not empty and has no NUL"
        raise SubscriptionError(expected, f"{shown(value)} of type {type(value).__name__}", where)
    return value  # type: ignore[return-value]  # it is text


def unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; raises `KeyError` with a name that is there twice, of which readers silently keep the last."""
    result = dict(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        raise KeyError(next(name for name, _ in pairs if name in seen or seen.add(name)))  # type: ignore[func-returns-value]  # `add` returns None, so `or` notes the name
    return result


def reason_of(error: Exception) -> str:
    """Why text is not JSON or YAML, in one line. Of very long integers Python says how to allow them: we do not."""
    words = " ".join(str(error).split())
    return (
        "an integer of thousands of digits: integers have 64 bits" if "string conversion" in words else words
    )


def finite(value: object) -> float | None:
    """The double nearest to a finite number, None for all else: text, booleans, NaN, and integers past every double."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None


def canonical_number(number: float) -> int | float:
    """The one way to keep a number: a whole double that fits 64 bits is an integer."""
    if isinstance(number, float) and number.is_integer() and MIN_INTEGER <= number <= MAX_INTEGER:
        return int(number)
    return number


def read_scalar(value: Any, where: str) -> Literal:
    """The value on the line that a Python scalar stands for.

    Raises `EventError` if the value has no place on the line.

    Parameters
    ----------
    value : anything that is not a list or a mapping
    where : path for the error message
    """
    kind = type(value)
    if kind is str:
        return value if value.isascii() else check_text(value, where)
    if kind is int:
        if MIN_INTEGER <= value <= MAX_INTEGER:
            return value  # type: ignore[no-any-return]  # its type was tested, in the quickest way
        raise EventError("an integer of 64 bits", shown(value), where)
    if kind is float or kind is bool or value is None:
        return value  # type: ignore[no-any-return]  # as above
    return _read_rare(value, where)


def _read_rare(value: Any, where: str) -> Literal:
    """The accepted types that are seldom met."""
    if isinstance(value, enum.Enum):  # before int and str: an IntEnum is also an int
        return read_scalar(value.value, where)
    if isinstance(value, np.generic):
        return _read_numpy(value, where)
    if isinstance(value, Decimal):
        return _read_decimal(value, where)
    if isinstance(value, datetime):
        try:
            aware = value.astimezone(UTC) if value.tzinfo else value
        except OverflowError:
            raise EventError("a moment of the years 1 to 9999 in UTC", shown(value), where) from None
        return aware.replace(tzinfo=None).isoformat() + "Z"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, uuid.UUID):
        return str(value)
    for base in (bool, int, float, str):  # subclasses of the plain types
        if isinstance(value, base):
            return read_scalar(base(value), where)
    raise EventError(_ACCEPTED, f"{shown(value)} of type {type(value).__name__}", where)


def _read_decimal(value: Decimal, where: str) -> Literal:
    if value.is_nan():
        return float("nan")
    # The exponent is tested first: int(Decimal("1e999999999")) would not end.
    if value.is_finite() and value.adjusted() < 19 and value == value.to_integral_value():
        whole = int(value)
        if MIN_INTEGER <= whole <= MAX_INTEGER:
            return whole
    number = float(value)
    if value.is_finite() and not isfinite(number):
        raise EventError("a number in the range of a double", shown(value), where)
    return number


def _read_numpy(value: np.generic, where: str) -> Literal:
    if isinstance(value, np.datetime64):
        microseconds = value.astype("datetime64[us]")
        moment = microseconds.item()
        if moment is None:  # NaT
            return None
        # A far date in a coarse unit wraps around silently in the cast; coming back tells.
        is_finer = np.datetime_data(value.dtype)[0] in ("ns", "ps", "fs", "as")
        if isinstance(moment, datetime) and (is_finer or microseconds.astype(value.dtype) == value):
            return read_scalar(moment, where)
    elif isinstance(value, np.floating):
        number = float(value)
        if isfinite(number) or not np.isfinite(value):
            return number
    elif isinstance(value, (np.bool_, np.integer, np.str_)) and not isinstance(value, np.timedelta64):
        return read_scalar(value.item(), where)
    raise EventError(_ACCEPTED, f"{shown(value)} of type {type(value).__name__}", where)
