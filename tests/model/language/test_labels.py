from __future__ import annotations

import pytest

import thatch

PROD = {"environment": "production", "tier": "frontend", "app.kubernetes.io/name": "shop"}


@pytest.mark.parametrize(
    ("selector", "event", "wanted"),
    [  # those of the Kubernetes documentation, and corner cases
        ("environment=production,tier=frontend", PROD, True),
        ("environment = production, tier != frontend", PROD, False),
        ("environment in (production),tier in (frontend)", PROD, True),
        ("environment in (production, qa)", {"environment": "qa"}, True),
        ("environment,environment notin (frontend)", PROD, True),
        ("tier notin (frontend, backend)", PROD, False),
        ("tier notin (frontend, backend)", {}, True),
        ("partition", PROD, False),
        ("!partition", PROD, True),
        ("tier!=cache", {}, True),
        ("app.kubernetes.io/name==shop", PROD, True),
        ("x in (a,,b)", {"x": ""}, True),
        ("x=", {"x": ""}, True),
        ("replicas > 3", {"replicas": 4}, True),
        ("replicas < 3", {"replicas": 4}, False),
        ("", {}, True),
    ],
)
def test_a_selector_selects_what_kubernetes_does(selector, event, wanted):
    assert thatch.parse(selector, language="labels").matches(event) is wanted


@pytest.mark.parametrize(
    ("selector", "words", "column"),
    [
        ("x in a", "Expected `(`, got `a`", 6),
        ("x in (a", "Expected `)`, got the end of the selector", 8),
        ("x=a y=b", "Expected `,` or the end, got `y`", 5),
        ("=a", "Expected a label, or `!` and a label, got `=`", 1),
        ("x ~ a", "Expected `=`, `!=`, `in`", 3),
        ("x > a", "Expected an integer, got `a`", 5),
    ],
)
def test_what_is_no_selector_is_refused_with_its_place(selector, words, column):
    with pytest.raises(thatch.FilterError) as caught:
        thatch.parse(selector, language="labels")
    assert words in str(caught.value)
    assert caught.value.column == column


def test_every_language_is_known_by_name():
    assert thatch.parse("x = 1", language="text") == thatch.parse({"x": [1]}, language="eventbridge")
    with pytest.raises(thatch.FilterError, match="one of the languages text, eventbridge"):
        thatch.parse("x", language="cobol")
