"""Means over seeds, and lines of them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from thatch.experiments.results import Results

TABLE = pa.table(
    {
        "form": ["x", "x", "y", "y"],
        "k": [1, 2, 1, 1],
        "told": [10, 20, 30, 50],
        "boxes": pa.array([None, None, 3, 5], pa.int64()),
    }
)


@pytest.fixture
def results() -> Results:
    return Results(TABLE, trials=5, done=4)


def test_a_mean_is_over_the_rows_asked_for(results):
    assert results.mean("told") == 27.5
    assert results.mean("told", form="y") == 40
    assert results.mean("told", form="x", k=2) == 20


def test_what_was_not_measured_has_no_mean(results):
    assert results.mean("told", form="z") is None
    assert results.total("told", form="z") is None
    assert results.mean("boxes", form="x") is None
    assert results.mean("boxes") == 4


def test_choices_are_the_values_there_are(results):
    assert results.choices("k") == [1, 2]
    assert results.choices("k", form="y") == [1]
    assert results.choices("form") == ["x", "y"]


def test_lines_are_named_by_what_differs(results):
    assert results.lines("k", "told", ["form"]) == {"x": ([1, 2], [10, 20]), "y": ([1], [40])}
    assert results.lines("form", "told", ["k"], {"form": "y"}) == {"": (["y"], [40])}
    assert results.lines("form", "told", ["k"])["k 2"] == (["x"], [20])
    assert results.lines("k", "told") == {"": ([1, 2], [30, 20])}
