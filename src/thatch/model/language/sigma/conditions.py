"""Conditions of Sigma rules, which pySigma has read, to expressions."""

from __future__ import annotations

from sigma.conditions import (
    ConditionAND,
    ConditionFieldEqualsValueExpression,
    ConditionItem,
    ConditionNOT,
    ConditionOR,
    ConditionValueExpression,
)

from thatch.model.expressions import And, Expression, Or
from thatch.model.language.sigma.keywords import keyword
from thatch.model.language.sigma.texts import RefusedValueError
from thatch.model.language.sigma.values import field_value

__all__ = ["Condition", "expression_of_condition"]

Condition = ConditionItem | ConditionFieldEqualsValueExpression | ConditionValueExpression


def expression_of_condition(condition: Condition, *, negated: bool = False) -> Expression:
    """When a condition holds, or (negated) when it does not: `not` is pushed down to the values."""
    kind = type(condition)
    if kind is ConditionFieldEqualsValueExpression:
        return field_value(condition.field, condition.value, negated=negated)  # type: ignore[union-attr]  # it has one
    if kind is ConditionValueExpression:
        return keyword(condition.value, negated=negated)  # type: ignore[union-attr]  # it has one
    if kind is ConditionNOT:
        return expression_of_condition(condition.args[0], negated=not negated)  # type: ignore[union-attr,arg-type]  # of one
    parts = tuple(expression_of_condition(each, negated=negated) for each in condition.args)  # type: ignore[union-attr,arg-type]
    if kind is ConditionAND or kind is ConditionOR:
        return And(parts) if (kind is ConditionAND) != negated else Or(parts)
    raise RefusedValueError(f"Conditions of the type {kind.__name__} have no meaning here")
