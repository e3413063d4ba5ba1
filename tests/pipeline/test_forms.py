from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import assume, given

import thatch
from tests.strategies import expressions
from thatch.errors import FilterError
from thatch.model.filters import Filter
from thatch.pipeline.forms import read_form, write_form
from thatch.pipeline.transforms.reducing.pieces import INPUT, parse_filters


@given(expressions)
def test_a_form_gives_the_same_filter_again(expression):
    try:
        filter = Filter.of(expression)
    except FilterError:
        assume(False)
    again = read_form(write_form(filter), None)
    assert again == filter
    assert str(again) == str(filter)


@pytest.mark.parametrize(
    "text",
    ["a like '%b_c%' and within(lat, lon, circle(1, 2, 3))", f"a = {2**63 - 1} or qty > 3", "a < -0.0"],
)
def test_a_form_keeps_residual_checks_schemas_and_integers_that_no_double_equals(text):
    schema = thatch.Schema({"qty": thatch.Integer(0, 10)})
    filter = thatch.parse(text, schema)
    assert read_form(write_form(filter), schema) == filter


def test_a_row_with_a_form_is_not_parsed_again():
    form = write_form(thatch.parse("x < 5"))
    row = [[7], ["a"], [None], ["no filter at all"], [None], [form]]
    batch = pa.record_batch([pa.array(*each) for each in zip(row, INPUT.types, strict=True)], schema=INPUT)
    assert [*parse_filters(None, batch)] == [thatch.parse("x < 5")]
