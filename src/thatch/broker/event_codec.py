"""Events as bytes, MessagePack maps: encoded once where they are published, read wherever somebody matches them.

Values are encoded as what they are on their lines: a date is its text, a `Decimal` its number, a tuple a list.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from thatch.errors import EventError, shown
from thatch.model.events import MAX_CHARACTERS, MAX_DEPTH, MAX_PARTS, Record, read_event
from thatch.model.schema import Schema
from thatch.model.values import read_scalar

__all__ = ["EncodedEvent", "decode_event", "encode_event"]

_PLAIN = frozenset((str, int, float, bool, type(None)))  # encoded as they are
_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(dict)
_FAULTS = (msgspec.MsgspecError, UnicodeError, RecursionError, TypeError, OverflowError, ValueError)


def encode_event(event: Any) -> bytes:
    """An event as bytes that share nothing with it.

    Raises
    ------
    EventError
        If it is no event, or has a value that cannot be encoded.
    """
    if type(event) is not dict and not isinstance(event, Mapping):
        raise EventError("an object of names and values", f"{shown(event)} of type {type(event).__name__}")
    try:
        if type(event) is dict and _PLAIN.issuperset(map(type, event.values())):
            return _ENCODER.encode(event)
        return _ENCODER.encode(_Plainer().mapping(event, "", 0))
    except EventError:
        raise
    except Exception as error:  # whatever a value of the caller's raises
        raise EventError("an event of values that can be encoded", shown(event)) from error


def decode_event(row: Any) -> dict[str, Any]:
    """An event from its bytes, to be changed at will.

    Raises
    ------
    EventError
        If these are no bytes of an event.
    """
    try:
        event: dict[str, Any] = _DECODER.decode(row)
    except _FAULTS as error:
        raise EventError("the MessagePack map of an event", f"{shown(row)} ({error})") from error
    return event


class EncodedEvent:
    """The bytes of one event, read as far as somebody asks.

    Raises
    ------
    EventError
        Here and at `record`, if it is no event.
    """

    __slots__ = ("_record", "_schema", "plain")

    def __init__(self, row: bytes, schema: Schema | None) -> None:
        self.plain = decode_event(row)
        self._schema = schema
        self._record: Record | None = None

    @property
    def record(self) -> Record:
        """Its places on the attributes' lines."""
        if self._record is None:
            self._record = read_event(self.plain, self._schema)
        return self._record


class _Plainer:
    """Makes plain objects, lists and values of one event; counts what shared objects can multiply."""

    def __init__(self) -> None:
        self._parts = 0
        self._characters = 0

    def mapping(self, fields: Mapping[str, Any], where: str, depth: int) -> dict[str, Any]:
        self._enter(len(fields), depth, where)
        return {
            self._name(name, where): self._value(each, f"{where}.{name}" if where else str(name), depth + 1)
            for name, each in fields.items()
        }

    def _name(self, name: Any, where: str) -> str:
        if not isinstance(name, str):
            raise EventError("names as text", f"{shown(name)} of type {type(name).__name__}", where)
        return str(self._text(str.__str__(name)))

    def _value(self, value: Any, where: str, depth: int) -> Any:
        kind = type(value)
        if kind in _PLAIN:
            return self._text(value) if kind is str else value
        if kind is dict or isinstance(value, Mapping):
            return self.mapping(value, where, depth)
        if isinstance(value, np.ndarray):
            if not value.ndim:
                raise EventError("a list or a value", "an array without dimensions", where)
            value = list(value)  # NumPy scalars, which `read_scalar` knows; tolist() would lose dates
        if isinstance(value, (list, tuple)):
            self._enter(len(value), depth, where)
            return [self._value(each, where, depth + 1) for each in value]
        return self._text(read_scalar(value, where))

    def _text(self, value: Any) -> Any:
        if isinstance(value, str):
            self._characters += len(value)
            if self._characters > MAX_CHARACTERS:
                raise EventError(f"The event has more than {MAX_CHARACTERS:,} characters")
        return value

    def _enter(self, parts: int, depth: int, where: str) -> None:
        self._parts += parts
        if depth > MAX_DEPTH:
            raise EventError(
                f"at most {MAX_DEPTH} nested objects and lists", "a deeper or cyclic one", where[:80]
            )
        if self._parts > MAX_PARTS:
            raise EventError(
                f"The event has more than {MAX_PARTS:,} fields and list elements", where=where[:80]
            )
