"""YAML documents with bounds on time and memory, and the place of everything in them.

libyaml reads them. It calls itself for every level, so levels are counted before where there may be many; and aliases may
say a lot in a few lines, so what they stand for is counted before it is written out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from thatch.errors import FilterError, FilterSyntaxError, FilterTooLargeError

__all__ = ["Document", "documents_of", "exact"]

_LONGEST_TEXT = 32 << 20  # characters of all documents together
_LONGEST = 1_000_000  # characters of a document
_MOST_NODES = 200_000  # of a document, aliases followed
_MOST_LEVELS = 64
_FEW_BRACKETS = 1_000  # that cannot be too many levels
_FEW_INDICATORS = 16  # of levels that begin on one line
_DEEP = re.compile(rf"\n(?: {{{_MOST_LEVELS}}}|(?:---[ \t]+)?[ \t]*(?:[-?:][ \t]+){{{_FEW_INDICATORS}}})")
_EXACT = 2**53
_MERGE = "tag:yaml.org,2002:merge"
_Quickest: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml is ten times as quick


class _Loader(_Quickest):  # type: ignore[misc]  # one of two
    """Reads what is safe; refuses names that occur twice, and keeps integers exact."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - as it was
        names = [key.value for key, _ in node.value if key.tag != _MERGE]
        if len(set(map(str, names))) < len(names):
            self._refuse_twice(node)
        found: dict[Any, Any] = super().construct_mapping(node, deep)
        return found

    @staticmethod
    def _refuse_twice(node: yaml.MappingNode) -> None:
        names: set[str] = set()
        for key, _ in node.value:
            if str(key.value) in names:
                raise FilterError(
                    "each name once in an object", f"`{str(key.value)[:80]}` again", _where(key)
                )
            names.add(str(key.value))

    def construct_yaml_int(self, node: yaml.Node) -> int | str:
        return exact(super().construct_yaml_int(node))


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)


def exact(number: int) -> int | str:
    """An integer, as text if it may be no double: pySigma would take the nearest one, and finds text as the number too."""
    return number if abs(number) < _EXACT else str(number)


@dataclass(frozen=True, slots=True)
class Document:
    """The value of a document, the text it comes from, and where it begins and ends there; no text if the value was given."""

    value: Any
    text: str = ""
    start: Any = None
    end: Any = None

    def place(self, path: Sequence[str | int]) -> str:
        """The line and column of a part of it, or of the nearest part around that; the path if there are no lines."""
        if not self.text:
            return ".".join(map(str, path))
        node: Any = yaml.compose(self.text[self.start.index : self.end.index], Loader=_Loader)
        for step in path:
            if isinstance(node, yaml.MappingNode):
                found = [value for key, value in node.value if key.value == step]
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
                found = node.value[step : step + 1]
            else:
                found = []
            if not found:
                break
            node = found[0]
        mark = node.start_mark
        return _named(self.start.line + mark.line, mark.column + (0 if mark.line else self.start.column))


def documents_of(text: str) -> Iterator[Document]:
    """The documents of a YAML text, without empty ones.

    Raises
    ------
    FilterSyntaxError
        If it is no YAML.
    FilterTooLargeError
        If it is too long or too deep, or says too much with aliases.
    FilterError
        If a document contains itself, or a name occurs twice.
    """
    if len(text) > _LONGEST_TEXT:
        raise FilterTooLargeError("characters of YAML", len(text), _LONGEST_TEXT)
    loader = None
    try:
        _check_levels(text)
        loader = _Loader(text)
        while loader.check_node():
            node = loader.get_node()
            _check_size(node, has_aliases="&" in text)
            value = loader.construct_document(node)
            if value is not None:
                yield Document(value, text, node.start_mark, node.end_mark)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or "it cannot be read"
        at = mark.index if mark else 0
        raise FilterSyntaxError("YAML", f"something else ({problem})", text, at) from None
    except yaml.YAMLError as error:
        raise FilterError("YAML", f"something else ({' '.join(str(error).split())})") from None
    except FilterError:  # a ValueError too
        raise
    except (ValueError, OverflowError, RecursionError) as error:  # of values such as dates
        raise FilterError("YAML", f"something else ({str(error) or type(error).__name__})") from None
    finally:
        if loader is not None:
            loader.dispose()


def _check_levels(text: str) -> None:
    """Refuse a text with too many levels, without going down as many."""
    if text.count("[") + text.count("{") <= _FEW_BRACKETS and _DEEP.search("\n" + text) is None:
        return
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _MOST_LEVELS:
                raise FilterTooLargeError("levels of nesting", depth, _MOST_LEVELS, _where(event))
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _check_size(node: yaml.Node, *, has_aliases: bool) -> None:
    """Refuse a document that is too long or contains itself, or has too many values when aliases are followed."""
    size = node.end_mark.index - node.start_mark.index
    if size > _LONGEST:
        raise FilterTooLargeError("characters of a rule", size, _LONGEST, _where(node))
    if has_aliases:
        count = _nodes_in(node, {})
        if count > _MOST_NODES:
            raise FilterTooLargeError("values in a rule, aliases followed", count, _MOST_NODES, _where(node))


def _nodes_in(node: yaml.Node, known: dict[int, int]) -> int:
    if isinstance(node, yaml.ScalarNode):
        return 1
    if id(node) in known:
        if not known[id(node)]:
            raise FilterError("A rule that contains itself is endless", where=_where(node))
        return known[id(node)]
    known[id(node)] = 0
    inner = (
        [each for pair in node.value for each in pair] if isinstance(node, yaml.MappingNode) else node.value
    )
    count = known[id(node)] = 1 + sum(_nodes_in(each, known) for each in inner)
    return count


def _where(part: Any) -> str:
    """The line and column where a node or an event begins."""
    return _named(part.start_mark.line, part.start_mark.column)


def _named(line: int, column: int) -> str:
    return f"line {line + 1}, column {column + 1}"
