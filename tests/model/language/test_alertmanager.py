from __future__ import annotations

import contextlib
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import thatch
from thatch.errors import FilterSyntaxError, NeverMatchesError

DOWN = {
    "alertname": "NodeDown",
    "severity": "warn",
    "job": "db-1",
    "note": "",
    "path": "a\\b",
    "said": 'Hi, "you"',
    "lines": "a\nb",
}


def holds(matchers, labels=None):
    """Whether matchers match an alert; those that no alert can match do not."""
    try:
        return thatch.parse(matchers, language="alertmanager").matches(DOWN if labels is None else labels)
    except NeverMatchesError:
        return False


@pytest.mark.parametrize(
    "matchers",
    [
        "", " {} ", '{alertname="NodeDown"}', "alertname=NodeDown", '{ alertname = "NodeDown" , severity != "crit", }', 'job=~"db-[0-9]",',
        'severity=~"warn|crit"', 'severity!~"info|crit"', 'alertname=~"Node.*", job!~"web.*"', 'alertname!~"Node"', 'alertname!~"Down$"',
        '"alertname"="NodeDown"', '{"alertname"="Node\\x44own"}', '"alertname"="\\116ode\\u0044own"', '"alertname"="\\U0000004eodeDown"',
        # a missing label is an empty text
        'gone=""', 'gone!="a"', 'gone=~".*"', 'gone=~"a|"', 'gone!~".+"', 'gone!~"a|b"', 'note=""', 'note!="a"', 'note=~""', 'note!~"a.*"', 'alertname!=""', 'alertname=~".+"',
        # only the classic syntax has these
        "path=a\\b", "{alertname=NodeDown", "alertname=NodeDown}", 'job=~"\\w+-\\d"', "job=~db-[0-9]+(?:x)?", 'lines="a\nb"',
        # text with signs of the language in it
        'said="Hi, \\"you\\""', 'said=~"Hi,.*you.*"', 'path="a\\\\b"', 'lines="a\\nb"', 'lines!~"a.b"', 'lines=~"(?s)a.b"',
    ],
)  # fmt: skip
def test_matchers_match(matchers):
    assert holds(matchers)


@pytest.mark.parametrize(
    "matchers",
    [
        'alertname="nodedown"', 'alertname!="NodeDown"', 'alertname=~"Node"', 'alertname=~"own"', 'alertname!~"Node.*"', 'severity=~"crit|info"', 'severity!~"warn|crit"',
        'gone="a"', 'gone!=""', 'gone=~".+"', 'gone=~"a|b"', 'gone!~"a|"', 'gone!~".*"', 'note!=""', 'note=~".+"', 'note!~""', 'alertname=""',
        'alertname="NodeDown",severity="crit"', 'severity="warn",severity="crit"',
    ],
)  # fmt: skip
def test_matchers_do_not_match(matchers):
    assert not holds(matchers)


@pytest.mark.parametrize(
    ("matchers", "text"),
    [
        ("tricky=~~~", "tricky = '~~'"),
        ("a-b.c/d=é", "\"a-b.c/d\" = 'é'"),
        ("a= b c ", "a = 'b c'"),
        ('a="b\\n"', "a = 'b\n'"),
        ("a=b\\n", "a = 'b\n'"),
        ("a==b", "a = '=b'"),
        ('a="\\x62"', "a = '\\x62'"),  # the classic syntax wins where both give a meaning
        ('a=~"b|c"', "a in ('b', 'c')"),
        ('{"a b"!="c"}', '"a b" is missing or "a b" is distinct from \'c\''),
        ("a=b,c=d,", "a = 'b' and c = 'd'"),
    ],
)
def test_matchers_are_the_text_beside_them(matchers, text):
    assert thatch.parse(matchers, language="alertmanager") == thatch.parse(text)


def test_deviation_a_label_that_is_no_text_is_different_from_all_texts():
    assert holds('x!="5",x!~"5"', {"x": 5})
    assert not holds('x="5"', {"x": 5})
    assert not holds('x=~".*"', {"x": 5})


@pytest.mark.parametrize(
    ("matchers", "words", "column"),
    [
        (",", "the name of a label, got `,`", 1),
        ("{,}", "the name of a label, got `,`", 2),
        ("a=b,,c=d", "the name of a label, got `,`", 5),
        ("a", "`=`, `!=`, `=~` or `!~`, got the end", 2),
        ("a<b", "`=`, `!=`, `=~` or `!~`", 4),
        ("a=", "a value, got the end of the matchers", 3),
        ("{a=}", "a value, got `}`", 4),
        ('a="b', "text that is not closed", 3),
        ('a=b"', "text that is not closed", 4),
        ('a="b"c', "`,` or the end, got `c`", 6),
        ('{"a"="b"', "`,` or `}`, got the end", 9),
        ('{a="b"} c', "the end, got `c`", 9),
        ('"a"="\\q"', "the escapes of Go", 5),
        ('"a"="\\xf0\\x9f"', "the escapes of Go, as UTF-8", 5),
        ('"a"="\\ud800"', "as UTF-8", 5),
        ('a=~"b[c"', "a regular expression in RE2's syntax (missing ]", 4),
        ('x="1",a=~"(?=b)"', "a regular expression in RE2's syntax", 10),
        (f'a=~"{"b" * 20_000}."', "at most 10,000 characters", 4),
    ],
)
def test_what_are_no_matchers_is_refused_with_its_place(matchers, words, column):
    with pytest.raises(FilterSyntaxError) as caught:
        thatch.parse(matchers, language="alertmanager")
    assert words in str(caught.value)
    assert caught.value.column == column


HOSTILE = {
    "text that is not closed": 'a="' + '\\"' * 50_000,
    "matchers": "a=b," * 20_000,
    "quotes": '"' * 50_001,
    "backslashes": "a=" + "\\" * 50_001,
    "spaces": "a=" + " " * 200_000 + "\\b",
    "braces": "{" * 50_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_matchers_are_read_or_refused_in_time(name):
    began = time.process_time()
    with contextlib.suppress(thatch.FilterError):
        thatch.parse(HOSTILE[name], language="alertmanager")
    assert time.process_time() - began < 5


# --- against an evaluator of its own ------------------------------------------------------------------------------

names = st.sampled_from(["a", "b", "c_1"])
values = st.sampled_from(["", "x", "y", "xy", 'x"y', "x,y", "{x}", "x\\y", " x "])
patterns = st.sampled_from(
    ["", "x", "x|y", "x|", ".*", ".+", "x.*", ".*y", "[xy]+", "(x|y)?", "x{2}", "(?i:X)"]
)
matchers = st.lists(
    st.tuples(names, st.sampled_from(["=", "!="]), values) | st.tuples(names, st.sampled_from(["=~", "!~"]), patterns), max_size=4
)  # fmt: skip


def _wanted(name, operator, value, labels):
    own = labels.get(name, "")
    same = (
        own == value
        if operator[1:] != "~" and operator != "=~"
        else re.fullmatch(f"(?:{value})", own) is not None
    )
    return same == (operator in ("=", "=~"))


def _quoted(value):
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


@given(matchers, st.dictionaries(names, values), st.booleans(), st.booleans())
def test_matchers_mean_what_they_say_of_each_label(rules, labels, in_braces, quotes_names):
    written = ", ".join(
        f"{_quoted(name) if quotes_names else name}{sign}{_quoted(value)}" for name, sign, value in rules
    )
    written = f"{{{written}}}" if in_braces else written
    assert holds(written, labels) == all(_wanted(*rule, labels) for rule in rules)
    if written and (in_braces or rules):
        assert thatch.parse(written, language="labels").matches(labels) if holds(written, labels) else True
