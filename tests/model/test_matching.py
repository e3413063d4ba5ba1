"""`Filter.matches` is the raw expression tree under three truth values, as the reference reads it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests import strategies as make
from thatch.errors import EventError, FilterError, NeverMatchesError
from thatch.matching import reference
from thatch.model.expressions import Constant, In, Not, Or
from thatch.model.filters import Filter

some_events = st.lists(make.events, min_size=1, max_size=6)


def assert_same_matches(expression, schema, events):
    try:
        made = Filter.of(expression, schema)
    except NeverMatchesError:
        made = None
    except FilterError:
        assert make.is_refused_not_in(expression)
        return
    assert not make.is_refused_not_in(expression)
    for event in events:
        try:
            wanted = reference.matches(expression, event, schema)
        except EventError:
            if made is not None:
                with pytest.raises(EventError):
                    made.matches(event)
            continue
        assert (made is not None and made.matches(event)) == wanted, (str(made), event)


@example(Not(Or((Constant(True), In("x", (-1, ""))))), None, [{}])
@given(make.expressions, make.schemas, some_events)
def test_matches_agrees_with_the_reference(expression, schema, events):
    assert_same_matches(expression, schema, events)
