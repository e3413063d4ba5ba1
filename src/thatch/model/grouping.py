"""Plain conditions that one `and` or `or` joins, gathered by attribute: a test for each attribute, not for each condition.

The tests are those that the conditions give one by one and then joined, in a fraction of the time (a property test says
so). Conditions on functions of attributes but `lower`, on shapes, or on several attributes are left as they are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from thatch.errors import FilterTooLargeError
from thatch.model.conditions import COMPARE, MAX_INTERVALS, constraint_of, may_be_folded, values_of
from thatch.model.derived import fold
from thatch.model.expressions import And, Compare, Expression, In, Matches, Not, Or
from thatch.model.lines import (
    EMPTY,
    NUMBERS,
    TEXTS,
    Constraint,
    Literal,
    above,
    below,
    difference,
    intersect_all,
    prefix_interval,
    union,
    values_union,
)
from thatch.model.regexes import Pattern
from thatch.model.trees import Tree, ValueTest, leaves_of

__all__ = ["MAX_LEAVES", "Alternatives", "Gathered", "Requirements", "check_leaves", "joined"]

MAX_LEAVES = 100_000  # conditions of one filter

Gathered = tuple[
    list[ValueTest], AbstractSet[str]
]  # tests, and the attributes of which there were several conditions


def joined(expression: And | Or) -> Sequence[Expression]:
    """What one `and` or `or` joins, with `a & b & c` seen as one and not as two inside each other."""
    kind = type(expression)
    if kind not in map(type, expression.children) and len(expression.children) <= MAX_LEAVES:
        return expression.children
    result: list[Expression] = []
    pending: list[Expression] = [expression]
    while pending:
        each = pending.pop()
        if type(each) is kind:
            pending.extend(reversed(each.children))
        else:
            result.append(each)
        if len(result) + len(pending) > MAX_LEAVES:
            count = len(result) + len(pending)
            raise FilterTooLargeError("conditions joined by one `and` or `or`", count, MAX_LEAVES)
    return result


def _is_known(key: str) -> bool:
    """Whether a key is an attribute, or `lower` of one."""
    return key[-1] != ")" or (key.startswith("lower(") and key[-2] != ")")


class Alternatives:
    """Conditions of which one must hold. `count` of them were taken; `left` are the others."""

    __slots__ = ("_patterns", "_ranges", "_values", "count", "left")

    def __init__(self, conditions: Iterable[Expression]) -> None:
        self._values: dict[str, list[Literal]] = defaultdict(list)
        self._ranges: dict[str, list[Constraint]] = defaultdict(list)
        self._patterns: dict[str, list[Pattern]] = defaultdict(list)
        self.left: list[Expression] = []
        self.count = 0
        takers: dict[type, Callable[[Any], int]] = {
            Compare: self._compare,
            Matches: self._like,
            And: self._between,
            In: self._listed,
        }
        for each in conditions:
            taker = takers.get(type(each))
            taken = taker(each) if taker is not None else 0
            if taken:
                self.count += taken
            else:
                self.left.append(each)

    def tests(self) -> Gathered:
        """A test for each attribute, and the attributes of which there are several conditions."""
        values, ranges, patterns = self._values, self._ranges, self._patterns
        found, several = [], set()
        for key in values.keys() | ranges.keys() | patterns.keys():
            own, spans, forms = values.get(key, []), ranges.get(key, []), patterns.get(key)
            if len(own) + len(spans) == 1:
                constraint = spans[0] if spans else (below(own[0]), above(own[0]))
            else:
                constraint = union([values_union(own), *spans] if own else spans)
            if len(own) + len(spans) + len(forms or ()) > 1:
                several.add(key)
            if forms:
                found.append(ValueTest(key, constraint, frozenset(forms)))
            elif constraint:
                found.append(ValueTest(key, constraint))
        return found, several

    def _compare(self, condition: Compare) -> int:
        key, value = condition.key, condition.value
        if condition.operator == "=":
            if key[-1] == ")" and not (_is_known(key) and type(value) is str and fold(value) == value):
                return 0
            self._values[key].append(value)
        elif key[-1] == ")":
            return 0
        else:
            self._ranges[key].append(COMPARE[condition.operator](value))
        return 1

    def _like(self, condition: Matches) -> int:
        key, pattern = condition.key, condition.pattern
        if key[-1] == ")" and not (_is_known(key) and may_be_folded(pattern)):
            return 0
        if pattern.text[:1] == "%" != pattern.text:  # the most common case first
            self._patterns[key].append(pattern)
        elif pattern.is_prefix:
            self._ranges[key].append(prefix_interval(pattern.prefix))
        elif pattern.literal is not None:
            self._values[key].append(pattern.literal)
        else:
            self._patterns[key].append(pattern)
        return 1

    def _between(self, condition: And) -> int:
        if len(condition.children) != 2:
            return 0
        low, high = condition.children
        if type(low) is not Compare or type(high) is not Compare or low.key != high.key or low.key[-1] == ")":
            return 0
        first, last = low.value, high.value
        if low.operator != ">=" or high.operator != "<=" or type(first) is not type(last):
            return 0
        self._ranges[low.key].append((below(first), above(last)) if first <= last else EMPTY)  # type: ignore[operator]  # they have one type
        return 2

    def _listed(self, condition: In) -> int:
        if condition.key[-1] == ")":
            return 0
        self._ranges[condition.key].append(values_of(condition, negated=False))
        return 1


class Requirements:
    """Conditions that must all hold, or with `negated` all fail. `count` of them were taken; `left` are the others."""

    __slots__ = ("_constraints", "_excluded", "_forms", "count", "left")

    def __init__(self, conditions: Iterable[Expression], *, negated: bool) -> None:
        self._constraints: dict[str, list[Constraint]] = defaultdict(list)
        self._excluded: dict[tuple[str, type], list[Literal]] = defaultdict(list)
        self._forms: dict[str, list[Pattern]] = defaultdict(list)
        self.left: list[Expression] = []
        self.count = 0
        for each in conditions:
            inner, is_negated = each, negated
            while type(inner) is Not:
                inner, is_negated = inner.child, not is_negated
            kind = type(inner)
            if kind is Compare:
                is_taken = self._compare(inner, is_negated=is_negated)  # type: ignore[arg-type]  # it is one
            elif kind is Matches and is_negated:
                is_taken = self._unlike(inner)  # type: ignore[arg-type]  # it is one
            else:
                is_taken = False
            if is_taken:
                self.count += 1
            else:
                self.left.append(each)

    def tests(self) -> Gathered:
        """A test for each attribute, and the attributes of which there are several conditions; tests may be impossible."""
        for (key, kind), values in self._excluded.items():
            self._constraints[key].append(difference(TEXTS if kind is str else NUMBERS, values_union(values)))
        for key in self._forms:
            self._constraints[key].append(TEXTS)
        found = []
        for key, each in self._constraints.items():
            constraint = each[0] if len(each) == 1 else intersect_all(each)
            forms = self._forms.get(key)
            found.append(
                ValueTest(key, constraint, frozenset(forms), negated=True)
                if forms
                else ValueTest(key, constraint)
            )
        return found, {
            each.key
            for each in found
            if len(self._constraints[each.key]) > 1 or not each.constraint or each.negated
        }

    def _compare(self, condition: Compare, *, is_negated: bool) -> bool:
        key, kind = condition.key, type(condition.value)
        if condition.operator == ("=" if is_negated else "!=") and (kind is str or kind is int):
            if key[-1] == ")" and not _is_known(key):
                return False
            self._excluded[key, kind].append(condition.value)
        elif key[-1] == ")":
            return False
        else:
            self._constraints[key].append(constraint_of(condition, is_negated))
        return True

    def _unlike(self, condition: Matches) -> bool:
        key, pattern = condition.key, condition.pattern
        if key[-1] == ")" and not (_is_known(key) and may_be_folded(pattern)):
            return False
        if pattern.text[:1] != "%" and (pattern.literal is not None or pattern.is_prefix):
            return False
        if pattern.text == "%":
            return False
        self._forms[key].append(pattern)
        return True


def check_leaves(tree: Tree) -> None:
    """Refuse a test with too many intervals."""
    for leaf in leaves_of(tree):
        if type(leaf) is ValueTest and len(leaf.constraint) > 2 * MAX_INTERVALS:
            count = len(leaf.constraint) // 2
            raise FilterTooLargeError("intervals on one attribute", count, MAX_INTERVALS, leaf.key)
