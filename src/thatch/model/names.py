"""Attribute names as filters, boxes and tables write them.

An attribute is known everywhere by its **key**: the text that names it in a filter. A plain name is its own key
(`detail.price`); any other name stands in double quotes (`"detail-type"`); a derived attribute is a function of
one (`lower(symbol)`). So keys are readable, unambiguous, and sort an attribute beside what is derived from it
only by chance: nothing may rely on their order but for being fixed.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from thatch.errors import FilterError, shown

__all__ = [
    "ANYWHERE",
    "DERIVATIONS",
    "FUNCTIONS",
    "KEYWORDS",
    "base_of",
    "derived_key",
    "holds_named",
    "key_of",
    "name_of",
    "split",
]

FUNCTIONS = frozenset({"lower", "reverse", "ip", "time"})
KEYWORDS = FUNCTIONS.union(
    (
        "and",
        "or",
        "not",
        "in",
        "like",
        "between",
        "is",
        "null",
        "missing",
        "distinct",
        "from",
        "true",
        "false",
    ),
    ("exists", "cidr", "within", "circle", "polygon", "timestamp", "infinity", "nan"),
)

# Stands for all texts of an event; no attribute has this key, as brackets in a name need quotes.
ANYWHERE = "anywhere()"

# What may stand around a name, outermost first. Other nestings say nothing new and are refused.
DERIVATIONS = frozenset({("lower",), ("reverse",), ("reverse", "lower"), ("ip",), ("time",)})

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*\Z")


@lru_cache(maxsize=65_536)
def key_of(name: str) -> str:
    """The key of the attribute called `name` (a dotted path, any characters).

    Examples
    --------
    >>> key_of("detail.price"), key_of("detail-type")
    ('detail.price', '"detail-type"')
    """
    if _PLAIN.match(name) and name.lower() not in KEYWORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


def name_of(key: str) -> str:
    """The name of an underived attribute: the inverse of `key_of`."""
    return key[1:-1].replace('""', '"') if key.startswith('"') else key


def holds_named(name: str, names: Collection[str]) -> bool:
    """Whether a field called `name` (a dotted path) is one of the attributes `names`, or an object with one of them.

    Examples
    --------
    >>> holds_named("detail", ["detail.price"]), holds_named("detail.price", ["detail"])
    (True, False)
    """
    return ANYWHERE in names or any(each == name or each.startswith(name + ".") for each in names)


@lru_cache(maxsize=65_536)
def split(key: str) -> tuple[tuple[str, ...], str]:
    """The functions around an attribute, outermost first, and the key of the attribute itself.

    Examples
    --------
    >>> split("reverse(lower(symbol))")
    (('reverse', 'lower'), 'symbol')
    """
    functions: list[str] = []
    while key.endswith(")") and not key.startswith('"') and key != ANYWHERE:
        function, _, key = key[:-1].partition("(")
        functions.append(function)
    return tuple(functions), key


def base_of(key: str) -> str:
    """The key of the attribute that `key` is, or is derived from."""
    return split(key)[1] if key[-1] == ")" else key


def derived_key(functions: tuple[str, ...], key: str) -> str:
    """The key of functions of an attribute; refuses nestings outside `DERIVATIONS`."""
    inner, base = split(key)
    chain = functions + inner
    if not chain:
        return base
    if base == ANYWHERE and chain != ("lower",):
        raise FilterError("anywhere() or lower(anywhere())", shown("(".join((*chain, base))))
    if chain not in DERIVATIONS:
        raise FilterError(
            "lower(x), reverse(x), reverse(lower(x)), ip(x) or time(x)", shown("(".join((*chain, base)))
        )
    return "(".join((*chain, base)) + ")" * len(chain)
