"""JSON patterns at random, and what they mean, written apart from the package: the oracle of its pattern reader."""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_network
from math import isfinite, isnan
from operator import eq, ge, gt, le, lt
from typing import Any

from hypothesis import strategies as st

from tests import strategies as make

_ABSENT = object()
_OPERATORS = {"=": eq, "<": lt, "<=": le, ">": gt, ">=": ge}

# --- what a pattern means --------------------------------------------------------------------------------------


def wanted(pattern: dict[str, Any], flat: dict[str, Any], prefix: str = "") -> bool:
    """Whether a pattern holds on one flat event."""
    for name, content in pattern.items():
        if name == "$or":
            holds = any(wanted(member, flat, prefix) for member in content)
        elif isinstance(content, dict):
            holds = wanted(content, flat, f"{prefix}{name}.")
        else:
            value = flat.get(prefix + name, _ABSENT)
            holds = any(_holds(entry, value) for entry in content)
        if not holds:
            return False
    return True


def _holds(entry: Any, value: Any) -> bool:
    """Whether one entry of an array holds on a value, or on its absence."""
    if entry == {"exists": False}:
        return value is _ABSENT
    if value is _ABSENT:
        return False
    if not isinstance(entry, dict):
        return _equal(entry, value)
    ((matcher, operand),) = entry.items()
    if matcher == "exists":
        return True
    if matcher == "numeric":
        pairs = zip(operand[::2], operand[1::2], strict=True)
        return _is_number(value) and all(_OPERATORS[sign](value, bound) for sign, bound in pairs)
    if matcher == "anything-but":
        return not any(_holds(each, value) for each in _excluded(operand))
    return isinstance(value, str) and _holds_on_text(matcher, operand, value)


def _excluded(operand: Any) -> list[Any]:
    """What `anything-but` leaves out, as entries of their own."""
    if isinstance(operand, dict):
        ((matcher, texts),) = operand.items()
        return [{matcher: text} for text in (texts if isinstance(texts, list) else [texts])]
    return operand if isinstance(operand, list) else [operand]


def _holds_on_text(matcher: str, operand: Any, text: str) -> bool:
    if isinstance(operand, dict):
        operand, text = operand["equals-ignore-case"].casefold(), text.casefold()
    if matcher == "prefix":
        return text.startswith(operand)
    if matcher == "suffix":
        return text.endswith(operand)
    if matcher == "exactly":
        return text == operand
    if matcher == "equals-ignore-case":
        return text.casefold() == operand.casefold()
    if matcher == "wildcard":
        parts = re.findall(r"\\.|[^\\]", operand, re.DOTALL)
        expression = "".join(".*" if part == "*" else re.escape(part[-1]) for part in parts)
        return re.fullmatch(expression, text, re.DOTALL) is not None
    assert matcher == "cidr"
    try:
        address = IPv6Address(text) if ":" in text else IPv4Address(text)
    except AddressValueError:
        return False
    return "%" not in text and address in ip_network(operand, strict=False)


def _equal(left: Any, right: Any) -> bool:
    if _is_number(left) and _is_number(right):
        return left == right
    return type(left) is type(right) and left == right


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and not isnan(value)


# --- patterns at random ----------------------------------------------------------------------------------------

numbers = make.numbers.filter(isfinite)
texts = make.texts
not_empty = make.texts.filter(bool)
wildcards = st.one_of(
    st.sampled_from(["", "*", "a*", "*a", "*a*", "a*b", "a*b*", r"\*", r"*\**", r"\\*", "a", "A*", "ab*ba", "a*a"]),
    st.lists(st.sampled_from(["a", "b", "*", r"\*", r"\\", "%", "_", "A"]), max_size=5).map("".join),
).filter(lambda text: not re.search(r"(?<!\\)(?:\\\\)*\*\*", text))  # fmt: skip
networks = st.sampled_from(
    [
        "10.0.0.0/8",
        "10.0.0.1/24",
        "10.0.1.0/31",
        "0.0.0.0/0",
        "128.0.0.0/1",
        "::/0",
        "2001:db8::/32",
        "::1/127",
    ]
)


def _one_or_several(elements: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return elements | st.lists(elements, min_size=1, max_size=3)


def _matcher(name: str, operand: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return operand.map(lambda value: {name: value})


@st.composite
def _ranges(draw: st.DrawFn) -> list[Any]:
    low, high = sorted([draw(numbers), draw(numbers)])
    if low == high or draw(st.booleans()):
        return [draw(st.sampled_from(list(_OPERATORS))), low]
    return [draw(st.sampled_from([">", ">="])), low, draw(st.sampled_from(["<", "<="])), high]


entries: st.SearchStrategy[Any] = st.one_of(
    st.none() | st.booleans() | numbers | texts,
    texts,
    _matcher("exactly", texts),
    _matcher("prefix", texts | _matcher("equals-ignore-case", texts)),
    _matcher("suffix", texts | _matcher("equals-ignore-case", texts)),
    _matcher("equals-ignore-case", texts),
    _matcher("wildcard", wildcards),
    _matcher("exists", st.booleans()),
    _matcher("cidr", networks),
    _matcher("numeric", _ranges()),
    _matcher("anything-but", _one_or_several(texts) | _one_or_several(numbers)),
    _matcher(
        "anything-but",
        st.one_of(
            _matcher("prefix", _one_or_several(not_empty)),
            _matcher("suffix", _one_or_several(not_empty)),
            _matcher("equals-ignore-case", _one_or_several(texts)),
            _matcher("wildcard", _one_or_several(wildcards)),
        ),
    ),
)
_leaves = st.lists(entries, min_size=1, max_size=3)


def _fields(alternatives: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Fields of which no two can name one path, and perhaps `$or`."""
    below = st.dictionaries(st.sampled_from(["q", "p.r"]), _leaves, min_size=1, max_size=2)
    plain = st.fixed_dictionaries(
        {}, optional={"x": _leaves, "y": _leaves, "d-t": _leaves, "o": _leaves | below}
    )
    either = alternatives.map(lambda members: {"$or": members} if members else {})
    return st.tuples(plain, either).map(lambda pair: pair[0] | pair[1]).filter(bool)


def _with_or(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return _fields(st.none() | st.lists(inner, min_size=2, max_size=3))


_flat = _fields(st.none())
patterns: st.SearchStrategy[dict[str, Any]] = st.one_of(_flat, _with_or(_flat), _with_or(_with_or(_flat)))
