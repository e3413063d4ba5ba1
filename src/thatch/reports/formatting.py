"""Values as people read them: 1,234,567; 3.2 %; 1.4 GB; 12 ms."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from numbers import Integral, Real
from typing import Literal

__all__ = ["MISSING", "Format", "check_formats", "format_value", "number", "simple"]

Format = Literal["percent", "bytes", "seconds", "text"]

MISSING = "–"
_FORMATS = ("percent", "bytes", "seconds", "text")
_BYTES = ("B", "kB", "MB", "GB", "TB", "PB", "EB")
_LONGEST_DECIMAL = 40  # longer ones are rounded like floats
_LONGEST_BITS = 128  # Python refuses to print integers of many thousand digits


def check_formats(formats: Mapping[str, Format]) -> None:
    """Refuse unknown formats."""
    for name, each in formats.items():
        if each not in _FORMATS:
            raise ValueError(f"Expected a format of {', '.join(_FORMATS)}, got {each!r} - at {name!r}")


def simple(value: object) -> object:
    """A scalar of NumPy or Arrow as a Python value."""
    for method in ("as_py", "item"):
        if (convert := getattr(value, method, None)) is not None and getattr(value, "ndim", 0) == 0:
            return convert()
    if (convert := getattr(value, "tolist", None)) is not None:
        return convert()
    return value


def number(value: object) -> float | None:
    """The value as a number to sort or draw; None if it is not a number."""
    value = simple(value)
    if isinstance(value, bool) or not isinstance(value, (Real, Decimal, timedelta)):
        return None
    try:
        found = value.total_seconds() if isinstance(value, timedelta) else float(value)
    except OverflowError:  # an integer larger than all doubles
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]  # only numbers overflow
    except ValueError:  # a signalling NaN of decimals
        return None
    return None if found != found else found


def format_value(value: object, form: Format | None = None) -> str:
    """The value as text for readers; `form` is the format of a number."""
    value = simple(value)
    if form == "text":
        return MISSING if value is None else _other(value)
    if isinstance(value, timedelta):
        return _seconds(value.total_seconds())
    amount = number(value)
    if amount is not None and form is not None:
        return _infinite(amount) or _MEASURES[form](amount)
    match value:
        case None:
            return MISSING
        case bool():
            return "yes" if value else "no"
        case Integral():
            return _integer(int(value))
        case Decimal() if (
            value.is_finite() and len(text := f"{value:,}") <= _LONGEST_DECIMAL and "E" not in text
        ):
            return _signed(text)
        case Real() | Decimal():
            return "NaN" if amount is None else _infinite(amount) or _float(amount)
        case _:
            return _other(value)


def _integer(value: int) -> str:
    if value.bit_length() > _LONGEST_BITS:
        return f"{'−' if value < 0 else ''}about 2^{value.bit_length() - 1:,}"
    return _signed(f"{value:,}")


def _float(value: float) -> str:
    size = abs(value)
    if size >= 1e15 or 0 < size < 1e-4:
        digits, exponent = f"{value:.3e}".split("e")
        return _signed(f"{_trimmed(digits)}e{int(exponent)}")
    if size >= 10_000:
        return _signed(f"{value:,.0f}")
    return _signed(_trimmed(f"{value:,.{max(0, 3 - math.floor(math.log10(size)))}f}" if size else "0"))


def _percent(value: float) -> str:
    if math.isinf(100 * value):
        return f"{_float(value)} × 100 %"
    text = _three(100 * value)
    # Rounding must not turn less than all into 100 %.
    if text == "100" and value < 1:
        return "> 99.9 %"
    return f"{text} %"


def _bytes(value: float) -> str:
    power = 0
    while abs(value) >= 999.5 and power < len(_BYTES) - 1:
        value, power = value / 1000, power + 1
    return f"{_three(value)} {_BYTES[power]}"


def _seconds(value: float) -> str:
    size = abs(value)
    if size >= 1e12:
        return f"{_float(value)} s"
    if size >= 60:
        minutes, seconds = divmod(round(size), 60)
        hours, minutes = divmod(minutes, 60)
        sign = "−" if value < 0 else ""
        return f"{sign}{hours:,} h {minutes} min" if hours else f"{sign}{minutes} min {seconds} s"
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if size * factor >= 0.9995:
            return f"{_three(value * factor)} {unit}"
    return f"{_three(value * 1e9)} ns" if value else "0 s"


_MEASURES = {"percent": _percent, "bytes": _bytes, "seconds": _seconds}


def _three(value: float) -> str:
    """Three significant digits, but all digits before the point."""
    if not value:
        return "0"
    if not 1e-4 <= abs(value) < 1e15:
        return _float(value)
    return _signed(_trimmed(f"{value:,.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"))


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _signed(text: str) -> str:
    return text.replace("-", "−", 1) if text.startswith("-") else text


def _infinite(value: float) -> str:
    return "" if math.isfinite(value) else "∞" if value > 0 else "−∞"


def _other(value: object) -> str:
    match value:
        case str():
            return value
        case bytes() | bytearray() | memoryview():
            return bytes(value).hex(" ")
        case datetime():
            return value.isoformat(" ")
        case date() | time():
            return value.isoformat()
        case Mapping() | Sequence() | AbstractSet():
            return _nested(value)
        case _:
            return str(value)


def _nested(value: object) -> str:
    """Lists and objects as JSON; sets in a fixed order."""
    try:
        return json.dumps(value, ensure_ascii=False, default=_inner)
    except (
        ValueError,
        TypeError,
        RecursionError,
    ):  # it contains itself, or has keys that JSON does not support
        return str(value)


def _inner(value: object) -> object:
    if isinstance(value, AbstractSet):
        return sorted(value, key=repr)
    return dict(value) if isinstance(value, Mapping) else _other(simple(value))
