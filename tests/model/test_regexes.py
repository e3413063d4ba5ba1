from __future__ import annotations

import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import thatch
from thatch.model.derived import fold
from thatch.model.regexes import Regex, regex
from thatch.model.wildcards import Wildcard

TEXTS = st.text("ab\nc(].1\\é", max_size=8)


@given(
    st.sampled_from(["", "", "(?i)", "(?s)(?i)"]),
    st.text("abksK.*+?|()[]^$\\d1{},xß", max_size=12),
    st.text("ab\nck(].1\\éKsſKßẞAS", max_size=8),
)
@example("", "a|b", "c")
@example("", r"\x61b", "61b")
@example("", r"\pNab", "1ab")
@example("", "a{,2}b", "a{,2}b")
@example("", "[[:alpha:]]b", "ab")
@example("", "[]a]b", "]b")
@example("", r"(\))b", ")b")
@example("(?i)", "ask", "a\u017f\u212a")
@example("(?i)", "a\u212a", "ak")
@example("(?i)", "ẞa", "ßA")
@example("", "(a|bs)(k|d)?", "bs")
@example("", "(?:ab|c)+1", "abc1")
@example("", "(?i:ab)k", "ABk")
@example("", "(ab|)k", "k")
@example("", "(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(s|k)", "aababbas")
def test_what_a_regular_expression_needs_is_part_of_all_that_match(flags, pattern, text):
    try:
        found = regex(flags + pattern)
    except ValueError:
        assume(False)
    if isinstance(found, Regex) and found.matches(text):
        needles, is_folded, others, characters = found.needles
        needed = fold(text) if is_folded else text
        assert all(any(each in needed for each in choice) for choice in (needles, *others) if choice)
        assert len(text) >= characters
        assert found.needed in text


@pytest.mark.parametrize(
    ("pattern", "needles"),
    [
        ("foo[0-9]+barbar", ["barbar"]), ("abc?d", ["ab"]), ("a{2}bcd", ["bcd"]), ("a|b", ["a", "b"]), ("a|b*", []),
        ("(a|b)cde", ["acde", "bcde"]), (r"a\.b\d", ["a.b"]), (r"\101bcd.", ["bcd"]), ("ab+c", ["ab"]), (r"\x{61}b.", ["b"]),
        ("(cat|dog)s.*x", ["cats", "dogs"]), ("x((ab)c)y.", ["xabcy"]), ("(abc)?d", ["d"]), ("(cat|do)g+s.", ["catg", "dog"]), ("1(a|b|)2.", ["1a2", "1b2", "12"]),
        ("[ab](x|yz[01])cd", ["axcd", "ayz0cd", "ayz1cd", "bxcd", "byz0cd", "byz1cd"]), ("(?:foo|ba[rz])!", ["foo!", "bar!", "baz!"]),
        ("a[bc]d.", ["abd", "acd"]), ("x[ab]{1}y.", ["xay", "xby"]), ("x[a-c]yz", ["yz"]), ("[^a]bc", ["bc"]), ("a[b]+c", ["ab"]),
        ("(?i)ABC.", ["abc"]), ("(?i)Größe", ["gr"]), (r"\Qa.b\E.", []), ("(?-i)a.", []), (".*", []),
    ],
)  # fmt: skip
def test_the_longest_texts_that_are_needed_are_known(pattern, needles):
    found = regex(pattern).needles
    assert found[:2] == (tuple(needles), pattern.startswith("(?i)"))


@pytest.mark.parametrize(
    ("pattern", "characters", "others"),
    [
        (r"\s[a-f0-9]{64}\s[a-f]{16}", 82, []), ("[^/]{100,}$", 100, []), (".{1000}", 1000, []), ("(ab|c)+x?", 1, []),
        (r"^\bab\b.$", 3, []), ("(?i)(set).*&&.*(invoke|put)", 8, [("&&",), ("invoke", "put")]), ("a*|b", 0, []), ("(a{2,3}){4}", 8, []),
    ],
)  # fmt: skip
def test_it_is_known_how_long_a_text_must_be_and_what_else_is_needed(pattern, characters, others):
    found = regex(pattern).needles
    assert found.characters == characters
    assert [each for each in found.others if max(map(len, each)) > 1] == others


@given(st.text("ab^$\\.%_", max_size=6), TEXTS)
def test_a_plain_expression_is_a_wildcard_that_says_the_same(pattern, text):
    try:
        found = regex(pattern)
    except ValueError:
        assume(False)
    if isinstance(found, Wildcard):
        python = pattern.removesuffix("$") + r"\Z" if pattern.endswith("$") else pattern
        assert found.matches(text) is bool(re.search(python, text))


def test_the_time_grows_with_the_text_whatever_the_expression():
    filter = thatch.parse("x ~ '^(a+)+$'")  # takes a backtracking search longer than the universe is old
    assert not filter.matches({"x": "a" * 10_000 + "b"})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x ~ '(?=a)b'", "invalid perl operator"),
        ("x ~ '((a{100}){100}){100}'", "RE2's syntax"),
        (r"x ~ '\pL{900}'", "at most 8 MB compiled"),
        ("ip(x) ~ 'a'", "before `~`"),
        ("x ~ " + "'" + "a" * 20_000 + "'", "at most 10,000 characters of a regular expression"),
    ],
)
def test_what_is_no_regular_expression_is_refused_in_a_sentence(text, words):
    with pytest.raises(thatch.FilterError, match=re.escape(words)):
        thatch.parse(text)


def test_engines_find_events_by_the_text_that_an_expression_needs():
    engine = thatch.Engine(background=False)
    for number in range(400):
        engine.subscribe(f"s{number}", f"x ~ 'word{number}[a-c]+'")
    assert engine.match({"x": "word7abc word12c word13"}) == ["s7", "s12"]
    engine.compact()
    before = engine.stats()["verified"]
    assert engine.match({"x": ["word399b", "word39"]}) == ["s399"]
    assert engine.stats()["verified"] - before <= 12  # of those whose needed text is there


def test_expressions_that_ignore_case_are_found_by_folded_text_also_after_a_merge():
    engine = thatch.Engine(background=False)
    for number in range(400):
        engine.subscribe(
            f"s{number}", f"x ~ '(?i)(word|klasse){number}[a-c]+' or lower(x) ~ '(?i)WORT{number}[a-c]'"
        )
    engine.compact()
    engine.subscribe("late", "x !~ '(?i)klasse7' and x ~ 'k'")
    before = engine.stats()["verified"]
    assert engine.match({"x": "WORD7abc Wort12C wort13"}) == ["s7", "s12"]
    assert engine.match({"x": "\u212alas\u017fe399B"}) == ["s399"]
    assert engine.stats()["verified"] - before <= 30  # of those whose texts are there
    for _ in range(40):
        engine.subscribe("more", "x ~ '(?i)klasse399'")
    engine.compact()
    assert engine.match({"x": "KLASSE399b k"}) == ["s399", "late", "more"]


def test_python_expressions_search_too():
    assert thatch.parse(thatch.attr("x").search("a+b")) == thatch.parse("x ~ 'a+b'")
