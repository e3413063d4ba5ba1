"""The quick way for the most common filters: comparisons of plain attributes joined by `and`.

Straight from tokens to constraints, with no tree in between. Anything it does not know, or that could be an error,
it leaves to the parser and the normaliser, with which it agrees wherever it answers (a property test says so).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from thatch.model.language.reading import COMPARISONS, UNREAD, plain_literal
from thatch.model.language.tokens import END, tokens_of
from thatch.model.lines import NULL, Constraint, Literal, above, below, intersect, prefix_interval, union
from thatch.model.names import key_of
from thatch.model.normalise import COMPARE, MAX_INTERVALS

__all__ = ["quick_constraints"]

_MAKERS: dict[str, Callable[[Literal], Constraint]] = {
    sign: COMPARE[word] for sign, word in COMPARISONS.items()
}

_SPECIAL = re.compile(r"[%_\\']")


def quick_constraints(text: str) -> dict[str, Constraint] | None:
    """The constraints of a conjunction of plain comparisons, None for anything else."""
    tokens = tokens_of(text)
    constraints: dict[str, Constraint] = {}
    index = 0
    while True:
        name = tokens[index]
        if key_of(name) != name:
            return None
        operator = tokens[index + 1]
        maker = _MAKERS.get(operator)
        if maker is not None:
            value = plain_literal(tokens[index + 2])
            if value is UNREAD:
                return None
            constraint = maker(value)  # type: ignore[arg-type]
            index += 3
        else:
            said = _OTHERS.get(operator)
            found = said(tokens, index + 2) if said is not None else None
            if found is None:
                return None
            constraint, index = found
        known = constraints.get(name)
        if known is not None:
            constraint = intersect(known, constraint)
        if not constraint:
            return None  # can never match: the long way says why
        constraints[name] = constraint
        word = tokens[index]
        if word != "and":
            return constraints if word == END else None
        index += 1


def _between(tokens: list[str], index: int) -> tuple[Constraint, int] | None:
    low = plain_literal(tokens[index])
    if low is UNREAD or tokens[index + 1] != "and":
        return None
    high = plain_literal(tokens[index + 2])
    if high is UNREAD or isinstance(low, str) != isinstance(high, str):
        return None
    return (below(low), above(high)) if low <= high else (), index + 3  # type: ignore[operator, arg-type]


def _in(tokens: list[str], index: int) -> tuple[Constraint, int] | None:
    if tokens[index] != "(":
        return None
    parts: list[Constraint] = []
    while len(parts) < MAX_INTERVALS:
        value = plain_literal(tokens[index + 1])
        if value is UNREAD:
            return None
        parts.append((below(value), above(value)))  # type: ignore[arg-type]
        index += 2
        if tokens[index] == ")":
            return union(parts), index + 1
        if tokens[index] != ",":
            return None
    return None


def _is(tokens: list[str], index: int) -> tuple[Constraint, int] | None:
    return (NULL, index + 1) if tokens[index] == "null" else None


def _like(tokens: list[str], index: int) -> tuple[Constraint, int] | None:
    """Only a plain prefix; every other pattern goes the long way."""
    pattern = tokens[index]
    if pattern[:1] != "'" or pattern[-2:] != "%'" or _SPECIAL.search(pattern, 1, len(pattern) - 2):
        return None
    return prefix_interval(pattern[1:-2]), index + 1


_OTHERS: dict[str, Callable[[list[str], int], tuple[Constraint, int] | None]] = {
    "between": _between,
    "in": _in,
    "is": _is,
    "like": _like,
}
