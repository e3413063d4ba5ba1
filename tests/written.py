"""Expressions as people write them: as filter text, and in Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import isinf
from typing import Any

import thatch.model.expressions as tree
from thatch.model.derived import address_of, moment_text
from thatch.model.formulas import Formula, Operation, Variable
from thatch.model.language.python import Attribute, anywhere, attr, within
from thatch.model.names import ANYWHERE, name_of, split
from thatch.model.regexes import Regex


def text_of(expression: tree.Expression) -> str:
    """Filter text with brackets around all but single conditions."""
    if isinstance(expression, tree.Constant):
        return "true" if expression.value else "false"
    if isinstance(expression, tree.Not):
        return f"not {_bracketed(expression.child)}"
    if isinstance(expression, tree.And | tree.Or):
        word = " and " if isinstance(expression, tree.And) else " or "
        return word.join(map(_bracketed, expression.children))
    if isinstance(expression, tree.Within):
        return f"within({expression.latitude}, {expression.longitude}, {expression.shape})"
    if isinstance(expression, tree.ComparePair):
        return f"{expression.left} {expression.operator} attr({expression.right})"
    if isinstance(expression, tree.CompareFormulas):
        return f"formula({_formula(expression.left)} {expression.operator} {_formula(expression.right)})"
    return _text_of_condition(expression, expression.key)


def _text_of_condition(expression: Any, key: str) -> str:
    """A condition on one attribute."""
    if isinstance(expression, tree.Compare):
        return f"{key} {expression.operator} {literal_text(key, expression.value)}"
    if isinstance(expression, tree.In):
        return f"{key} in ({', '.join(literal_text(key, value) for value in expression.values)})"
    if isinstance(expression, tree.IsNull):
        return f"{key} is null"
    if isinstance(expression, tree.Distinct):
        return f"{key} is distinct from {literal_text(key, expression.value)}"
    if isinstance(expression, tree.Exists):
        return f"exists({key})"
    if isinstance(expression.pattern, Regex):
        verb = "~" if isinstance(expression, tree.Matches) else "is unlike ~"
        return f"{key} {verb} {_quoted(expression.pattern.text)}"
    if isinstance(expression, tree.Matches):
        return f"{key} like {_quoted(expression.pattern.text)}"
    assert isinstance(expression, tree.Unlike)
    return f"{key} is unlike {_quoted(expression.pattern.text)}"


def _formula(formula: Formula) -> str:
    """A formula with brackets around all but attributes and numbers."""
    if isinstance(formula, Operation):
        return f"({_formula(formula.left)} {formula.sign} {_formula(formula.right)})"
    return formula.key if isinstance(formula, Variable) else str(float(formula.value))


def _bracketed(expression: tree.Expression) -> str:
    return f"({text_of(expression)})" if isinstance(expression, tree.And | tree.Or) else text_of(expression)


def literal_text(key: str, value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    value = shown_literal(key, value)
    if isinstance(value, str):
        return _quoted(value)
    if isinf(value):
        return "infinity" if value > 0 else "-infinity"
    return repr(value)


def shown_literal(key: str, value: Any) -> Any:
    """A literal as people write it: addresses and moments as their texts."""
    functions = split(key)[0]
    if functions == ("ip",):
        return address_of(value)
    return moment_text(value) if functions == ("time",) else value


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def python_of(expression: tree.Expression) -> tree.Expression:
    """The same expression made by the Python API."""
    if isinstance(expression, tree.Constant):
        return expression
    if isinstance(expression, tree.Not):
        return ~python_of(expression.child)
    if isinstance(expression, tree.And):
        return reduce(lambda left, right: left & right, map(python_of, expression.children))
    if isinstance(expression, tree.Or):
        return reduce(lambda left, right: left | right, map(python_of, expression.children))
    if isinstance(expression, tree.Within):
        return within(name_of(expression.latitude), name_of(expression.longitude), expression.shape)
    if isinstance(expression, tree.CompareFormulas):
        return expression  # Python has no other form of it
    if isinstance(expression, tree.ComparePair):
        return _compared(expression.operator, attribute_of(expression.left), attribute_of(expression.right))
    return _python_condition(expression, attribute_of(expression.key))


def attribute_of(key: str) -> Attribute:
    functions, base = split(key)
    attribute = anywhere() if base == ANYWHERE else attr(name_of(base))
    for function in reversed(functions):
        attribute = getattr(attribute, function)()
    return attribute


def _python_condition(expression: Any, attribute: Attribute) -> tree.Expression:
    if isinstance(expression, tree.IsNull):
        return attribute.is_null()
    if isinstance(expression, tree.Exists):
        return attribute.exists()
    if isinstance(expression, tree.Matches):
        is_regex = isinstance(expression.pattern, Regex)
        return (attribute.search if is_regex else attribute.like)(expression.pattern.text)
    if isinstance(expression, tree.Unlike):
        return attribute.unlike(expression.pattern.text)
    if isinstance(expression, tree.In):
        return attribute.is_in([shown_literal(expression.key, value) for value in expression.values])
    value = expression.value if expression.value is None else shown_literal(expression.key, expression.value)
    if isinstance(expression, tree.Distinct):
        return attribute.is_distinct_from(value)
    return _compared(expression.operator, attribute, value)


def _compared(operator: str, attribute: Attribute, value: Any) -> tree.Expression:
    operations: dict[str, Callable[[Any], Any]] = {
        "=": attribute.__eq__, "!=": attribute.__ne__, "<": attribute.__lt__,
        "<=": attribute.__le__, ">": attribute.__gt__, ">=": attribute.__ge__,
    }  # fmt: skip
    return operations[operator](value)
