"""The worked examples of ouksel2006 (Ouksel et al. 2006), with the paper's answers.

Tables 2, 5 and 6 are given there as predicates, and drawn as figures 1, 2 and 3; tables 4 and 7 are conflict tables.
Reconstructed: the text at hand has lost the figures themselves; what they show is taken from the tables beside them and
from the sentences about them. The point P of figure 2 has no numbers in the text: any point of the rectangle will do.
Table 1 has no question to answer, and table 3 lists symbols.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.reduction.references import subsumption as reference
from tests.reduction.references.conflict_table import has_polyhedron_witness
from thatch.reduction.branch_and_bound import decide
from thatch.reduction.probabilistic import ConflictTable, find_probability, rspc, trials

# (x1 low, x2 low), (x1 high, x2 high)
TABLE_2 = ([830, 1003], [870, 1006], [[820, 1001], [840, 1002]], [[850, 1007], [880, 1009]])
TABLE_5 = ([830, 1003], [890, 1006], [[820, 1002], [840, 1001]], [[850, 1009], [870, 1007]])
TABLE_6 = (
    [830, 1003],
    [870, 1006],
    [[820, 1001], [840, 1002], [810, 1004]],
    [[850, 1007], [880, 1009], [890, 1005]],
)
TABLE_4 = """
    x1 < low1  x1 > high1  x2 < low2  x2 > high2
s1  undefined  x1 > 850    undefined  undefined
s2  x1 < 840   undefined   undefined  undefined
"""
TABLE_7 = """
    x1 < low1  x1 > high1  x2 < low2  x2 > high2
s1  undefined  x1 > 850    undefined  undefined
s2  x1 < 840   undefined   undefined  undefined
s3  undefined  undefined   x2 < 1004  x2 > 1005
"""


def arrays(table):
    return tuple(np.array(each, np.int64) for each in table)


def test_figure_1_neither_subscription_covers_alone_but_their_union_does():
    low, high, lows, highs = TABLE_2
    for row in range(2):
        assert decide(low, high, lows[row : row + 1], highs[row : row + 1]).covered is False
    verdict = decide(*TABLE_2)
    assert (verdict.covered, verdict.used) == (True, (0, 1))
    assert reference.points(*arrays(TABLE_2)).covered


def test_table_4_is_the_conflict_table_of_table_2():
    table = ConflictTable(*TABLE_2)
    assert str(table) == TABLE_4.strip("\n")
    assert table.counts.tolist() == [1, 1]


def test_table_2_is_left_to_random_points_which_find_it_covered():
    assert ConflictTable(*TABLE_2).decide() is None
    verdict = rspc(*TABLE_2, delta=1e-10, rng=np.random.default_rng(1))
    assert (verdict.covered, verdict.certain, verdict.decided_by) == (True, False, "rspc")


def test_figure_2_has_a_rectangle_of_witnesses_beyond_870():
    verdict = decide(*TABLE_5)
    assert verdict.covered is False
    assert 870 < verdict.witness[0] <= 890
    assert has_polyhedron_witness(*arrays(TABLE_5))
    for x1 in range(830, 891):
        for x2 in range(1003, 1007):
            assert reference.is_witness(np.array([x1, x2]), *arrays(TABLE_5)) == (x1 > 870)


def test_table_5_is_decided_without_random_points():
    verdict = rspc(*TABLE_5, delta=1e-10, rng=np.random.default_rng(1))
    assert (verdict.covered, verdict.certain, verdict.work.trials) == (False, True, 0)
    assert verdict.witness[0] > 870


def test_table_7_is_the_conflict_table_of_table_6():
    table = ConflictTable(*TABLE_6)
    assert str(table) == TABLE_7.strip("\n")
    assert table.counts.tolist() == [1, 1, 2]


def test_figure_3_only_the_entries_of_the_third_subscription_are_free_of_conflict():
    assert ConflictTable(*TABLE_6).free_counts.tolist() == [0, 0, 2]


@pytest.mark.parametrize("literal", [False, True])
def test_the_minimised_cover_set_of_table_6_is_the_first_two(literal):
    reduced = ConflictTable(*TABLE_6, literal=literal).minimised_cover
    assert reduced.kept.tolist() == [0, 1]
    assert reduced.removed.tolist() == [2]


def test_table_6_is_covered_and_the_third_subscription_is_not_needed():
    verdict = decide(*TABLE_6)
    assert (verdict.covered, verdict.used) == (True, (0, 1))
    by_points = rspc(*TABLE_6, delta=1e-10, rng=np.random.default_rng(1))
    assert (by_points.covered, by_points.used) == (True, (0, 1))


def test_corollary_2_a_row_with_every_entry_lies_inside():
    table = ConflictTable([0, 0], [9, 9], [[2, 2]], [[7, 7]])
    assert table.counts.tolist() == [4]
    assert decide([2, 2], [7, 7], [[0, 0]], [[9, 9]]).covered


def test_equation_1_needs_more_points_for_smaller_errors():
    needed = [trials(-3.0, delta) for delta in (1e-3, 1e-6, 1e-10)]
    assert needed == sorted(needed)
    assert 10 ** needed[0] == pytest.approx(6904.3, rel=1e-4)


def test_equation_2_tends_to_certainty_on_long_chains_without_errors():
    assert find_probability(0.2, 1e-12, 100) == pytest.approx(1.0, abs=1e-9)
    assert find_probability(0.2, 0.5, 100) == pytest.approx(0.2 / 0.6)
