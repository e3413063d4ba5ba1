"""Schemas: mappings of attribute names to declared types, and filters on declared attributes."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import pytest
from hypothesis import assume, given

from tests import strategies as make
from tests.model.test_types import IP, all_lines, values
from thatch.errors import FilterError
from thatch.matching import reference
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.schema import Schema, line_of
from thatch.model.types import Enum, Integer, Text


def test_a_schema_is_a_mapping_of_names():
    schema = Schema({"detail-type": Text(), "qty": Integer(0, 5)})
    assert dict(schema) == {"detail-type": Text(), "qty": Integer(0, 5)}
    assert schema.line('"detail-type"') == Text()
    assert schema.line("detail") is None
    assert "other" not in schema
    assert repr(schema) == "Schema({'detail-type': Text(), 'qty': Integer(minimum=0, maximum=5)})"
    with pytest.raises(KeyError):
        schema["other"]


def test_schemas_are_equal_whatever_the_order_of_their_attributes():
    one = Schema({"x": Text(), "y": Integer()})
    other = Schema({"y": Integer(), "x": Text()})
    assert one == other
    assert hash(one) == hash(other)
    assert one != Schema({"x": Text()})
    assert one != {"x": Text(), "y": Integer()}


def test_only_the_attribute_itself_has_its_declared_line():
    schema = Schema({"x": Integer(0, 5)})
    assert line_of("x", schema) == Integer(0, 5)
    assert line_of("y", schema) is None
    assert line_of("lower(x)", schema) is None
    assert line_of("reverse(lower(x))", schema) is None
    assert line_of("ip(x)", schema) is IP
    assert line_of("x", None) is None


@pytest.mark.slow
def test_a_schema_from_another_process_has_the_hash_of_an_equal_one_made_here():
    """Hashes of text differ between processes; found by reading."""
    script = (
        "import pickle, sys\n"
        "from thatch.model.language import parse\n"
        "from thatch.model.schema import Enum, Integer, Schema\n"
        "schema = Schema({'qty': Integer(0, 5), 'side': Enum('buy', 'sell')})\n"
        "hash(schema)\n"
        "made = parse('qty > 1', schema)\n"
        "hash(made)\n"
        "sys.stdout.buffer.write(pickle.dumps((schema, made)))\n"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "12345"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, env=environment)
    schema, made = pickle.loads(done.stdout)
    here = Schema({"qty": Integer(0, 5), "side": Enum("buy", "sell")})
    assert (schema, hash(schema)) == (here, hash(here))
    assert (made, hash(made)) == (parse("qty > 1", here), hash(parse("qty > 1", here)))
    assert len({made, parse("qty > 1", here)}) == 1


@given(all_lines, make.conditions(keys=("x",), is_plain=True), values)
def test_a_filter_on_a_declared_attribute_prints_bounds_that_can_be_read_again(line, condition, value):
    schema = Schema({"x": line})
    try:
        made = Filter.of(condition, schema)
    except FilterError:
        assume(False)
    assert parse(str(made), schema) == made
    assert made.matches({"x": value}) == reference.matches(condition, {"x": value}, schema)
