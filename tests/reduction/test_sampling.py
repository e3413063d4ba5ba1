"""Random points: how many are needed, that they are random, and that the error is what was asked for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reduction.boxes import Question, questions, random_questions, tiny_questions
from tests.reduction.references import subsumption as reference
from thatch.errors import BoxError, ParameterError
from thatch.reduction.boxes import HIGHEST, LOWEST
from thatch.reduction.probabilistic import (
    ConflictTable,
    find_probability,
    kernels,
    rspc,
    trials,
    witness_probability,
)

COVERED = [0, 0], [99, 99], [[0, 0], [40, 0], [0, 50]], [[45, 60], [99, 55], [99, 99]]
# A slit of one place in a thousand between two rows, while the literal estimate sees half of the box.
SLIT = [0], [999], [[0], [501], [490]], [[499], [999], [499]]


def slabs(gap: int, rng: np.random.Generator) -> Question:
    """Fifty slabs on the first of five axes, with a gap pushed between two of them: the paper's scenario 2.c."""
    axes, width = 5, 10_000
    ends = np.sort(rng.choice(np.arange(1_000, 9_000), 49, replace=False))
    lows, highs = np.zeros((50, axes), np.int64), np.full((50, axes), width - 1)
    lows[1:, 0], highs[:-1, 0] = ends, ends - 1
    at = int(rng.integers(10, 40))
    lows[at + 1 :, 0] = np.maximum(lows[at + 1 :, 0], ends[at] + gap)
    keep = lows[:, 0] <= highs[:, 0]
    return Question(np.zeros(axes, np.int64), np.full(axes, width - 1), lows[keep], highs[keep])


@given(questions(max_rows=10), st.booleans())
def test_what_is_certain_is_right(question: Question, literal: bool):
    rng = np.random.default_rng(3)
    verdict = rspc(*question, delta=0.1, rng=rng, literal=literal, cap=50)
    if verdict.covered and verdict.certain:
        assert reference.proves(*question, verdict.used)
    if verdict.covered is False and verdict.witness is not None:
        assert reference.is_witness(verdict.witness, *question)
    if verdict.covered is False:
        assert verdict.certain
        assert literal or verdict.witness is not None


@given(st.integers(0, 2**63))
def test_a_point_beside_the_rows_that_matter_becomes_a_witness_against_all(seed: int):
    """The point that is drawn may lie in a row that was removed."""
    rng = np.random.default_rng(seed)
    for question in zip(*random_questions(rng, 50, 4, 12, 5), strict=True):
        verdict = rspc(*question, delta=0.01, rng=rng, cap=100)
        if verdict.covered is False:
            assert reference.is_witness(verdict.witness, *question)


@given(tiny_questions(max_rows=8))
def test_the_probability_of_a_witness_is_a_lower_bound(question: Question):
    low, high, lows, highs = question
    axes = [np.arange(first, last + 1) for first, last in zip(low, high, strict=True)]
    points = np.stack(np.meshgrid(*axes), -1).reshape(-1, 1, len(low))
    for rows in (np.arange(len(lows)), ConflictTable(*question).minimised_cover.kept):
        bound = 10 ** witness_probability(low, high, lows[rows], highs[rows])
        share = 1 - ((points >= lows[rows]) & (points <= highs[rows])).all(axis=2).any(axis=1).mean()
        assert 0.999 / len(points) <= bound <= 1
        assert share == 0 or bound <= share * 1.000001


@given(questions())
def test_the_literal_probability_is_never_the_smaller_one(question: Question):
    assert witness_probability(*question, literal=True) >= witness_probability(*question) - 1e-9


@given(questions(max_rows=6))
def test_the_narrowest_gaps_are_those_of_all_pairs(question: Question):
    low, high, lows, highs = (each.tolist() for each in question)
    total = 0.0
    for axis, (first, last) in enumerate(zip(low, high, strict=True)):
        gaps = [last - first + 1]
        lowers = [row[axis] for row in lows if row[axis] > first]
        uppers = [row[axis] for row in highs if row[axis] < last]
        gaps += [lower - first for lower in lowers] + [last - upper for upper in uppers]
        gaps += [lower - upper - 1 for lower in lowers for upper in uppers if lower - upper > 1]
        total += math.log10(min(gaps) / (last - first + 1))
    assert witness_probability(*question) == pytest.approx(total, abs=1e-9)


def test_without_rows_every_point_is_a_witness():
    assert witness_probability([0], [9], [], []) == 0.0
    assert witness_probability([0], [9], [[1]], [[9]]) == -1.0


def test_trials_follow_equation_1():
    assert 10 ** trials(math.log10(0.5), 1 / 1024) == pytest.approx(10)
    assert trials(-60, 1e-10) == pytest.approx(60 + math.log10(-math.log(1e-10)))
    assert trials(-7.999999, 1e-6) == pytest.approx(trials(-8.000001, 1e-6), abs=1e-5)
    assert trials(0.0, 1e-6) == 0.0
    assert trials(math.log10(0.999), 0.5) == 0.0  # at least one


@pytest.mark.parametrize("rho", [0.0, 0.001, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("brokers", [1, 2, 10])
def test_finding_a_publication_follows_the_sum_of_equation_2(rho, brokers):
    delta = 0.01
    expected = sum(rho * ((1 - rho) * (1 - delta)) ** i for i in range(brokers))
    assert find_probability(rho, delta, brokers) == pytest.approx(expected)


def test_a_yes_by_points_is_not_certain_and_says_how_many_there_were():
    verdict = rspc(*COVERED, delta=1e-6, rng=np.random.default_rng(1))
    assert (verdict.covered, verdict.certain, verdict.decided_by) == (True, False, "rspc")
    assert verdict.used == (0, 1, 2)
    expected = 10 ** trials(witness_probability(*COVERED), 1e-6)
    assert verdict.work.trials == math.ceil(expected)


def test_a_capped_yes_says_so():
    verdict = rspc(*COVERED, delta=1e-6, rng=np.random.default_rng(1), cap=3)
    assert (verdict.covered, verdict.certain, verdict.decided_by) == (True, False, "rspc capped")
    assert verdict.work.trials == 3
    verdict = rspc(*COVERED, delta=1e-6, rng=np.random.default_rng(1), cap=1_000_000)
    assert verdict.decided_by == "rspc"


def test_a_slit_is_missed_by_the_literal_estimate_and_found_by_the_bound():
    literal = 10 ** trials(witness_probability(*SLIT, literal=True), 1e-6)
    assert 10 ** trials(witness_probability(*SLIT), 1e-6) > 20 * literal


def test_points_decide_what_the_table_cannot_and_give_a_witness():
    low, high, lows, highs = slabs(500, np.random.default_rng(2))
    verdict = rspc(low, high, lows, highs, delta=1e-10, rng=np.random.default_rng(1))
    assert (verdict.covered, verdict.decided_by) == (False, "rspc")
    assert reference.is_witness(verdict.witness, low, high, lows, highs)
    assert 1 <= verdict.work.trials < 1_000


def test_the_same_generator_gives_the_same_verdict():
    question = slabs(100, np.random.default_rng(2))
    one, other = (rspc(*question, delta=1e-6, rng=np.random.default_rng(8)) for _ in range(2))
    assert one.work == other.work
    assert np.array_equal(one.witness, other.witness)


def test_points_are_spread_evenly_over_the_box():
    low, high = np.array([0, -5, LOWEST]), np.array([9, 5, HIGHEST])
    nothing, rows = np.zeros((0, 3), np.int64), np.zeros(0, np.int64)
    state, drawn = np.array([7], np.uint64), np.empty((20_000, 3), np.int64)
    for point in drawn:
        assert kernels.guess(state, low, high, nothing, nothing, rows, 1, point) == (1, True)
    assert np.abs(np.bincount(drawn[:, 0], minlength=10) - 2_000).max() < 250
    assert np.abs(np.bincount(drawn[:, 1] + 5, minlength=11) - 20_000 / 11).max() < 250
    eighths = (drawn[:, 2] - LOWEST) >> 59
    assert np.abs(np.bincount(eighths, minlength=8) - 2_500).max() < 250
    assert abs(np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1]) < 0.03
    assert abs((drawn[:, 2] & 1).mean() - 0.5) < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.2, 0.02])
def test_the_error_stays_within_what_was_asked_for(delta):
    """Scenario 2.c with narrow gaps: every box is uncovered, so each yes is an error."""
    rng = np.random.default_rng(11)
    runs = 3_000
    wrong = sum(
        bool(rspc(*slabs(int(rng.integers(2, 60)), rng), delta=delta, rng=rng).covered) for _ in range(runs)
    )
    assert wrong <= runs * delta + 4 * math.sqrt(runs * delta)


@pytest.mark.parametrize("delta", [0, 1, -0.1, 1.5, math.nan])
def test_an_error_that_is_none_is_refused(delta):
    rng = np.random.default_rng(0)
    for refused in (
        lambda: rspc(*COVERED, delta=delta, rng=rng),
        lambda: trials(-1.0, delta),
        lambda: find_probability(0.5, delta, 3),
    ):
        with pytest.raises(ParameterError, match="delta"):
            refused()
    assert rng.bit_generator.state == np.random.default_rng(0).bit_generator.state


@pytest.mark.parametrize("cap", [0, -3, 2.5])
def test_a_cap_below_one_is_refused(cap):
    with pytest.raises(ParameterError, match="cap"):
        rspc(*COVERED, delta=0.1, rng=np.random.default_rng(0), cap=cap)


def test_other_parameters_out_of_range_are_refused():
    with pytest.raises(ParameterError, match="log_rho"):
        trials(0.5, 0.1)
    with pytest.raises(ParameterError, match="rho"):
        find_probability(1.5, 0.1, 3)
    with pytest.raises(ParameterError, match="brokers"):
        find_probability(0.5, 0.1, 0)
    with pytest.raises(BoxError):
        rspc([5], [4], [[0]], [[9]], delta=0.1, rng=np.random.default_rng(0))
    with pytest.raises(BoxError):
        witness_probability([0], [4], [[9]], [[0]])
