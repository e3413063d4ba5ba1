"""Trees of conditions as KQL and as queries of Elasticsearch, and what they mean, written apart from the package."""

from __future__ import annotations

import operator
from typing import Any

from hypothesis import strategies as st

_ABSENT = object()
_ORDERS = {
    "gt": (">", operator.gt),
    "gte": (">=", operator.ge),
    "lt": ("<", operator.lt),
    "lte": ("<=", operator.le),
}

Tree = tuple[Any, ...]

_fields = st.sampled_from(["x", "y", "o.z"])
_texts = st.sampled_from(["a", "ab", "b c", 'q"*', "Z"])
_numbers = st.sampled_from([0, 5, -1.5, 10**6])
_leaves = st.one_of(
    st.tuples(st.just("is"), _fields, _texts | _numbers | st.booleans()),
    st.tuples(st.just("prefix"), _fields, st.sampled_from(["a", "b", "ab"])),
    st.tuples(st.sampled_from([*_ORDERS]), _fields, _numbers | st.sampled_from(["a", "b", "m"])),
    st.tuples(st.just("exists"), _fields),
)
trees: st.SearchStrategy[Tree] = st.recursive(
    _leaves,
    lambda inner: (
        st.tuples(st.just("not"), inner)
        | st.tuples(st.sampled_from(["and", "or"]), st.lists(inner, min_size=2, max_size=3))
    ),
    max_leaves=6,
)
events = st.fixed_dictionaries(
    {},
    optional={
        name: st.none() | st.booleans() | _numbers | _texts | st.just("5") for name in ("x", "y", "o.z")
    },
)


def holds(tree: Tree, event: dict[str, Any], *, words_are_loose: bool) -> bool:
    """Whether a tree holds on a flat event; with `words_are_loose`, a number is also the text that is written so."""
    kind = tree[0]
    if kind == "not":
        return not holds(tree[1], event, words_are_loose=words_are_loose)
    if kind in ("and", "or"):
        found = [holds(each, event, words_are_loose=words_are_loose) for each in tree[1]]
        return all(found) if kind == "and" else any(found)
    value = event.get(tree[1], _ABSENT)
    if value is _ABSENT or value is None:
        return False
    if kind == "exists":
        return True
    wanted = tree[2]
    if kind == "prefix":
        return isinstance(value, str) and value.startswith(wanted)
    if kind == "is":
        is_word = words_are_loose and not isinstance(wanted, str)
        return (_same_type(value, wanted) and value == wanted) or (is_word and value == _word(wanted))
    return _same_type(value, wanted) and _ORDERS[kind][1](value, wanted)


def _same_type(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return type(left) is type(right)
    return isinstance(left, str) == isinstance(right, str)


def _word(value: Any) -> str:
    return str(value).lower()


def as_kql(tree: Tree) -> str:
    """The tree as KQL, in parentheses."""
    kind = tree[0]
    if kind == "not":
        return f"(not {as_kql(tree[1])})"
    if kind in ("and", "or"):
        return "(" + f" {kind} ".join(map(as_kql, tree[1])) + ")"
    if kind == "exists":
        return f"{tree[1]}: *"
    if kind == "prefix":
        return f"{tree[1]}: {tree[2]}*"
    text = '"' + tree[2].replace('"', '\\"') + '"' if isinstance(tree[2], str) else _word(tree[2])
    return f"{tree[1]}: {text}" if kind == "is" else f"{tree[1]} {_ORDERS[kind][0]} {text}"


def as_query(tree: Tree) -> dict[str, Any]:
    """The tree as a query of Elasticsearch."""
    kind = tree[0]
    if kind == "not":
        return {"bool": {"must_not": as_query(tree[1])}}
    if kind in ("and", "or"):
        return {"bool": {"must" if kind == "and" else "should": [as_query(each) for each in tree[1]]}}
    if kind == "exists":
        return {"exists": {"field": tree[1]}}
    if kind in ("prefix", "is"):
        return {"term" if kind == "is" else kind: {tree[1]: tree[2]}}
    return {"range": {tree[1]: {kind: tree[2]}}}
