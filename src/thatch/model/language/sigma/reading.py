"""One Sigma rule with pySigma: read, passed through a pipeline, made an expression; errors name the rule and the place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sigma.filters import SigmaFilter
from sigma.processing.pipeline import ProcessingPipeline
from sigma.rule import SigmaDetection, SigmaDetections, SigmaRule

from thatch.errors import FilterError, FilterTooLargeError, shown
from thatch.model.expressions import Expression, Or
from thatch.model.language.sigma.conditions import expression_of_condition
from thatch.model.language.sigma.documents import Document
from thatch.model.language.sigma.policy import POLICY
from thatch.model.language.sigma.refusing import refusing
from thatch.model.language.sigma.texts import RefusedValueError

__all__ = ["check_pipeline", "expression_of_rule", "filter_of", "rule_of"]

_LONGEST_CONDITION = 10_000
_MOST_PARENTHESES = 32  # inside each other: pySigma's time doubles with each
_MOST_VALUES = 300_000  # that a condition may name, each as often as it is named


def rule_of(value: dict[str, Any], document: Document) -> SigmaRule:
    """The rule of an object."""
    with refusing(value, document):
        return SigmaRule.from_dict(value, policy=POLICY)


def filter_of(value: dict[str, Any], document: Document) -> SigmaFilter:
    """The filter of an object: conditions that are put into rules."""
    with refusing(value, document):
        return SigmaFilter.from_dict(value, policy=POLICY)


def check_pipeline(pipeline: Any) -> None:
    """Refuse what is no pipeline."""
    if pipeline is not None and not isinstance(pipeline, ProcessingPipeline):
        raise FilterError(
            "a ProcessingPipeline of pySigma",
            f"{shown(pipeline)} of type {type(pipeline).__name__}",
            "pipeline",
        )


def expression_of_rule(
    rule: SigmaRule,
    value: Mapping[str, Any],
    document: Document,
    filters: Sequence[SigmaFilter],
    pipeline: ProcessingPipeline | None,
) -> Expression:
    """The expression of a rule, whose conditions are alternatives."""
    with refusing(value, document):
        for each in filters:
            rule = each.apply_on_rule(rule)  # type: ignore[assignment]  # of a rule it makes a rule
        if pipeline is not None:
            pipeline.apply(rule)
        _check_size(rule.detection)
        found = []
        for condition in rule.detection.parsed_condition:
            parsed = condition.parsed
            if parsed is None:
                raise RefusedValueError("The pipeline has left nothing of the condition")
            found.append(expression_of_condition(parsed))
    return found[0] if len(found) == 1 else Or(tuple(found))


def _check_size(detections: SigmaDetections) -> None:
    """Refuse conditions that would take long to read, or would be much more than what was written."""
    words = 0
    for condition in detections.condition:
        if not isinstance(condition, str):
            raise RefusedValueError(f"Expected text as `condition`, got {shown(condition)}")
        if len(condition) > _LONGEST_CONDITION:
            raise FilterTooLargeError("characters of a condition", len(condition), _LONGEST_CONDITION)
        depth = most = 0
        for character in condition:
            depth += (character == "(") - (character == ")")
            most = max(most, depth)
        if most > _MOST_PARENTHESES:
            raise FilterTooLargeError("parentheses inside each other", most, _MOST_PARENTHESES)
        words += len(condition.split())
    values = sum(map(_values_of, detections.detections.values()))
    if words * values > _MOST_VALUES:
        raise FilterTooLargeError("values that a condition may name", words * values, _MOST_VALUES)


def _values_of(detection: SigmaDetection) -> int:
    return sum(
        _values_of(each) if isinstance(each, SigmaDetection) else len(each.value)
        for each in detection.detection_items
    )
