"""Whether a filter can hold is seen as normalising sees it, and in a few steps where alternatives are many."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

import thatch
from tests.strategies import expressions, schemas
from thatch.errors import FilterError, NeverMatchesError
from thatch.model import satisfiability
from thatch.model.language import expression_of
from thatch.model.normalise import normalise
from thatch.model.satisfiability import may_hold


@given(expressions, st.none() | schemas)
def test_a_filter_may_hold_just_where_its_normal_form_has_a_conjunction(expression, schema):
    try:
        normalise(expression, schema)
    except NeverMatchesError:
        assert not may_hold(expression, schema)
    except FilterError:
        assume(False)
    else:
        assert may_hold(expression, schema)


def test_alternatives_that_what_must_hold_excludes_are_seen_at_once(monkeypatch):
    tried = []
    parts_of_condition = satisfiability.parts_of_condition
    monkeypatch.setattr(
        satisfiability,
        "parts_of_condition",
        lambda *given: tried.append(given) or parts_of_condition(*given),
    )
    clauses = [f"(x is missing or lower(x) is unlike '%word{number}%')" for number in range(50)]
    assert may_hold(expression_of(" and ".join([*clauses, "lower(x) like '%a%'"])), None)
    assert len(tried) < 3 * len(clauses)


def test_a_filter_of_fifty_exclusions_is_read():
    clauses = [f"(x is missing or lower(x) is unlike '%word{number}%')" for number in range(50)]
    filter = thatch.parse(" and ".join([*clauses, "lower(x) like '%a%'"]))
    assert filter.matches({"x": "A"})
    assert not filter.matches({"x": "a word7"})
    assert not filter.matches({})
