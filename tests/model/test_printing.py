"""What a constraint says as text, and which constraints no text says."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import thatch
from thatch.model.conjunctions import points_of
from thatch.model.lines import above, below, contains
from thatch.model.printing import can_be_said, constraint_text
from thatch.model.selectivity import Selectivity
from thatch.reduction import Merging

LIMITS = [-inf, -1e308, -(2**63), 0, 0.5, 2**53 + 1, 2**63 - 1, 1e308, inf]
ends = (
    {(rank,) for rank in range(8)}
    | {below(v) for v in [*LIMITS, "", "a"]}
    | {above(v) for v in [*LIMITS, "", "a"]}
)
constraints = st.sets(st.sampled_from(sorted(ends)), min_size=2, max_size=6).map(sorted).map(tuple)
constraints = constraints.filter(lambda cuts: len(cuts) % 2 == 0 and cuts != ((0,), (7,)))
PROFILE = thatch.Profile.of(
    [{"x": 1}, {"x": None}, {"x": "a"}, {"x": -1e308}, {"x": 1e308}], {"s": thatch.parse("x = 1")}
)


@example(((2,), below(0)))  # what lies between `x is null` and `x < 0`
@example(((4,), above(5)))
@example((above(0.5), below(inf), (6,), (7,)))
@given(constraints)
def test_every_constraint_is_said_and_read_back_or_known_to_be_beyond_words(constraint):
    assert points_of(constraint, None) is None or len(points_of(constraint, None)) < 10
    assert 0.0 <= Selectivity(PROFILE).upper("x", constraint) <= 1.0
    if can_be_said("x", constraint, None):
        (conjunction,) = thatch.parse(constraint_text("x", constraint, None)).conjunctions
        assert dict(conjunction.constraints) == {"x": constraint}
    else:
        assert contains(constraint, (4,))


@pytest.mark.parametrize("first", ["x is null", "x = true", "x is missing", "x < -5", "x <= -infinity"])
@pytest.mark.parametrize("second", ["x < 0", "x >= infinity", "x > 5", "x like 'a%'"])
def test_merging_with_a_profile_ends_whatever_lies_between_two_filters(first, second):
    link = thatch.ForwardingSet(Merging(threshold=0.2, profile=PROFILE))
    link.add("a", f"{first} and y = 1")
    link.add("b", f"{second} and y = 1")
    assert list(link.active)
