"""Any value is shown in a few characters and in bounded time, whatever it is."""

from __future__ import annotations

import enum
import math
from decimal import Decimal
from pathlib import PurePosixPath

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import thatch
from thatch.errors import shown


class Bad:
    def __repr__(self):
        raise RuntimeError("no")


class Loud:
    def __repr__(self):
        return "x" * 10_000_000


class Sly(list):
    def __iter__(self):
        raise KeyError

    def __repr__(self):
        raise KeyError


class Colour(enum.IntEnum):
    RED = 1


def bomb():
    value = ["x"] * 10
    for _ in range(50):
        value = [value] * 10
    return value


def cycle():
    value: dict[str, object] = {}
    value["again"] = [value]
    return value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": [1, (2,), ()], None: {True}}, "{'a': [1, (2,), ()], None: {True}}"),
        ("it's", '"it\'s"'),
        (b"ab", "b'ab'"),
        (set(), "set()"),
        (0.5, "0.5"),
        (10**5_000, "an integer of about 5,001 digits"),
        (-(10**400_000), "an integer of about 400,001 digits"),
        ({"n": [10**5_000]}, "{'n': [an integer of about 5,001 digits]}"),
        (Bad(), "a Bad"),
        ([Bad()], "[a Bad]"),
        (Loud(), "a Loud"),
        (Sly([1, 2]), "[1, 2]"),
        (Colour.RED, "Colour.RED"),
        (Decimal("1.5"), "Decimal('1.5')"),
        (np.float64(0.5), "np.float64(0.5)"),
        (np.zeros((2, 3)), "an array of shape (2, 3)"),
        (PurePosixPath("a"), "PurePosixPath('a')"),
        (thatch.Integer(0, 5), "Integer(minimum=0, maximum=5)"),
        (KeyError("a"), "KeyError('a')"),
        ("\ud800", "'\\ud800'"),
    ],
    ids=shown,
)
def test_a_value_is_shown_as_people_write_it(value, expected):
    assert shown(value) == expected


@pytest.mark.parametrize(
    "value",
    [bomb(), cycle(), list(range(10**6)), "a" * 10**7, dict.fromkeys(range(10**6)), {"k" * 10**6: 1}, thatch.Topology.line(3_000)],
    ids=["bomb", "cycle", "list", "text", "object", "name", "topology"],
)  # fmt: skip
def test_what_is_huge_is_cut(value):
    assert len(shown(value)) == 60
    assert shown(value).endswith("...")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.builds(Bad),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
)


@given(values)
def test_everything_is_printable_and_short(value):
    text = shown(value)
    text.encode()
    assert 0 < len(text) <= 60


def test_floats_are_shown_as_they_are():
    assert [shown(value) for value in (math.inf, math.nan, -0.0)] == ["inf", "nan", "-0.0"]
