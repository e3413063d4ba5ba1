"""Rules of Amazon EventBridge as `aws events list-rules` prints them: a JSON object with `Rules`, each with its pattern as text.

The name of a rule is its id. A disabled rule, and one with a schedule and no pattern, selects no events: it is told and left
out. What is said of a rule besides is its payload.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from thatch.errors import FilterError, PatternError, shown
from thatch.model.expressions import Expression
from thatch.model.language.found import FoundRule
from thatch.model.language.patterns import expression_of_source, pattern_of_json
from thatch.model.values import is_text

__all__ = ["rules_of_lists"]

_PAYLOAD = {"Description": "description", "Arn": "arn", "EventBusName": "bus", "ManagedBy": "managed by"}
_DISABLED = "DISABLED"


def rules_of_lists(texts: Iterable[tuple[str, str]], _: Any = None) -> Iterator[FoundRule]:
    """All rules of some files, of which names and JSON texts are given; where a text is no list of rules, there is one bad rule."""
    for name, text in texts:
        try:
            rules, is_whole = _listed(text)
        except FilterError as error:
            yield FoundRule(where=name, identity="", found=error)
            continue
        for index, rule in enumerate(rules):
            yield _found(name, rule, f"Rules[{index}]")
        if not is_whole:
            expected = "the whole list: print it without `--no-paginate` and `--max-items`"
            rest = FilterError(expected, "a `NextToken`", "NextToken")
            yield FoundRule(where=name, identity="", found=rest)


def _listed(text: str) -> tuple[list[Any], bool]:
    """The rules of a list, and whether these are all."""
    read = pattern_of_json(text)
    rules = read.get("Rules") if isinstance(read, Mapping) else None
    if not isinstance(rules, list):
        raise PatternError(
            "an object with an array of `Rules`, as `aws events list-rules` prints it", shown(read)
        )
    return rules, not read.get("NextToken")


def _found(name: str, rule: Any, where: str) -> FoundRule:
    if not isinstance(rule, Mapping):
        return FoundRule(
            where=name, identity="", found=PatternError("a rule as an object", shown(rule), where)
        )
    identity = rule.get("Name")
    if not isinstance(identity, str) or not identity or not is_text(identity):
        error = PatternError("text as the `Name` of a rule", shown(identity), where)
        return FoundRule(where=name, identity="", found=error)
    found: Expression | FilterError
    try:
        found = _expression(rule)
    except FilterError as error:
        found = error
    payload = {ours: rule[theirs] for theirs, ours in _PAYLOAD.items() if _is_said(rule.get(theirs))}
    return FoundRule(where=name, identity=identity, found=found, payload=payload)


def _expression(rule: Mapping[str, Any]) -> Expression:
    pattern, state = rule.get("EventPattern"), rule.get("State")
    if state == _DISABLED:
        raise FilterError("This rule is disabled and left out")
    if pattern is None and rule.get("ScheduleExpression") is not None:
        raise FilterError(
            f"This rule runs on a schedule, {shown(rule['ScheduleExpression'])}, and has no pattern"
        )
    if not isinstance(pattern, (str, Mapping)):
        raise PatternError("a pattern as text", shown(pattern), "EventPattern")
    return expression_of_source(pattern)


def _is_said(value: Any) -> bool:
    return isinstance(value, str) and bool(value) and is_text(value)
