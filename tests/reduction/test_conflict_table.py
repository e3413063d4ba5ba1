"""The conflict table against the definitions, and its decisions against the slow answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reduction.boxes import Question, questions, tiny_questions
from tests.reduction.references import conflict_table as reference
from tests.reduction.references import subsumption as slow
from thatch.errors import BoxError
from thatch.reduction.boxes import HIGHEST, LOWEST
from thatch.reduction.probabilistic import ConflictTable


@given(questions(), st.booleans())
def test_entries_are_counted_as_defined(question: Question, literal: bool):
    low, high, lows, highs = question
    table = ConflictTable(*question, literal=literal)
    rows = range(len(lows))
    for row in rows:
        defined = reference.entries(low, high, lows[row], highs[row])
        free = reference.free_entries(low, high, lows, highs, rows, row, literal=literal)
        assert table.counts[row] == len(defined)
        assert table.free_counts[row] == len(free)
        for axis in range(len(low)):
            sides = {entry.is_lower for entry in defined if entry.axis == axis}
            assert (True in sides) == table.lower[row, axis]
            assert (False in sides) == table.upper[row, axis]


@given(questions(max_rows=6), st.booleans(), st.randoms(use_true_random=False))
def test_the_minimised_cover_set_is_the_same_in_any_order(question: Question, literal: bool, random):
    order = list(range(len(question.lows)))
    random.shuffle(order)
    reduced = ConflictTable(*question, literal=literal).minimised_cover
    assert reduced.kept.tolist() == reference.minimised(*question, order, literal=literal)
    assert sorted([*reduced.kept, *reduced.removed]) == sorted(order)


@given(questions())
def test_removed_rows_do_not_matter(question: Question):
    low, high, lows, highs = question
    kept = ConflictTable(*question).minimised_cover.kept
    assert slow.grid(*question).covered == slow.grid(low, high, lows[kept], highs[kept]).covered


@given(questions(max_axes=4))
def test_what_the_table_decides_is_right(question: Question):
    verdict = ConflictTable(*question).decide()
    if verdict is None:
        return
    assert verdict.certain
    assert verdict.covered == slow.grid(*question).covered
    if verdict.covered:
        assert verdict.decided_by == "pairwise"
        assert slow.proves(*question, verdict.used)
    else:
        assert verdict.decided_by in {"empty", "counting", "mcs"}
        assert slow.is_witness(verdict.witness, *question)


@given(tiny_questions(max_axes=2, max_rows=4))
def test_a_box_is_covered_unless_entries_of_all_rows_go_together(question: Question):
    assert reference.has_polyhedron_witness(*question) == (not slow.points(*question).covered)


@given(questions())
def test_the_literal_table_errs_on_the_safe_side_only(question: Question):
    verdict = ConflictTable(*question, literal=True).decide()
    if verdict is not None and verdict.covered:
        assert slow.grid(*question).covered
    if verdict is not None and verdict.witness is not None:
        assert slow.is_witness(verdict.witness, *question)


def test_touching_rows_cover_in_whole_numbers_and_leave_a_gap_when_read_literally():
    touching = [0], [9], [[0], [5]], [[4], [9]]
    assert (
        ConflictTable(*touching).decide() is None
    )  # the rows must both stay: random points or a search decide
    verdict = ConflictTable(*touching, literal=True).decide()
    assert verdict is not None
    assert verdict.covered is False
    assert verdict.witness is None


def test_a_row_beside_the_box_is_removed():
    reduced = ConflictTable([0, 0], [9, 9], [[20, 0], [0, 0]], [[30, 9], [4, 9]]).minimised_cover
    assert 0 in reduced.removed


def test_counting_alone_can_show_that_a_box_is_not_covered():
    table = ConflictTable([0, 0], [9, 9], [[2, 2], [0, 3]], [[7, 7], [4, 9]])
    assert table.counts.tolist() == [4, 2]
    assert table.leaves_room()
    verdict = table.decide()
    assert verdict is not None
    assert verdict.decided_by == "counting"


def test_a_row_that_covers_by_itself_is_found_first():
    table = ConflictTable([0], [9], [[3], [0], [LOWEST]], [[5], [9], [HIGHEST]])
    assert table.coverer() == 1
    assert len(table) == 3
    assert ConflictTable([0], [9], [[3]], [[5]]).coverer() is None


def test_without_rows_nothing_covers():
    verdict = ConflictTable([3, 4], [5, 6], [], []).decide()
    assert verdict is not None
    assert (verdict.covered, verdict.decided_by) == (False, "empty")
    assert verdict.witness.tolist() == [3, 4]


def test_the_table_prints_as_the_paper_prints_it():
    table = ConflictTable([0], [9], [[0], [5]], [[4], [9]])
    assert str(table).splitlines() == [
        "    x1 < low1  x1 > high1",
        "s1  undefined  x1 > 4",
        "s2  x1 < 5     undefined",
    ]


@pytest.mark.parametrize(
    ("low", "high", "lows", "highs"),
    [
        ([5], [4], [[0]], [[9]]),
        ([0], [9], [[3]], [[2]]),
        ([0], [9], [[0, 0]], [[9, 9]]),
        ([0], [9], [[0.5]], [[9]]),
        ([0], [9], [[float("nan")]], [[9]]),
        ([0], [9], [[0]], [[HIGHEST + 1]]),
    ],
)
def test_what_is_no_box_is_refused(low, high, lows, highs):
    with pytest.raises(BoxError):
        ConflictTable(low, high, lows, highs)


def test_a_table_of_checked_arrays_is_the_same_table():
    low, high, lows, highs = (np.array(each) for each in ([0, 0], [9, 9], [[2, 2]], [[7, 7]]))
    assert str(ConflictTable(low, high, lows, highs, is_checked=True)) == str(
        ConflictTable(low, high, lows, highs)
    )
