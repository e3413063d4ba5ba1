"""YAML documents with bounds on time and memory, and the place of everything in them.

A document is composed into nodes, which know where they stand, and is measured before values are made of it: aliases
may say a lot in a few lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from thatch.errors import FilterError, FilterSyntaxError, FilterTooLargeError

__all__ = ["MAX_FILE", "Document", "documents_of", "exact"]

MAX_FILE = 32 << 20  # characters of all documents together
_LONGEST = 1_000_000  # characters of a document
_MOST_NODES = 200_000  # of a document, aliases followed
_MOST_LEVELS = 64
_Quickest: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml is ten times as quick
_EXACT = 2**53
_MERGE = "tag:yaml.org,2002:merge"


class _Loader(_Quickest):  # type: ignore[misc]  # one of two
    """Reads what is safe; integers that pySigma would round are their text, which is compared as the number too."""

    def construct_yaml_int(self, node: yaml.Node) -> int | str:
        number: int = super().construct_yaml_int(node)
        return exact(number)


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)


def exact(number: int) -> int | str:
    """An integer, as text if it is no double: pySigma would take the nearest one."""
    return number if abs(number) < _EXACT else str(number)


@dataclass(frozen=True, slots=True)
class Document:
    """A document of a YAML text: its value, and the node that the value was made from; none if it was given as it is."""

    value: Any
    node: yaml.Node | None = None

    def place(self, path: Sequence[str | int]) -> str:
        """The line and column of a part of it, or of the nearest part around that; the path if there are no lines."""
        if self.node is None:
            return ".".join(map(str, path))
        node = self.node
        for step in path:
            if isinstance(node, yaml.MappingNode):
                found = [pair for pair in node.value if pair[0].value == step]
                if not found:
                    break
                node = found[0][1]
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
                node = node.value[step]
            else:
                break
        return _where(node)


def documents_of(text: str) -> Iterator[Document]:
    """The documents of a YAML text, without empty ones.

    Raises
    ------
    FilterSyntaxError
        If it is no YAML.
    FilterTooLargeError
        If it is too long, or says too much with aliases.
    FilterError
        If a document contains itself, or a name occurs twice.
    """
    if len(text) > MAX_FILE:
        raise FilterTooLargeError("characters of YAML", len(text), MAX_FILE)
    loader = None
    try:
        loader = _Loader(text)
        while loader.check_node():
            node = loader.get_node()
            _measure(node)
            value = loader.construct_document(node)
            if value is not None:
                yield Document(value, node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or "it cannot be read"
        raise FilterSyntaxError(
            "YAML", f"something else ({problem})", text, mark.index if mark else 0
        ) from None
    except yaml.YAMLError as error:
        raise FilterError("YAML", f"something else ({' '.join(str(error).split())})") from None
    except FilterError:  # a ValueError too
        raise
    except (ValueError, OverflowError, RecursionError) as error:  # of values such as dates
        raise FilterError("YAML", f"something else ({str(error) or type(error).__name__})") from None
    finally:
        if loader is not None:
            loader.dispose()


def _measure(node: yaml.Node) -> None:
    """Refuse a document that is too long, too deep or too large, contains itself, or has a name twice in an object."""
    size = node.end_mark.index - node.start_mark.index
    if size > _LONGEST:
        raise FilterTooLargeError("characters of a rule", size, _LONGEST, _where(node))
    known: dict[int, int] = {}
    count = _nodes_in(node, known, 0)
    if count > _MOST_NODES:
        raise FilterTooLargeError("values in a rule, aliases followed", count, _MOST_NODES, _where(node))


def _nodes_in(node: yaml.Node, known: dict[int, int], depth: int) -> int:
    if isinstance(node, yaml.ScalarNode):
        return 1
    if id(node) in known:
        if not known[id(node)]:
            raise FilterError("A rule that contains itself is endless", where=_where(node))
        return known[id(node)]
    if depth > _MOST_LEVELS:
        raise FilterTooLargeError("levels of nesting", depth, _MOST_LEVELS, _where(node))
    known[id(node)] = 0
    if isinstance(node, yaml.MappingNode):
        _check_names(node)
        count = 1 + sum(
            _nodes_in(key, known, depth + 1) + _nodes_in(value, known, depth + 1) for key, value in node.value
        )
    else:
        count = 1 + sum(_nodes_in(each, known, depth + 1) for each in node.value)
    known[id(node)] = count
    return count


def _check_names(node: yaml.MappingNode) -> None:
    names: set[str] = set()
    for key, _ in node.value:
        if isinstance(key, yaml.ScalarNode) and key.tag != _MERGE:
            if key.value in names:
                raise FilterError("each name once in an object", f"`{key.value[:80]}` again", _where(key))
            names.add(key.value)


def _where(node: yaml.Node) -> str:
    return f"line {node.start_mark.line + 1}, column {node.start_mark.column + 1}"
