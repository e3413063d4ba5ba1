"""Filter policies of Amazon SNS to an expression: `{"store": ["shop"], "price": [{"numeric": [">", 100]}]}`.

A policy has the form of an EventBridge pattern, and may stand in the attributes of its subscription, as AWS lists them:
`{"FilterPolicy": policy or its text, "FilterPolicyScope": "MessageAttributes" or "MessageBody"}`, also below
`Attributes`. Differences: an empty policy accepts every message; a `$or` that is no array of two or more objects without
words of the language in them is a field's name; the scope `MessageAttributes` has no nested fields.

An event is the body of a message, or its attributes: text for `String`, a number for `Number`, a list for `String.Array`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from thatch.errors import PatternError, shown
from thatch.model.expressions import Constant, Expression
from thatch.model.language.json_places import told_places
from thatch.model.language.patterns import expression_of_pattern, joins_patterns, pattern_of_json

__all__ = ["expression_of_policy"]

_POLICY, _SCOPE = "FilterPolicy", "FilterPolicyScope"
_SCOPES = ("MessageAttributes", "MessageBody")


def expression_of_policy(source: str | Mapping[str, Any]) -> Expression:
    """The expression of a policy, given as an object or as JSON text, alone or in the attributes of a subscription.

    Raises `PatternError` if it is not a policy; `where` is the path into it.
    """
    if not isinstance(source, str):
        return _whole(source)
    with told_places(source):
        return _whole(pattern_of_json(source))


def _whole(read: Any) -> Expression:
    if not isinstance(read, Mapping):
        raise PatternError("a filter policy as an object", f"{shown(read)} of type {type(read).__name__}")
    policy, scope = _of_subscription(read)
    if not policy:
        return Constant(value=True)
    expression = expression_of_pattern(policy, or_is_reserved=False)
    if scope == _SCOPES[0]:
        _refuse_nesting(policy)
    return expression


def _of_subscription(read: Mapping[str, Any]) -> tuple[Mapping[str, Any], str | None]:
    """The policy and its scope: that of a subscription if these are its attributes."""
    below = read.get("Attributes")
    attributes = below if isinstance(below, Mapping) and [*read] == ["Attributes"] else read
    policy, scope = attributes.get(_POLICY), attributes.get(_SCOPE)
    if not isinstance(policy, str) and not isinstance(scope, str):
        return read, None
    if scope is not None and scope not in _SCOPES:
        raise PatternError(f"one of {', '.join(_SCOPES)}", shown(scope), _SCOPE)
    if isinstance(policy, str):
        policy = pattern_of_json(policy)
    if policy is not None and not isinstance(policy, Mapping):
        raise PatternError("a filter policy as an object", shown(policy), _POLICY)
    return policy or {}, scope or _SCOPES[0]


def _refuse_nesting(policy: Mapping[str, Any]) -> None:
    for name, value in policy.items():
        if isinstance(value, Mapping):
            expected = "an array: only policies with the scope MessageBody have nested fields"
            raise PatternError(expected, "an object", name[:80])
        if name == "$or" and joins_patterns(value):
            for each in value:
                _refuse_nesting(each)
