"""Canonical text of a factored tree; parsing it gives the same tree again."""

from __future__ import annotations

from thatch.model.lines import PRESENT, TEXTS, difference, intersect
from thatch.model.printing import constraint_text, residual_text
from thatch.model.residuals import WildcardCheck
from thatch.model.schema import Schema, line_of, tighten
from thatch.model.trees import AllOf, AnyOf, Tree, ValueTest

__all__ = ["child_texts", "tree_text"]


def tree_text(tree: Tree, schema: Schema | None) -> str:
    """The text of a tree; of the children of one `and` or `or`, the shortest come first."""
    if isinstance(tree, AllOf):
        return " and ".join(child_texts(tree, schema)) or "true"
    if isinstance(tree, AnyOf):
        return " or ".join(child_texts(tree, schema)) or "false"
    if isinstance(tree, ValueTest):
        return _test_text(tree, schema)
    return residual_text(tree, demands_text=False)


def child_texts(tree: AllOf | AnyOf, schema: Schema | None) -> list[str]:
    """The texts of all children, ready to be joined."""
    texts = []
    for child in tree.children:
        text = tree_text(child, schema)
        texts.append(f"({text})" if isinstance(tree, AllOf) and isinstance(child, AnyOf) else text)
    return sorted(texts, key=lambda text: (len(text), text))


def _test_text(test: ValueTest, schema: Schema | None) -> str:
    """A test as text that can stand between two `and`."""
    key = test.key
    if not test.patterns:
        return constraint_text(key, test.constraint, schema)
    if not test.negated:
        parts = [] if not test.constraint else [constraint_text(key, test.constraint, schema)]
        parts += _pattern_texts(test, "")
        return parts[0] if len(parts) == 1 else f"({' or '.join(parts)})"
    texts, present = (tighten(each, line_of(key, schema)) for each in (TEXTS, PRESENT))
    if test.constraint == present:
        return " and ".join(_pattern_texts(test, "is unlike"))
    own, others = intersect(test.constraint, texts), difference(test.constraint, texts)
    inside = _pattern_texts(test, "not like")
    if own != texts:
        inside.insert(0, constraint_text(key, own, schema))
    if not others:
        return " and ".join(inside)
    return f"({constraint_text(key, others, schema)} or {' and '.join(inside)})"


def _pattern_texts(test: ValueTest, how: str) -> list[str]:
    """A condition for each pattern: `like`, `not like` or `is unlike`, or the same for a regular expression."""
    return sorted(
        residual_text(WildcardCheck(test.key, each, test.negated), demands_text=how == "not like")
        for each in test.patterns
    )
