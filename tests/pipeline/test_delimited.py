"""Counting the rows of splits, and whether a record crosses from one into the next. No Spark is needed for it."""

from __future__ import annotations

import pyarrow as pa
import pytest

from thatch.formats.reading import Reading
from thatch.pipeline.sources.delimited import _count_runs, _is_crossed
from thatch.pipeline.sources.records import CsvLayout, Run


def counted(lines: list[str], runs: tuple[Run, ...]) -> tuple[list[dict[str, object]], CsvLayout]:
    """What workers count in the lines of some runs, all in one batch."""
    layout = CsvLayout(runs, ("a", "b"), Reading())
    numbers = pa.array(range(len(lines)), pa.int64())
    batch = pa.RecordBatch.from_arrays([numbers, pa.array(lines)], names=["row", "line"])
    (found,) = _count_runs(layout, iter([batch]))
    return sorted(found.to_pylist(), key=lambda each: each["run"]), layout


TWO_SPLITS = (Run(0, True, "x"), Run(2, False, "x"))
TWO_FILES = (Run(0, True, "x"), Run(2, True, "y"))


@pytest.mark.parametrize(
    ("lines", "runs", "rows", "is_crossed"),
    [
        (["a,b", "1,2", "3,4"], TWO_SPLITS, [1, 1], False),
        (["a,b", '1,"2', '3",4'], TWO_SPLITS, [1, 1], True),
        (["a,b", "1,2", '3,"4'], TWO_SPLITS, [1, 1], False),  # the end of the file closes it
        (["a,b", '1,"2', "a,b", "3,4"], TWO_FILES, [1, 1], False),
        (["a,b", '1,"2', "a,b", '3,"4'], TWO_FILES, [1, 1], False),
    ],
)
def test_only_quotes_left_open_where_the_file_goes_on_cross_a_split(lines, runs, rows, is_crossed):
    found, layout = counted(lines, runs)
    assert [each["rows"] for each in found] == rows
    assert _is_crossed(found, layout) is is_crossed
