"""Declared attributes: which values an attribute can have, and so which cuts have nothing between them.

A schema is optional. It makes gaps provably empty (`qty <= 2 or qty >= 3` covers everything if `qty` is declared
an integer) and gives bounds. Null belongs to every type. A value outside its declared type or bounds counts as
missing, everywhere, and is counted. Attributes that are not declared keep the ordinary line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import inf
from typing import Any

from thatch.errors import SchemaError, shown
from thatch.model.derived import FIRST_MICROSECOND, LAST_MICROSECOND
from thatch.model.lines import EMPTY, WHOLE, Constraint, Cut, intervals
from thatch.model.names import key_of, name_of, split
from thatch.model.types import Addresses, Decimal, DeclaredType, Enum, Integer, Line, Moments, Number, Text
from thatch.model.values import is_text

__all__ = ["Schema", "line_of", "tighten"]

_BUILT_IN: dict[str, Line] = {"ip": Addresses(), "time": Moments(FIRST_MICROSECOND, LAST_MICROSECOND)}


def _enum(values: list[Any]) -> Enum:
    if not isinstance(values, list):  # text would be taken letter by letter
        raise TypeError("values as a list")
    return Enum(*values)


_TYPES: dict[str, Callable[..., Line]] = {
    "Decimal": Decimal,
    "Enum": _enum,
    "Integer": Integer,
    "Number": Number,
    "Text": Text,
}


class Schema(Mapping[str, Line]):
    """Declared types by attribute name; immutable, compared by content.

    Examples
    --------
    >>> schema = Schema({"qty": Integer(0, 1000), "side": Enum("buy", "sell")})
    >>> schema["qty"]
    Integer(minimum=0, maximum=1000)
    """

    __slots__ = ("_by_key", "_hash")

    def __init__(self, attributes: Mapping[str, Line]) -> None:
        if not isinstance(attributes, Mapping):
            raise SchemaError("a mapping of attribute names to types", shown(attributes))
        for name, line in attributes.items():
            if not isinstance(name, str) or not is_text(name):
                raise SchemaError("attribute names as text", shown(name))
            if not isinstance(line, DeclaredType):
                expected = "thatch.Integer, Decimal, Number, Text or Enum"
                raise SchemaError(expected, shown(line), f"attribute {shown(name)}")
        self._by_key: dict[str, Line] = {key_of(name): line for name, line in attributes.items()}
        self._hash = hash(frozenset(self._by_key.items()))

    def __getitem__(self, name: str) -> Line:
        return self._by_key[key_of(name)]

    def __iter__(self) -> Iterator[str]:
        return map(name_of, self._by_key)

    def __len__(self) -> int:
        return len(self._by_key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self._by_key == other._by_key

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Schema({dict(self)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Schema, (dict(self),))  # made anew: hashes of text differ from process to process

    def line(self, key: str) -> Line | None:
        """The declared type of an attribute by its key, None if it is not declared."""
        return self._by_key.get(key)

    def describe(self) -> dict[str, dict[str, Any]]:
        """The schema as plain data, for files."""
        return {name: self[name].describe() for name in self}

    @classmethod
    def from_description(cls, description: Mapping[str, Mapping[str, Any]]) -> Schema:
        """The schema that `describe` described.

        Raises `SchemaError` if the description is not one, or its types make no sense.
        """
        if not isinstance(description, Mapping):
            raise SchemaError("a mapping of attribute names to descriptions", shown(description))
        return cls({name: _described(name, fields) for name, fields in description.items()})


def _value(described: Any) -> Any:
    """An argument of a type as `describe` wrote it: infinite numbers as `{"number": "infinity"}`."""
    if isinstance(described, list):
        return [each if isinstance(each, list) else _value(each) for each in described]
    if isinstance(described, Mapping) and set(described) == {"number"}:
        return {"infinity": inf, "-infinity": -inf}.get(str(described["number"]), described)
    return described


def _described(name: object, fields: object) -> Line:
    arguments = dict(fields) if isinstance(fields, Mapping) else {}
    kind = arguments.pop("type", None)
    maker = _TYPES.get(kind) if isinstance(kind, str) else None
    where = f"attribute {shown(name)}"
    if maker is None:
        raise SchemaError(f"a `type`, one of {', '.join(_TYPES)}", shown(fields), where)
    try:
        return maker(**{name: _value(value) for name, value in arguments.items()})
    except TypeError as error:
        raise SchemaError(f"the description of a type {kind}", shown(fields), where) from error


def line_of(key: str, schema: Schema | None) -> Line | None:
    """What is known about the line of an attribute, derived ones included; None = the ordinary line."""
    if key[-1] == ")":
        return _BUILT_IN.get(next(iter(split(key)[0]), ""))
    return schema.line(key) if schema is not None else None


def tighten(constraint: Constraint, line: Line | None) -> Constraint:
    """The same constraint with every cut under its one name on this line."""
    if line is None or constraint == WHOLE:
        return constraint
    result: list[Cut] = []
    for low, high in intervals(constraint):
        low, high = line.tighten(low), line.tighten(high)
        if low == high:
            continue
        if result and result[-1] == low:
            result[-1] = high
        else:
            result += (low, high)
    return tuple(result) or EMPTY
