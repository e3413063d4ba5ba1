"""The quick way for the most common JSON patterns: one plain entry a field.

Straight from the pattern to constraints. Anything it does not know, or that could be an error, it leaves to the pattern
reader and the normaliser, with which it agrees wherever it answers (a property test says so).
"""

from __future__ import annotations

from typing import Any

from thatch.model.conditions import COMPARE, only
from thatch.model.conjunctions import Conjunction, close
from thatch.model.lines import Constraint, intersect, prefix_interval
from thatch.model.names import key_of

__all__ = ["quick_pattern"]

_EXACT = 2**53
_DEEPEST = 8
_MOST_FIELDS = 1_000
_LONGEST = 200  # a long name above many fields multiplies: the pattern reader counts
_BOTTOM, _TOP = (">", ">="), ("<", "<=")


def quick_pattern(pattern: dict[str, Any]) -> Conjunction | None:
    """The conjunction that a plain pattern is, None for anything else."""
    constraints: dict[str, Constraint] = {}
    if not _read(pattern, "", constraints, 0):
        return None
    return close(constraints, (), None)


def _read(pattern: dict[str, Any], prefix: str, constraints: dict[str, Constraint], depth: int) -> bool:
    """Add the fields of one object; False if something in it is not plain."""
    if not pattern or depth > _DEEPEST or len(pattern) > _MOST_FIELDS:
        return False
    for name, value in pattern.items():
        if type(name) is not str or not name.isascii() or name == "$or" or not 0 < len(name) <= _LONGEST:
            return False
        if type(value) is dict:
            if not _read(value, f"{prefix}{name}.", constraints, depth + 1):
                return False
            continue
        if type(value) is not list or len(value) != 1:
            return False
        key = key_of(prefix + name if prefix else name)
        constraint = _entry(value[0])
        if not constraint or key in constraints:
            return False
        constraints[key] = constraint
    return True


def _entry(entry: Any) -> Constraint | None:
    """The constraint of one entry: a text, a number, a numeric range or a prefix."""
    kind = type(entry)
    if kind is str:
        return only(entry) if entry.isascii() else None
    if kind is int:
        return only(entry) if -_EXACT < entry < _EXACT else None
    if kind is not dict or len(entry) != 1:
        return None
    operand = entry.get("numeric")
    if type(operand) is list:
        return _numeric(operand)
    prefix = entry.get("prefix")
    return prefix_interval(prefix) if type(prefix) is str and prefix.isascii() else None


def _numeric(operand: list[Any]) -> Constraint | None:
    if len(operand) not in (2, 4) or not all(
        type(value) is int or type(value) is float for value in operand[1::2]
    ):
        return None
    numbers = [_whole(value) for value in operand[1::2]]
    if not all(-_EXACT < number < _EXACT for number in numbers):
        return None
    if len(operand) == 2:
        maker = COMPARE.get(operand[0]) if operand[0] in ("=", *_BOTTOM, *_TOP) else None
        return maker(numbers[0]) if maker is not None else None
    if operand[0] not in _BOTTOM or operand[2] not in _TOP or not numbers[0] < numbers[1]:
        return None
    return intersect(COMPARE[operand[0]](numbers[0]), COMPARE[operand[2]](numbers[1]))


def _whole(number: float) -> float:
    return int(number) if type(number) is float and number.is_integer() else number
