"""Which filters become rules: those that are found by the literals of their tree, not by values of attributes."""

from __future__ import annotations

import pytest

from thatch import parse
from thatch.matching.segments import SegmentIndex
from thatch.matching.segments.rules import is_rule

MANY = " or ".join(f"a = {number} and b = {number}" for number in range(17))
SEVENTEEN = ", ".join(map(str, range(17)))

CASES = [
    ("a = 1", False),
    ("a = 1 and b > 2 or c = 3", False),
    (f"a in ({SEVENTEEN})", False),  # one interval after the other, on one attribute
    ("a like 'x%'", False),  # an interval
    ("a like '%x'", False),
    ("a like '%x%'", True),
    ("a like '%x%' and b = 1", False),  # the value tells it from others
    ("a like '%x%' and b > 1", True),
    ("a like '%x%' or b = 1", True),
    ("a like '%x%' and b = 1 or a like '%y%'", True),
    ("not a like '%x%' and b = 1", False),
    ("lower(a) = 'x'", True),
    ("lower(a) like 'x%'", True),
    ("lower(a) = 'x' or b = 2", True),
    ("lower(a) in ('x', 'y') and b > 5", True),
    (MANY, True),
    (MANY.partition(" or a = 16")[0], False),
    ("a ~ 'x+y' and b in (1, 2)", False),
    ("anywhere() like '%x%'", True),
]


@pytest.mark.parametrize(("text", "answer"), CASES)
def test_a_filter_is_a_rule_if_literals_find_it_quicker(text: str, answer: bool) -> None:
    filter = parse(text)
    assert is_rule(filter) == answer
    index = SegmentIndex()
    index.extend({0: filter})
    index.add(1, filter)
    assert index.stats()["rules"] == 2 * answer
    assert index.filter(0) == index.filter(1) == filter
