"""Literals and conditions as people write them, for canonical text and for messages."""

from __future__ import annotations

from math import inf
from typing import assert_never

from thatch.model.derived import address_of, moment_text
from thatch.model.expressions import Compare, Distinct, Exists, In, IsNull
from thatch.model.lines import Literal
from thatch.model.names import split
from thatch.model.values import canonical_number

__all__ = ["OPPOSITE", "Simple", "condition_words", "literal_text", "quote_text"]

_MOST_VALUES = 3  # of an `in` that a message shows
_MOST_CHARACTERS = 60  # of a literal that a message shows
OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}

Simple = Compare | In | IsNull | Distinct | Exists


def quote_text(text: str) -> str:
    """Text as a literal."""
    return "'" + text.replace("'", "''") + "'"


def literal_text(key: str, value: Literal) -> str:
    """A value as it is written beside an attribute: addresses and moments in their own notation."""
    function = split(key)[0][:1]
    if function == ("time",) and isinstance(value, int):
        return f"'{moment_text(value)}'"
    if isinstance(value, str):
        return quote_text(address_of(value) if function == ("ip",) else value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if value in (inf, -inf):
        return "infinity" if value > 0 else "-infinity"
    return repr(canonical_number(value))


def condition_words(condition: Simple, *, negated: bool) -> str:
    """What a condition, or its negation, says of its attribute; long literals are cut."""
    match condition:
        case Compare():
            sign = OPPOSITE[condition.operator] if negated else condition.operator
            return f"{sign} {_short(condition.key, condition.value)}"
        case In():
            values = [_short(condition.key, value) for value in condition.values[:_MOST_VALUES]]
            values += ["..."] if len(condition.values) > _MOST_VALUES else []
            return f"{'not in' if negated else 'in'} ({', '.join(values)})"
        case IsNull():
            return "is not null" if negated else "is null"
        case Distinct():
            return f"{'=' if negated else 'is distinct from'} {_short(condition.key, condition.value)}"
        case Exists():
            return "is missing" if negated else "is present"
        case _:
            assert_never(condition)


def _short(key: str, value: Literal) -> str:
    text = literal_text(key, value)
    return text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 3] + "..."
