"""Where events lie, as indexes are told it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import thatch
from tests import strategies as make
from tests.examples import examples
from thatch.matching.problem import AccessHints, Spread
from thatch.model.derived import derive
from thatch.model.lines import NUMBERS, PRESENT, TEXTS, WHOLE, contains, point

PLACES = [(rank,) for rank in range(5)] + [point(value) for value in (-2, 0.5, 1, 3, "", "a", "A", "b", "é")]


@examples(60)
@given(make.expressions, st.lists(st.floats(0, 1), min_size=len(PLACES), max_size=len(PLACES)))
def test_the_share_of_a_constraint_is_that_of_the_points_in_it(expression, weights):
    shares = dict(zip(PLACES, weights, strict=True))
    hints = AccessHints({"x": Spread(shares)})
    try:
        conjunctions = thatch.Filter.of(expression).conjunctions
    except thatch.FilterError:
        conjunctions = ()
    constraints = [each for conjunction in conjunctions for _, each in conjunction.constraints]
    for constraint in (*constraints, WHOLE, PRESENT, NUMBERS, TEXTS):
        inside = sum(share for point, share in shares.items() if contains(constraint, point))
        assert hints.share("x", constraint) == pytest.approx(inside, abs=1e-9)
        for key in ("lower(x)", "reverse(x)", "ip(x)"):
            inside = sum(share for point, share in shares.items() if contains(constraint, derive(key, point)))
            assert hints.share(key, constraint) == pytest.approx(inside, abs=1e-9)


def test_what_is_not_known_lets_everything_through():
    hints = AccessHints({"x": Spread({point(1): 1.0})})
    assert (hints.spread("y"), hints.spread("lower(y)")) == (None, None)
    assert hints.share("y", NUMBERS) == 1.0
