"""The slow answers agree with each other, and with what can be seen by eye."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tests.reduction.boxes import Question, many_axes, questions, tiny_questions
from tests.reduction.references import subsumption as reference


def boxes(*rows):
    return np.array([row[0] for row in rows], np.int64), np.array([row[1] for row in rows], np.int64)


LOW, HIGH = np.array([0, 0]), np.array([9, 9])
HALVES = boxes(([0, 0], [4, 9]), ([5, 0], [9, 9]))
APART = boxes(([0, 0], [4, 9]), ([6, 0], [9, 9]))


@pytest.mark.parametrize("way", [reference.grid, reference.points, reference.subtraction])
def test_two_halves_cover_and_a_gap_between_them_does_not(way):
    verdict = way(LOW, HIGH, *HALVES)
    assert verdict.covered
    assert verdict.used == (0, 1)
    verdict = way(LOW, HIGH, *APART)
    assert verdict.covered is False
    assert verdict.witness[0] == 5


@pytest.mark.parametrize("way", [reference.grid, reference.points, reference.subtraction])
def test_without_rows_the_box_is_not_covered(way):
    verdict = way(LOW, HIGH, np.zeros((0, 2), np.int64), np.zeros((0, 2), np.int64))
    assert verdict.covered is False
    assert reference.is_witness(verdict.witness, LOW, HIGH, *HALVES) is False


def test_a_proof_needs_the_rows_that_it_names():
    assert reference.proves(LOW, HIGH, *HALVES, (0, 1))
    assert not reference.proves(LOW, HIGH, *HALVES, (0,))
    assert not reference.proves(LOW, HIGH, *HALVES, (0, 0, 1))
    assert not reference.proves(LOW, HIGH, *HALVES, (0, 1, 2))


def test_a_witness_lies_in_the_box_and_in_no_row():
    assert reference.is_witness(np.array([5, 3]), LOW, HIGH, *APART)
    assert not reference.is_witness(np.array([4, 3]), LOW, HIGH, *APART)
    assert not reference.is_witness(np.array([5, 10]), LOW, HIGH, *APART)
    assert not reference.is_witness(np.array([5]), LOW, HIGH, *APART)


@given(tiny_questions())
def test_cells_points_and_pieces_agree(question: Question):
    by_points = reference.points(*question)
    for way in (reference.grid, reference.subtraction):
        verdict = way(*question)
        assert verdict.covered == by_points.covered
        if verdict.covered is False:
            assert reference.is_witness(verdict.witness, *question)


@given(questions())
def test_cells_and_pieces_agree_on_any_labels(question: Question):
    assert reference.grid(*question).covered == reference.subtraction(*question).covered


@given(many_axes(max_axes=6, max_rows=6))
def test_cells_and_pieces_agree_on_more_axes(question: Question):
    assert reference.grid(*question).covered == reference.subtraction(*question).covered
