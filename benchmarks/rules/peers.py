"""Peers for rules. Text engines get every literal of all rules on an attribute and only say which occur: no rule is decided.

Rule engines get the rules that they can express: comparisons with values and texts that begin, end or contain.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from benchmarks.console import note
from benchmarks.rules.corpus import Bench
from thatch.matching.segments.rules.literals import needle_of
from thatch.model.lines import first_point, intervals, is_prefix, is_single
from thatch.model.names import base_of, name_of, split
from thatch.model.regexes import Pattern
from thatch.model.trees import AllOf, AnyOf, Tree, ValueTest, leaves_of
from thatch.model.wildcards import Wildcard

__all__ = ["PEERS"]

_LONGEST = (
    2_000  # characters of a rule; peers build chains of `or` one inside the other, and run out of stack
)
_SLOW = 24  # events for peers that ask rule after rule
Peer = tuple[str, Callable[[dict[str, Any]], object], Sequence[dict[str, Any]], float | None]


def _texts_by_attribute(bench: Bench) -> dict[str, list[str]]:
    """The literal runs of all patterns and texts on each attribute, folded."""
    found: dict[str, set[str]] = defaultdict(set)
    for filter in bench.filters.values():
        for leaf in leaves_of(filter.tree):
            if isinstance(leaf, ValueTest):
                found[name_of(base_of(leaf.key))].update(_runs(leaf))
    return {name: sorted(texts) for name, texts in found.items() if texts}


def _runs(leaf: ValueTest) -> set[str]:
    runs = {
        run.lower()
        for pattern in leaf.patterns
        if isinstance(pattern, Wildcard)
        for run in (pattern.prefix, pattern.suffix, needle_of(pattern))
    }
    for low, high in intervals(leaf.constraint):
        if len(low) == 3 and low[0] == 6 and (is_single(low, high) or is_prefix(low, high)):
            runs.add(low[1].lower())
    return runs - {""}


def _searching(name: str, bench: Bench, make: Callable[[list[str]], Callable[[str], object]]) -> Peer:
    """A peer that searches the texts of an event for the literals of their attributes."""
    searches = {attribute: make(texts) for attribute, texts in _texts_by_attribute(bench).items()}

    def search(event: dict[str, Any]) -> None:
        for attribute, value in event.items():
            find = searches.get(attribute)
            if find is not None and type(value) is str:
                find(value.lower())

    return name, search, bench.events, None


def _module(name: str) -> Any:
    """A package that may be missing."""
    try:
        return import_module(name)
    except ImportError:
        note(f"{name} is not installed: left out")
        return None


def _aho_corasick(bench: Bench) -> Peer | None:
    library = _module("ahocorasick_rs")
    if library is None:
        return None
    return _searching(
        "ahocorasick_rs, texts alone",
        bench,
        lambda texts: (
            library.AhoCorasick(texts, matchkind=library.MatchKind.Standard).find_matches_as_indexes
        ),
    )


def _hyperscan(bench: Bench) -> Peer | None:
    library = _module("hyperscan")
    if library is None:
        return None

    def make(texts: list[str]) -> Callable[[str], object]:
        database = library.Database()
        database.compile(
            expressions=[re.escape(text).encode() for text in texts],
            ids=list(range(len(texts))),
            flags=[library.HS_FLAG_SINGLEMATCH] * len(texts),
        )
        found: list[int] = []
        return lambda text: database.scan(
            text.encode(), match_event_handler=lambda number, *_: found.append(number)
        )

    return _searching("hyperscan, texts alone", bench, make)


def _re2(bench: Bench) -> Peer | None:
    library = _module("re2")
    if library is None:
        return None

    def make(texts: list[str]) -> Callable[[str], object]:
        compiled = [library.compile(library.escape(text)) for text in texts]
        return lambda text: [number for number, each in enumerate(compiled) if each.search(text)]

    name, search, events, _ = _searching("a loop of re2, texts alone", bench, make)
    return name, search, events[:_SLOW], None


# --- rule engines --------------------------------------------------------------------------------------------------------


def _rule_engine(bench: Bench) -> Peer | None:
    library = _module("rule_engine")
    if library is None:
        return None
    context = library.Context(default_value=None)
    rules = [library.Rule(text, context=context) for text in _expressions(bench, _rule_engine_text)]

    def ask(event: dict[str, Any]) -> list[int]:
        found = []
        for number, rule in enumerate(rules):
            try:
                if rule.matches(event):
                    found.append(number)
            except library.errors.EngineError:  # a value of another type
                continue
        return found

    return "rule-engine", ask, bench.events[:_SLOW], len(rules) / len(bench.filters)


def _zen(bench: Bench) -> Peer | None:
    library = _module("zen")
    if library is None:
        return None
    texts = _expressions(bench, _zen_text)
    names = sorted({name for text in texts for name in re.findall(r"event\[\"([^\"]+)\"\]", text)})
    compiled = library.compile_expression("[" + ", ".join(f"({text})" for text in texts) + "]")
    empty = dict.fromkeys(names, "")

    def ask(event: dict[str, Any]) -> list[int]:
        own = {name: value for name, value in event.items() if type(value) is str and name in empty}
        return [
            number for number, holds in enumerate(compiled.evaluate({"event": {**empty, **own}})) if holds
        ]

    return "zen-engine, one expression", ask, bench.events[:_SLOW], len(texts) / len(bench.filters)


def _expressions(bench: Bench, text_of: Callable[[str, str, str], str]) -> list[str]:
    """The rules that can be said with texts that are, begin, end or contain, as a peer writes them."""
    texts = (_tree_text(filter.tree, text_of) for filter in bench.filters.values())
    return [text for text in texts if text is not None and len(text) <= _LONGEST]


def _tree_text(tree: Tree, text_of: Callable[[str, str, str], str]) -> str | None:
    if isinstance(tree, (AllOf, AnyOf)):
        parts = [_tree_text(each, text_of) for each in tree.children]
        kept = [part for part in parts if part is not None]
        if len(kept) < len(parts):
            return None
        return "(" + (" and " if isinstance(tree, AllOf) else " or ").join(sorted(kept)) + ")"
    if not isinstance(tree, ValueTest) or tree.negated or split(tree.key)[0] != ("lower",):
        return None
    name, found = name_of(base_of(tree.key)), []
    if not name.isidentifier():
        return None
    for pattern in tree.patterns:
        kind, text = _said(pattern)
        if not kind:
            return None
        found.append(text_of(name, kind, text))
    for low, high in intervals(tree.constraint):
        if len(low) != 3 or low[0] != 6 or not (is_single(low, high) or is_prefix(low, high)):
            return None
        found.append(text_of(name, "is" if is_single(low, high) else "begins", first_point(low)[1]))
    return "(" + " or ".join(sorted(found)) + ")" if found else None


def _said(pattern: Pattern) -> tuple[str, str]:
    """How a text has to begin, end, or what it has to contain; nothing for other patterns."""
    if isinstance(pattern, Wildcard):
        if pattern.is_prefix:
            return "begins", pattern.prefix
        if pattern.is_suffix:
            return "ends", pattern.suffix
        run = needle_of(pattern)
        if pattern.pieces == ((), tuple(run), ()):
            return "contains", run
    return "", ""


def _rule_engine_text(name: str, kind: str, text: str) -> str:
    if kind == "is":
        return f"{name}.as_lower == {_escaped(text)}"
    shape = {"begins": "^{}", "ends": "{}$", "contains": "{}"}[kind].format(re.escape(text))
    return f"{name} =~~ {_escaped('(?i)' + shape)}"


def _escaped(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _zen_text(name: str, kind: str, text: str) -> str:
    quote = "'" if '"' in text else '"'  # texts have no escapes there
    own, quoted = f'lower(event["{name}"])', f"{quote}{text}{quote}"
    if kind == "is":
        return f"{own} == {quoted}"
    function = {"begins": "startsWith", "ends": "endsWith", "contains": "contains"}[kind]
    return f"{function}({own}, {quoted})"


PEERS: tuple[Callable[[Bench], Peer | None], ...] = (_aho_corasick, _hyperscan, _re2, _rule_engine, _zen)
