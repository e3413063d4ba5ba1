"""The quick way for the most common filters: comparisons of plain attributes joined by `and`.

Straight from tokens to constraints, with no tree in between. Anything it does not know, or that could be an error,
it leaves to the parser and the normaliser, with which it agrees wherever it answers (a property test says so).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from thatch.model.conditions import COMPARE
from thatch.model.conjunctions import Conjunction, Dead, close
from thatch.model.language.reading import COMPARISONS, END, UNREAD, plain_literal, plain_values
from thatch.model.lines import (
    NULL,
    TEXTS,
    Constraint,
    Literal,
    above,
    below,
    intersect_all,
    prefix_interval,
    values_union,
)
from thatch.model.names import key_of
from thatch.model.residuals import Residual, WildcardCheck
from thatch.model.wildcards import wildcard

__all__ = ["quick_conjunction"]

_MAKERS: dict[str, Callable[[Literal], Constraint]] = {
    sign: COMPARE[word] for sign, word in COMPARISONS.items()
}

_MOST_VALUES = 1_000  # of longer lists the long way makes one leaf
_MOST_TOKENS = 4_000  # longer conjunctions go the way that is linear in conditions on one attribute
_PLAIN_PATTERN = re.compile(r"'(%?)([^%_\\']+)(%?)'\Z")


def quick_conjunction(tokens: list[str]) -> Conjunction | None:
    """The conjunction of plain comparisons that the tokens of a text are, None for anything else."""
    constraints: dict[str, Constraint] = {}
    several: dict[str, list[Constraint]] = {}
    residuals: list[Residual] = []
    index = 0
    while True:
        name = tokens[index]
        found = _condition(tokens, index, residuals) if key_of(name) == name else None
        if found is None:
            return None
        key, constraint, index = found
        if not constraint:
            return None  # can never match: the long way says why
        if key in constraints:
            several.setdefault(key, [constraints[key]]).append(constraint)
        else:
            constraints[key] = constraint
        word = tokens[index]
        if word == END:
            break
        if word != "and":
            return None
        index += 1
        if index > _MOST_TOKENS:
            return None
    for key, each in several.items():
        constraints[key] = intersect_all(each)
        if not constraints[key]:
            return None
    try:
        return close(constraints, residuals, None)
    except Dead:
        return None


def _condition(
    tokens: list[str], index: int, residuals: list[Residual]
) -> tuple[str, Constraint, int] | None:
    """One condition on a plain attribute: its key, its constraint and where the next token stands."""
    name, operator = tokens[index], tokens[index + 1]
    maker = _MAKERS.get(operator)
    if maker is not None:
        value = plain_literal(tokens[index + 2])
        return None if value is UNREAD else (name, maker(value), index + 3)
    if operator == "like":
        pattern = _PLAIN_PATTERN.match(tokens[index + 2])
        return None if pattern is None else (*_like(name, pattern, residuals), index + 3)
    said = _OTHERS.get(operator)
    found = said(tokens, index + 2) if said is not None else None
    return None if found is None else (name, *found)


def _between(tokens: list[str], index: int) -> tuple[Constraint, int] | None:
    low = plain_literal(tokens[index])
    if low is UNREAD or tokens[index + 1] != "and":
        return None
    high = plain_literal(tokens[index + 2])
    if high is UNREAD or isinstance(low, str) != isinstance(high, str):
        return None
    return (below(low), above(high)) if low <= high else (), index + 3  # type: ignore[operator]  # both text or both numbers


def _in(tokens: list[str], index: int) -> tuple[Constraint, int] | None:
    found = plain_values(tokens, index + 1) if tokens[index] == "(" else None
    if found is None or len(found[0]) >= _MOST_VALUES:
        return None
    return values_union(found[0]), found[1]


def _is(tokens: list[str], index: int) -> tuple[Constraint, int] | None:
    return (NULL, index + 1) if tokens[index] == "null" else None


def _like(key: str, pattern: re.Match[str], residuals: list[Residual]) -> tuple[str, Constraint]:
    """Prefix, suffix and contains; every other pattern goes the long way."""
    opening, body, closing = pattern.groups()
    if not opening:
        return key, prefix_interval(body) if closing else (below(body), above(body))
    if not closing:
        return f"reverse({key})", prefix_interval(body[::-1])
    residuals.append(WildcardCheck(key, wildcard(f"%{body}%")))
    return key, TEXTS


_OTHERS: dict[str, Callable[[list[str], int], tuple[Constraint, int] | None]] = {
    "between": _between,
    "in": _in,
    "is": _is,
}
