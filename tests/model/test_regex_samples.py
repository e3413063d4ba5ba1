"""Texts made of regular expressions match them, and expressions that are not understood give none."""

from __future__ import annotations

import time

import pytest
from hypothesis import given

from tests import strategies as make
from thatch.model.language import parse
from thatch.model.regexes import Regex, regex
from thatch.model.texts.regex_samples import samples_of
from thatch.reduction import covered_by


@pytest.mark.parametrize(
    ("text", "samples"),
    [
        ("^(ab|c)[0-9]{2}$", ("ab00", "c00")),
        ("a+b*c?d", ("ad",)),
        (r"(?i)\bset\s-[^-\s]{0,20}d\.exe", ("set -d.exe",)),
        (r"(?P<name>x{3,})|[[:upper:]]\d\x41\pL", ("xxx", "X0Aa")),
        ("a{2000}b{2000}", ()),
        ("(((a{9}){9}){9}){9}", ()),
    ],
)
def test_samples_of_expressions(text, samples):
    assert samples_of(text) == samples
    assert all(regex(text).matches(each) for each in samples)


@given(make.regexes)
def test_a_sample_matches(form):
    if isinstance(form, Regex):
        samples = samples_of(form.text)
        assert not samples or any(map(form.matches, samples)) or not form.text.isascii()


def test_long_expressions_are_read_in_little_time():
    start = time.process_time()
    assert samples_of("(a|b)" * 1_500)
    assert samples_of("(" * 400 + "a" + ")" * 400) in (("a",), ())
    assert time.process_time() - start < 5


def test_what_a_regular_expression_wants_is_shown_by_an_event():
    verdict = covered_by("line ~ '^ab[0-9]{4}$' and line like '%7%'", ["line ~ 'x'", "line like '%ac%'"])
    assert verdict.covered is not True
    verdict = covered_by("line ~ 'a+[0-9]{4}' and lower(line) like 'set %'", ["line like '%b%'"])
    assert verdict.covered is False
    assert parse("line ~ 'a+[0-9]{4}' and lower(line) like 'set %'").matches(verdict.witness)
