from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import thatch
from thatch.errors import NeverMatchesError

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
        ("offset > -5", {"offset": -4}, True),
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
        ("x & a", "Expected `=`, `!=`, `in`", 3),
        ("x > a", "Expected an integer, got `a`", 5),
        ("x > 99999999999999999999", "Expected an integer", 5),
        ("x=a,", "Expected a label", 5),
        ("-x", "Expected a label", 1),
    ],
)
def test_what_is_no_selector_is_refused_with_its_place(selector, words, column):
    with pytest.raises(thatch.FilterError) as caught:
        thatch.parse(selector, language="labels")
    assert words in str(caught.value)
    assert caught.value.column == column


@pytest.mark.parametrize("text", ["a=b", "a!=b", "a=b,c!=d"])
def test_what_alertmanager_also_reads_means_the_same_there(text):
    assert thatch.parse(text, language="labels") == thatch.parse(text, language="alertmanager")


@pytest.mark.parametrize("text", ["{a=b}", 'a="b"', 'a = "b"', "a=~b", "{a=b"])
def test_what_only_alertmanager_reads_is_read_as_matchers(text):
    assert thatch.parse(text, language="labels") == thatch.parse("a = 'b'")


def test_a_selector_has_a_largest_size():
    with pytest.raises(thatch.FilterError, match="at most 32,000,000 characters"):
        thatch.parse("a" * 32_000_001, language="labels")


def test_every_language_is_known_by_name():
    assert thatch.parse("x = 1", language="text") == thatch.parse({"x": [1]}, language="eventbridge")
    with pytest.raises(thatch.FilterError, match="one of the languages text, eventbridge"):
        thatch.parse("x", language="cobol")


# --- against an evaluator of its own ------------------------------------------------------------------------------

keys = st.sampled_from(["a", "app.io/b", "c-d"])
words = st.sampled_from(["x", "y", "x.y-z_1", "in"])
requirements = st.one_of(
    st.tuples(st.sampled_from(["", "!"]), keys),
    st.tuples(st.sampled_from(["=", "==", "!="]), keys, words | st.just("")),
    st.tuples(st.sampled_from(["in", "notin"]), keys, st.lists(words, min_size=1, max_size=3)),
)


def _selects(requirement, labels):
    sign, key, *value = requirement
    if sign in ("", "!"):
        return (key in labels) == (sign == "")
    wanted = value[0] if isinstance(value[0], list) else [value[0]]
    return (labels.get(key) in wanted) == (sign in ("=", "==", "in"))


def _written(requirement):
    sign, key, *value = requirement
    if not value:
        return sign + key
    return f"{key} {sign} ({', '.join(value[0])})" if isinstance(value[0], list) else f"{key}{sign}{value[0]}"


@given(st.lists(requirements, min_size=1, max_size=4), st.dictionaries(keys, words))
def test_a_selector_means_what_each_of_its_requirements_says(parts, labels):
    wanted = all(_selects(each, labels) for each in parts)
    try:
        found = thatch.parse(",".join(map(_written, parts)), language="labels").matches(labels)
    except NeverMatchesError:
        found = False
    assert found == wanted
