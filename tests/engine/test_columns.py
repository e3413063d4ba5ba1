"""Columns of a table as kernels read them: classes 0 to 6 are missing, null, false, true, NaN, a number and a text."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from thatch.engine.columns import columns_of
from thatch.matching.segments.attributes import Attributes
from thatch.matching.segments.columns import EventColumns


def read(values: Any, nulls: str = "missing") -> EventColumns | None:
    return columns_of(pa.table({"x": values}), nulls, Attributes(["x"]))


def test_every_kind_of_number_has_its_class_and_zero_has_no_sign() -> None:
    columns = read(pa.array([-0.0, nan, None, 1.5]))
    assert columns is not None
    assert columns.classes.tolist() == [[5, 4, 0, 5]]
    assert columns.numbers[0, [0, 3]].tolist() == [0.0, 1.5]
    assert not np.signbit(columns.numbers[0, 0])


@pytest.mark.parametrize(("nulls", "null"), [("missing", 0), ("null", 1)])
def test_null_in_a_dictionary_is_no_text(nulls: str, null: int) -> None:
    words = pa.DictionaryArray.from_arrays(pa.array([0, 1, None], pa.int8()), pa.array(["a", None]))
    columns = read(words, nulls)
    assert columns is not None
    assert columns.classes.tolist() == [[6, null, null]]


@pytest.mark.parametrize("number", [2**53, -(2**53)])
def test_integers_are_columns_as_long_as_doubles_tell_them_from_their_neighbours(number: int) -> None:
    assert read(pa.array([1, number])) is None
    assert read(pa.array([1, number - 1 if number > 0 else number + 1])) is not None
