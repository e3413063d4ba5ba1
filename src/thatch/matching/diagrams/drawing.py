"""Draw diagrams as text and for Graphviz."""

from __future__ import annotations

from collections.abc import Mapping

from thatch.matching.diagrams.index import DiagramIndex
from thatch.model.printing import constraint_text
from thatch.model.schema import Schema

__all__ = ["as_graphviz", "as_text"]


def as_text(index: DiagramIndex, schema: Schema | None = None, names: Mapping[int, str] | None = None) -> str:
    """One paragraph for each diagram: its tail, then its outputs with the filters that they stand for.

    Parameters
    ----------
    schema : that of the filters
    names : names of the filters by slot; without them, slots are shown

    Examples
    --------
    >>> import thatch
    >>> index = DiagramIndex(["price", "destination"])
    >>> index.add(0, thatch.parse("price = 150 and destination = 'Ottawa'"))
    >>> index.add(1, thatch.parse("price < 150 and destination = 'Ottawa'"))
    >>> print(as_text(index))
    destination = 'Ottawa'
      price < 150 -> 1
      price = 150 -> 0
    """
    diagrams: dict[int, list[str]] = {}
    for node, slots in index.outputs.items():
        called = ", ".join(_called(slot, names) for slot in slots)
        label = _label(index, node, schema) if node else "true"
        diagrams.setdefault(index.chains.tail(node), []).append(f"  {label} -> {called}")
    paragraphs = []
    for tail in sorted(diagrams):
        variables = index.chains.variables(tail)
        texts = [constraint_text(*index.predicates.predicate(each), schema) for each in variables]
        paragraphs.append("\n".join([" and ".join(texts) or "true", *sorted(diagrams[tail])]))
    return "\n".join(paragraphs)


def as_graphviz(
    index: DiagramIndex, schema: Schema | None = None, names: Mapping[int, str] | None = None
) -> str:
    """The nodes in Graphviz's language; arguments as for `as_text`.

    Edges are those for «true»; those for «false» all lead to 0 and are left out.
    """
    lines = ["digraph diagrams {", '  n0 [label="1", shape=box];']
    columns = index.chains.columns
    for node, variable in enumerate(columns.variable.tolist()):
        if variable:
            lines.append(f"  n{node} [label={_quoted(_label(index, node, schema))}];")
            lines.append(f"  n{node} -> n{columns.child[node]};")
    for node, slots in sorted(index.outputs.items()):
        for slot in slots:
            lines.append(f"  f{slot} [label={_quoted(_called(slot, names))}, shape=plaintext];")
            lines.append(f"  f{slot} -> n{node} [style=dashed];")
    return "\n".join([*dict.fromkeys(lines), "}"])


def _label(index: DiagramIndex, node: int, schema: Schema | None) -> str:
    variable = int(index.chains.columns.variable[node])
    return constraint_text(*index.predicates.predicate(variable), schema)


def _called(slot: int, names: Mapping[int, str] | None) -> str:
    return str(slot) if names is None else names[slot]


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
