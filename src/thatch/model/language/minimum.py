"""`minimum_should_match` of Elasticsearch: how many of some clauses must hold, and the condition that so many do.

A number; a percentage, rounded towards nothing; either of them negative, for how many may fail; or several of these with
the number of clauses above which each begins: `2<-1 9<75%`.
"""

from __future__ import annotations

import re
from itertools import combinations
from math import comb
from typing import Any

from thatch.errors import FilterTooLargeError, PatternError, shown
from thatch.model.language.truths import Truth

__all__ = ["at_least", "least_of"]

_SIMPLE = re.compile(r"(-?\d{1,9})(%?)", re.ASCII)
_MOST_CHOICES = 1_000


def least_of(value: Any, count: int, where: str) -> int:
    """How many of `count` clauses must hold."""
    text = str(value) if isinstance(value, (int, str)) and not isinstance(value, bool) else ""
    least = None
    for part in re.sub(r"\s*<\s*", "<", text.strip()[:1_000]).split():
        above, less, simple = part.rpartition("<")
        found = _SIMPLE.fullmatch(simple)
        if found is None or (less and not _SIMPLE.fullmatch(above)) or above.endswith("%"):
            least = None
            break
        if less and count <= int(above):
            return count if least is None else least
        least = _simple(int(found[1]), found[2], count)
        if not less:
            break
    if least is None:
        raise PatternError(
            "a number such as 2 or -1, a percentage such as 75%, or 3<75%", shown(value), where
        )
    return least


def _simple(number: int, sign: str, count: int) -> int:
    share = abs(number) * count // 100 if sign else abs(number)
    return max(count - share, 0) if number < 0 else share


def at_least(parts: list[Truth], least: int, where: str) -> Truth:
    """So many of the parts hold; written out, as one of all choices of so many."""
    if least > len(parts):
        return Truth.of(value=False)
    choices = comb(len(parts), min(least, len(parts) - least, 3))  # of more there are more
    if choices > _MOST_CHOICES:
        raise FilterTooLargeError(f"choices of {least} clauses", choices, _MOST_CHOICES, where)
    return Truth.any_of(Truth.all_of(choice) for choice in combinations(parts, least))
