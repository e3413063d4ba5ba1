"""A record has the same fields in Python and in kernels."""

from __future__ import annotations

import numpy as np
import pytest

from tests.compiled.kernels import ChainRecord, Inner, Outer, length_of, total
from thatch.compiled.decorators import JIT


def _outer() -> tuple[Outer, Inner]:
    inner = Inner(found=0, limit=10)
    table = np.zeros(Outer.width + 2, np.int64)
    record = Outer(table, size=3, weights=np.array([2, 3, 5, 7], np.uint16), inner=inner)
    record.rest[:] = 100, 200
    return record, inner


def test_a_kernel_reads_what_python_wrote_and_writes_what_python_reads() -> None:
    record, inner = _outer()
    assert total(record.table) == 2 + 3 + 5 + 4 + 100 + 200
    assert inner.found == 3
    assert record.size == 3
    assert record.weights.tolist() == [2, 3, 5, 7]


def test_records_may_stand_one_after_the_other() -> None:
    records = [ChainRecord(first=number, after=number + 1) for number in range(4)]
    table = np.concatenate([each.table for each in records])
    assert [length_of(table, number * ChainRecord.width) for number in range(4)] == [1, 3, 5, 7]


def test_a_field_of_the_class_is_its_column() -> None:
    rows = np.arange(6).reshape(2, 3)
    assert rows[:, ChainRecord.after].tolist() == [1, 4]
    assert (Outer.size, Outer.weights, Outer.inner, Outer.rest, Outer.width) == (0, 1, 3, 5, 5)


def test_an_array_of_another_type_or_with_gaps_is_refused() -> None:
    record, _ = _outer()
    with pytest.raises(TypeError, match="weights must be a contiguous array of uint16, got one of int64"):
        record.weights = np.zeros(3, np.int64)  # type: ignore[assignment]  # wrong on purpose
    with pytest.raises(TypeError, match="contiguous"):
        record.weights = np.zeros(6, np.uint16)[::2]


def test_a_record_takes_arrays_from_objects_that_have_them() -> None:
    class Owner:
        weights = np.ones(2, np.uint16)

    record = Outer(size=2, inner=Inner())
    record.fill(object(), Owner())
    assert record.weights is Owner.weights
    with pytest.raises(TypeError, match=r"Outer[.]inner is not set, and no owner has it"):
        Outer(size=2).fill(Owner())


@pytest.mark.skipif(not JIT, reason="with the compiler off there is only the view")
def test_a_record_of_a_table_checks_the_bounds_of_its_arrays() -> None:
    record, _ = _outer()
    weights = Outer(record.table).weights
    assert weights.tolist() == [2, 3, 5, 7]
    with pytest.raises(IndexError):
        weights[4]
    with pytest.raises(AssertionError):
        weights[-1]
