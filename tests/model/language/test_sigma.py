"""Sigma rules mean what an evaluator says that was written from the specification alone."""

from __future__ import annotations

import sys

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import thatch
from tests.model.language.sigma_reference import holds
from thatch.errors import (
    FilterError,
    FilterSyntaxError,
    FilterTooLargeError,
    MissingPackageError,
    NeverMatchesError,
)

HEAD = {"title": "A rule", "logsource": {"category": "test"}}


def rule_of(detection, condition="sel"):
    return {**HEAD, "detection": {"sel": detection, "condition": condition}}


def finds(rule, event, **options):
    """Whether a rule matches; one that no event can match does not."""
    try:
        found = thatch.parse(rule, language="sigma", **options)
    except NeverMatchesError:
        return False
    assert thatch.parse(str(found)) == found
    return found.matches(event)


@pytest.mark.parametrize(
    ("detection", "event", "wanted"),
    [  # what the specification says of each modifier, and corner cases
        ({"f": "Abc"}, {"f": "aBC"}, True), ({"f": "abc"}, {"f": "abcd"}, False), ({"f": "a*c"}, {"f": "A--C"}, True),
        ({"f": "a?c"}, {"f": "abbc"}, False), ({"f": r"a\*c"}, {"f": "a*c"}, True), ({"f": r"a\*c"}, {"f": "axc"}, False),
        ({"f": r"a\\*"}, {"f": "a\\bc"}, True), ({"f": r"a\b"}, {"f": r"A\B"}, True), ({"f": r"a\\b"}, {"f": r"a\b"}, True),
        ({"f": ["x", "y"]}, {"f": "Y"}, True), ({"f": []}, {}, True), ({"f": []}, {"f": "x"}, False),
        ({"f": "straße"}, {"f": "STRASSE"}, True), ({"f": "a%b_"}, {"f": "A%B_"}, True), ({"f": "a%"}, {"f": "ab"}, False),
        ({"f|contains": "b"}, {"f": "ABC"}, True), ({"f|startswith": "b"}, {"f": "ABC"}, False),
        ({"f|endswith": ["x", "c"]}, {"f": "ABC"}, True), ({"f|contains|all": ["a", "c"]}, {"f": "cba"}, True),
        ({"f|contains|all": ["a", "d"]}, {"f": "cba"}, False), ({"f|cased": "Abc"}, {"f": "abc"}, False),
        ({"f|cased": "Abc"}, {"f": "Abc"}, True), ({"f|contains|cased": "B"}, {"f": "aBc"}, True),
        ({"f|re": "^a+b"}, {"f": "aab-"}, True), ({"f|re": "A"}, {"f": "a"}, False), ({"f|re|i": "A"}, {"f": "a"}, True),
        ({"f|re": "a.b"}, {"f": "a\nb"}, False), ({"f|re|s": "a.b"}, {"f": "a\nb"}, True),
        ({"f|re": "^b"}, {"f": "a\nb"}, False), ({"f|re|m": "^b"}, {"f": "a\nb"}, True),
        ({"f|re": r"a\\b\*"}, {"f": r"a\b*"}, True), ({"f|cidr": "10.0.0.0/8"}, {"f": "10.1.2.3"}, True),
        ({"f|cidr": ["fe80::/10", "::1/128"]}, {"f": "fe80::1"}, True), ({"f|cidr": "10.0.0.0/8"}, {"f": "11.1.2.3"}, False),
        ({"f|cidr": "10.0.0.0/8"}, {"f": "host"}, False), ({"f|gt": 5}, {"f": 6}, True), ({"f|gt": 5}, {"f": 5}, False),
        ({"f|gte": 5}, {"f": 5.0}, True), ({"f|lt": 5.5}, {"f": 5}, True), ({"f|lte": -1}, {"f": 0}, False),
        ({"f": 5}, {"f": "5"}, True), ({"f": "5"}, {"f": 5}, True), ({"f": "05"}, {"f": 5}, False), ({"f": 5}, {"f": 5.0}, True),
        ({"f": True}, {"f": "TRUE"}, True), ({"f": True}, {"f": True}, True), ({"f": "True"}, {"f": True}, True),
        ({"f": True}, {"f": 1}, False), ({"f": None}, {}, True), ({"f": None}, {"f": None}, True), ({"f": None}, {"f": ""}, False),
        ({"f": ""}, {"f": ""}, True), ({"f": ""}, {}, False), ({"f": "*"}, {"f": 5}, True), ({"f": "*"}, {"f": None}, False),
        ({"f|exists": True}, {"f": None}, True), ({"f|exists": False}, {}, True), ({"f|exists": True}, {}, False),
        ({"f|neq": "a"}, {"f": "b"}, True), ({"f|neq": ["a", "b"]}, {"f": "B"}, False), ({"f|neq": "a"}, {}, True),
        ({"f|windash|contains": "-enc x-y"}, {"f": "ps /ENC x-y"}, True), ({"f|windash": "-a -b"}, {"f": "/a –b"}, True),
        ({"f|windash": "x-a"}, {"f": "x/a"}, False), ({"f|base64": "foo"}, {"f": "Zm9v"}, True),
        ({"f|base64offset|contains": "foobar"}, {"f": "--eGZvb2Jhcng="}, True), ({"f|wide": "ab"}, {"f": "a\0b\0"}, True),
        ({"f|wide|base64": "ab"}, {"f": "YQBiAA=="}, True), ({"f|utf16be": "ab"}, {"f": "\0a\0b"}, True),
        ({"a.b": "x"}, {"a": {"b": "X"}}, True), ({"a-b": "x"}, {"a-b": "x"}, True), ({"f": "a", "g": "b"}, {"f": "a"}, False),
        ([{"f": "a"}, {"g": "b"}], {"g": "b"}, True), ("ab", {"x": {"y": ["-", "xABx"]}}, True), (["ab", "c"], {"f": "-c-"}, True),
        ("a*c", {"f": "xabcx"}, True), ("ab", {"ab": 5}, False), ({"|all": ["a", "b"]}, {"f": "A", "g": "b"}, True),
        ({"|all": ["a", "b"]}, {"f": "A"}, False), ({"|re": "a+b"}, {"f": "xaab"}, True), ({"|cased": "A"}, {"f": "a"}, False),
        ({"|windash": "-a"}, {"f": "x /a"}, True), ([4625, "x"], {"f": "id=4625"}, True), ({"f|fieldref": "g"}, {"f": "a", "g": "A"}, True),
        ({"f|fieldref": "g"}, {"f": 1, "g": 1.0}, True), ({"f|fieldref": "g"}, {"f": "1", "g": 1}, False),
        ({"f|fieldref": "g"}, {"f": None, "g": None}, False), ({"f|fieldref": "g"}, {"f": "a"}, False),
        ({"f|fieldref": "f"}, {"f": "a"}, True), ({"f|fieldref": "f"}, {}, False), ({"f": 12345678901234567890}, {"f": "12345678901234567890"}, True),
    ],
)  # fmt: skip
def test_a_detection_holds_where_the_specification_says(detection, event, wanted):
    assert finds(rule_of(detection), event) is wanted
    assert finds(rule_of(detection, "not sel"), event) is not wanted
    assert holds(rule_of(detection), event) is wanted


CONDITIONS = [
    "a and b",
    "a or b and not c",
    "not (a or b)",
    "1 of a*",
    "all of them",
    "any of them and not c",
    "not 1 of b*",
]


@pytest.mark.parametrize("condition", [*CONDITIONS, ["a and b", "c"]])
@pytest.mark.parametrize(
    "event", [{}, {"x": "1"}, {"x": "1", "y": "2"}, {"y": "2", "z": "3"}, {"x": "1", "y": "2", "z": "3"}]
)
def test_a_condition_joins_detections(condition, event):
    detection = {"a": {"x": 1}, "ab": {"x": 1, "y": 2}, "b": {"y": 2}, "c": {"z": 3}, "condition": condition}
    rule = {**HEAD, "detection": detection}
    assert finds(rule, event) is holds(rule, event)
    assert finds(yaml.safe_dump(rule), event) is holds(rule, event)


# --- any rule on any event ---------------------------------------------------------------------------------------------

FIELDS = ("f", "g", "a.b")
TEXTS = st.text(st.sampled_from("aAbß*?\\-/ 1%_"), max_size=5)
PLAIN = st.text(st.sampled_from("abA-/ 1"), min_size=1, max_size=5)
NUMBERS = st.sampled_from([0, 1, -1, 11, 1.5])
VALUES = st.one_of(TEXTS, NUMBERS, st.booleans(), st.none())
ITEMS = st.one_of(
    st.tuples(st.just(""), st.one_of(VALUES, st.lists(VALUES, max_size=3))),
    st.tuples(
        st.sampled_from(["|contains", "|startswith", "|endswith", "|cased", "|contains|cased", "|contains|all", "|neq", "|windash|contains"]),
        st.one_of(TEXTS, st.lists(TEXTS, min_size=1, max_size=3)),
    ),
    st.tuples(st.sampled_from(["|base64", "|base64offset|contains", "|wide"]), PLAIN),
    st.tuples(st.sampled_from(["|lt", "|lte", "|gt", "|gte"]), NUMBERS),
    st.tuples(st.just("|exists"), st.booleans()),
    st.tuples(st.just("|re"), st.sampled_from(["^a", "b$", "[a1]b", "a|A"])),
    st.tuples(st.just("|fieldref"), st.sampled_from(FIELDS)),
)  # fmt: skip
MAPPINGS = st.dictionaries(st.sampled_from(FIELDS), ITEMS, min_size=1, max_size=3).map(
    lambda items: {name + modifiers: values for name, (modifiers, values) in items.items()}
)
KEYWORDS = st.one_of(
    st.lists(st.one_of(PLAIN, NUMBERS), min_size=1, max_size=2),
    st.tuples(st.sampled_from(["|all", "|cased", "|windash"]), st.lists(TEXTS, min_size=1, max_size=2)).map(
        lambda item: dict([item])
    ),
)
DETECTIONS = st.one_of(MAPPINGS, st.lists(MAPPINGS, min_size=1, max_size=2), KEYWORDS)
OPERANDS = st.sampled_from(["sel_a", "sel_b", "c", "1 of sel_*", "all of them", "1 of them", "all of sel_*"])
WORDS = st.recursive(
    OPERANDS,
    lambda inner: st.one_of(
        inner.map(lambda one: f"not {one}"),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda three: f"({' '.join(three)})"),
    ),
    max_leaves=5,
)
RULES = st.builds(
    lambda a, b, c, condition: {**HEAD, "detection": {"sel_a": a, "sel_b": b, "c": c, "condition": condition}},
    DETECTIONS, DETECTIONS, DETECTIONS, WORDS,
)  # fmt: skip
SEEN = st.one_of(
    st.text(st.sampled_from("aAbB\u1e9e-/ 1*\\s"), max_size=6),
    NUMBERS,
    st.booleans(),
    st.none(),
    st.just("true"),
)
EVENTS = st.dictionaries(st.sampled_from(["f", "g", "a"]), SEEN, max_size=3).map(
    lambda event: {name: {"b": each} if name == "a" else each for name, each in event.items()}
)


@given(RULES, st.lists(EVENTS, min_size=1, max_size=4))
def test_any_rule_means_what_the_slow_evaluator_says(rule, events):
    try:
        found = thatch.parse(rule, language="sigma")
    except NeverMatchesError:
        assert not any(holds(rule, event) for event in events)
        return
    engine = thatch.Engine()
    engine.subscribe("rule", found)
    for event in events:
        wanted = holds(rule, event)
        assert found.matches(event) is wanted
        assert bool(engine.match(event)) is wanted
    assert thatch.parse(str(found)) == found


# --- what is refused -----------------------------------------------------------------------------------------------------


def refused(source, kind=FilterError, **options):
    with pytest.raises(kind) as caught:
        thatch.parse(source, language="sigma", **options)
    assert len(str(caught.value)) < 2_000
    return caught.value


@pytest.mark.parametrize(
    ("detection", "words", "path"),
    [
        ({"f|expand": "%admins%"}, "The placeholder %admins% has no value; a processing pipeline gives it one", "detection.sel.f|expand"),
        ({"f|fieldref|startswith": "g"}, "A field can equal another one, but not begin with it", "detection.sel.f|fieldref|startswith"),
        ({"|cidr": "10.0.0.0/8"}, "A value of the type SigmaCIDRExpression needs a field", "detection"),
        ({"f|hour": 5}, "Parts of a time (minute, hour, day, week, month, year) cannot be compared", "detection.sel.f|hour"),
        ({"f|re": "(?=a)b"}, "Regular expression '(?=a)b' is invalid", "detection.sel.f|re"),
        ({"f|endwith": "a"}, "Unknown modifier 'endwith'", "detection.sel.f|endwith"),
        ({"f|cidr": "10.0.0.0/40"}, "Invalid CIDR expression", "detection.sel.f|cidr"),
    ],
)  # fmt: skip
def test_a_refusal_says_why_and_where(detection, words, path):
    error = refused(rule_of(detection))
    assert words in error.expected
    assert error.where == f"rule 'A rule', {path}"


def test_re2_writes_no_log_of_its_own(capfd):
    refused(rule_of({"f|re": "(a"}))
    refused(rule_of({"f|re|i": "a{1,2000}"}))
    assert capfd.readouterr() == ("", "")


def test_a_refusal_of_text_has_line_and_column():
    text = "title: A rule\nlogsource: {category: test}\ndetection:\n  sel:\n    f: a\n    g|endwith: b\n  condition: sel\n"
    assert refused(text).where == "rule 'A rule', line 6, column 16"
    assert refused(
        text.replace("endwith", "endswith").replace("condition: sel", "condition: sel and (x")
    ).where.endswith("line 7, column 14")
    error = refused("title: [", FilterSyntaxError)
    assert (error.line, error.column) == (1, 9)


def test_one_text_is_one_rule():
    text = yaml.safe_dump(rule_of({"f": "a"}))
    assert refused(f"{text}---\n{text}").got == "2"
    assert refused("").got == "none"
    assert "correlation" in refused("title: x\ncorrelation: {type: event_count}").expected


def test_without_pysigma_the_extra_is_named_before_work_begins(monkeypatch):
    for name in [each for each in sys.modules if each.startswith("thatch.model.language.sigma")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sigma.rule", None)
    with pytest.raises(
        MissingPackageError, match=r"pySigma is needed for Sigma rules: pip install 'thatch\[sigma\]'"
    ):
        thatch.parse("x", language="sigma")


def test_a_pipeline_belongs_to_sigma():
    with pytest.raises(FilterError, match="a language whose rules pass through pipelines"):
        thatch.parse("x=1", language="labels", pipeline="p")
    assert refused(rule_of({"f": "a"}), pipeline="p").expected == "a ProcessingPipeline of pySigma"


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{after}: &{after} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, after in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        (BOMB, FilterTooLargeError, "values in a rule, aliases followed"),
        ("a: &a\n  b: *a", FilterError, "A rule that contains itself is endless"),
        ("a: " + "[" * 60_000 + "]" * 60_000, FilterTooLargeError, "levels of nesting"),
        ("a: " + "x" * 2_000_000, FilterTooLargeError, "characters of a rule"),
        ("a: 1\na: 2", FilterError, "each name once"),
        ("a: 2001-99-99", FilterError, "YAML"),
        ("a: !!python/object:os.system x", FilterSyntaxError, "YAML"),
    ],
)  # fmt: skip
def test_hostile_yaml_is_refused_in_one_sentence(text, kind, words):
    assert words in str(refused(text, kind))


@pytest.mark.parametrize(
    "condition", ["(" * 40 + "sel" + ")" * 40, "sel and " * 2_000 + "sel", "1 of them or " * 700 + "sel"]
)
def test_hostile_conditions_are_refused_soon(condition):
    refused(rule_of({"f": [str(number) for number in range(1_000)]}, condition), FilterTooLargeError)
