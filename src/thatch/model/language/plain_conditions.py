"""The quick way for the most common conditions of filter text: of a plain name, or `lower` of one, and literals.

Straight from tokens to the condition, by one function without others around it. Anything that it does not know, or that
could be an error, it leaves to the parser, with which it agrees wherever it answers (a property test says so).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from thatch.model.expressions import And, Compare, Expression, In, Matches, Not
from thatch.model.language.reading import COMPARISONS, END, UNREAD, plain_literal, plain_values
from thatch.model.language.sums import SumReader
from thatch.model.names import key_of
from thatch.model.wildcards import wildcard

__all__ = ["AND", "OR", "ConditionReader"]

# Every spelling, so that the most frequent question needs no lower().
AND = frozenset(map("".join, product("aA", "nN", "dD")))
OR = frozenset(map("".join, product("oO", "rR")))
_FOLLOWING = frozenset((END, ")")) | AND | OR


class ConditionReader(SumReader):
    """Reads plain conditions."""

    __slots__ = ()

    def plain_condition(self) -> Expression | None:
        """The condition that comes next, if it is a plain one; else nothing is read."""
        tokens, at = self.tokens, self.index
        made: Expression
        try:
            key, word = tokens[at], tokens[at + 1]
            is_negated = key == "not"
            if is_negated:
                at += 1
                key, word = word, tokens[at + 1]
            if word == "(" and key == "lower" and tokens[at + 3] == ")":
                key, word = tokens[at + 2], tokens[at + 4]
                if key_of(key) != key:
                    return None
                key, at = f"lower({key})", at + 3
            elif key_of(key) != key:
                return None
            operator = COMPARISONS.get(word)
            if operator is not None:
                value = plain_literal(tokens[at + 2])
                if value is UNREAD:
                    return None
                made, at = Compare(key, operator, value), at + 3
            else:
                is_twice = word == "not"
                read = _READERS.get(tokens[at + 2] if is_twice else word)
                found = read(tokens, at + 3 if is_twice else at + 2, key) if read is not None else None
                if found is None:
                    return None
                made, at = found
                if is_twice:
                    made = Not(made)
            if tokens[at] not in _FOLLOWING:
                return None
        except IndexError:  # the text ends before the condition does
            return None
        self.index = at
        return Not(made) if is_negated else made


_Found = tuple[Expression, int] | None  # a condition, and where the next token stands


def _like(tokens: list[str], at: int, key: str) -> _Found:
    token = tokens[at]
    form = token[1:-1]
    if token[0] != "'" or len(token) == 1 or form[-1:] == "\\":  # the last may be an error
        return None
    return Matches(key, wildcard(form.replace("''", "'") if "'" in form else form)), at + 1


def _between(tokens: list[str], at: int, key: str) -> _Found:
    low, high = plain_literal(tokens[at]), plain_literal(tokens[at + 2])
    if low is UNREAD or high is UNREAD or tokens[at + 1] != "and":
        return None
    return And((Compare(key, ">=", low), Compare(key, "<=", high))), at + 3


def _in(tokens: list[str], at: int, key: str) -> _Found:
    found = plain_values(tokens, at + 1) if tokens[at] == "(" else None
    return None if found is None else (In(key, found[0]), found[1])


_READERS: dict[str, Callable[[list[str], int, str], _Found]] = {
    "like": _like,
    "between": _between,
    "in": _in,
}
