"""Any value as a few characters for an error message.

The text is written piece by piece and ends where it is long enough, so that a value that is huge, cyclic or shared many
times over costs no more than what is shown of it. Only the `repr` of types that are known to be small is called.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta, tzinfo
from decimal import Decimal
from itertools import islice
from pathlib import PurePath
from types import BuiltinFunctionType, FunctionType
from uuid import UUID

__all__ = ["brief"]

_LENGTH = 60
_MOST_BITS = 4_000  # Python refuses to write longer integers
_DIGITS_A_BIT = 0.30103
_SMALL = (
    type(None), bool, float, complex, date, time, timedelta, tzinfo, UUID, range, type, FunctionType,
    BuiltinFunctionType, Decimal, PurePath, type(...), type(NotImplemented),
)  # fmt: skip


def brief(value: object) -> str:
    """A value for an error message: short, printable, in bounded time, and never raising."""
    text = ""
    try:
        for piece in _pieces(value):
            text += piece
            if len(text) > _LENGTH:
                text = text[: _LENGTH - 3] + "..."
                break
    except Exception:  # noqa: BLE001 - a foreign class may do anything; the error at hand matters more
        text = _kind(value)
    # A lone surrogate cannot be printed or logged.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _pieces(value: object) -> Iterator[str]:
    """The value's text, none of its pieces empty or long. The methods of built-in types are called past their heirs."""
    if isinstance(value, enum.Enum):
        yield f"{type(value).__name__[:_LENGTH]}.{value.name[:_LENGTH]}"
    elif isinstance(value, str):
        yield repr(str.__getitem__(value, slice(_LENGTH)))
    elif isinstance(value, bytes):
        yield repr(bytes.__getitem__(value, slice(_LENGTH)))
    elif isinstance(value, int) and not isinstance(value, bool):
        yield _integer(value)
    elif isinstance(value, list):
        yield from _row("[", list.__iter__(value), "]")
    elif isinstance(value, tuple):
        yield from _row("(", tuple.__iter__(value), ",)" if tuple.__len__(value) == 1 else ")")
    elif isinstance(value, set):
        yield from _row("{", set.__iter__(value), "}") if set.__len__(value) else ["set()"]
    elif isinstance(value, frozenset):
        yield from _row("frozenset({", frozenset.__iter__(value), "})")
    elif isinstance(value, BaseException):
        yield from _row(f"{type(value).__name__}(", value.args, ")")
    elif isinstance(value, dict):
        yield from _named("{", dict.items(value), ": ", "}")
    elif is_dataclass(value) and not isinstance(value, type) and _is_ours(value):
        parts = [(_Name(field.name), getattr(value, field.name)) for field in fields(value) if field.repr]
        yield from _named(f"{type(value).__name__}(", parts, "=", ")")
    else:
        yield _other(value)


def _row(start: str, values: Iterable[object], end: str) -> Iterator[str]:
    yield start
    for number, each in enumerate(islice(values, _LENGTH)):
        if number:
            yield ", "
        yield from _pieces(each)
    yield end


def _named(start: str, values: Iterable[tuple[object, object]], between: str, end: str) -> Iterator[str]:
    yield start
    for number, (name, each) in enumerate(islice(values, _LENGTH)):
        if number:
            yield ", "
        if isinstance(name, _Name):
            yield str(name)
        else:
            yield from _pieces(name)
        yield between
        yield from _pieces(each)
    yield end


class _Name(str):
    """The name of a field, which has no quotes."""

    __slots__ = ()


def _is_ours(value: object) -> bool:
    return type(value).__module__.partition(".")[0] == "thatch"


def _integer(value: int) -> str:
    bits = int.bit_length(value)
    if bits > _MOST_BITS:
        return f"an integer of about {int(bits * _DIGITS_A_BIT) + 1:,} digits"
    return int.__repr__(value)


def _other(value: object) -> str:
    """The `repr` of what is known to be small: plain values, and what Thatch itself declares."""
    kind = type(value)
    shape = getattr(value, "shape", None) if kind.__module__ == "numpy" else None
    if isinstance(value, _SMALL) or _is_ours(value) or kind.__repr__ is object.__repr__ or shape == ():
        return repr(value)[: _LENGTH + 1]
    return _kind(value) if shape is None else f"an array of shape {shape}"


def _kind(value: object) -> str:
    name = type(value).__name__[:_LENGTH]
    return f"{'an' if name[:1].lower() in tuple('aeiou') else 'a'} {name}"
