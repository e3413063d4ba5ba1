"""The paper's merging and covering against slow definitions; its experiments in quick size, and the shapes that they show."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thatch.experiments.li2005 import EXPERIMENTS
from thatch.experiments.li2005.cache import CACHE, Relations
from thatch.experiments.li2005.covering import remove_covered
from thatch.experiments.li2005.insertion import FIG13
from thatch.experiments.li2005.merging import Advertised, advertisements, diagrams_of, merge_table, mergers_in
from thatch.experiments.li2005.policies import POLICIES
from thatch.experiments.li2005.routing import TABLE2
from thatch.experiments.li2005.setting import SHAPES, subscriptions_of
from thatch.experiments.li2005.tables import FIG12, RANDOM_ORDER, STAGES, share_of
from thatch.experiments.li2005.thresholds import FIG14, FIG15
from thatch.experiments.running import run_trial
from thatch.experiments.trials import Trial
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.lines import covers
from thatch.model.selectivity import Selectivity
from thatch.reduction.merging import ExpectedTraffic
from thatch.workloads.li2005 import (
    AT_LEAST,
    AT_MOST,
    ATTRIBUTES,
    EQUAL,
    NAMES,
    UNEQUAL,
    IndependentPredicates,
    Predicates,
    Template,
    draw_subscriptions,
)

pytestmark = pytest.mark.xdist_group("papers")

COMPARISONS = (0.2, 0.2, 0.2, 0.2, 0.2, 0.0)
FEW_VALUES = st.builds(
    lambda seed, count, shape: draw_subscriptions(np.random.default_rng(seed), count, shape),
    st.integers(0, 2**32),
    st.integers(1, 14),
    st.sampled_from(
        [
            Template(values=6, tails=2, tail_size=2, top=COMPARISONS),
            Template(values=8, tails=1, tail_size=1, top=(0.1, 0.1, 0.6, 0.1, 0.1, 0.0)),
            IndependentPredicates(values=4, sizes=(1, 2), operators=COMPARISONS),
        ]
    ),
)


def table_of(values: int, *rows: str) -> Predicates:
    """A table of subscriptions as text, such as `a00 < 3 and a12 = 4`."""
    operators = {text: place for place, text in enumerate(("<", "<=", "=", ">=", ">", "!="))}
    found = [[part.split() for part in row.split(" and ")] for row in rows]
    sides = [side for row in found for side in row]
    return Predicates(
        values=values,
        offsets=np.cumsum([0, *map(len, found)]),
        attribute=np.array([NAMES.index(key) for key, _, _ in sides]),
        operator=np.array([operators[by] for _, by, _ in sides]),
        value=np.array([int(value) for _, _, value in sides]),
    )


def table_of_trial(trial: Trial) -> Predicates:
    parameters = dict(trial.parameters)
    return subscriptions_of(trial.seed, parameters["shape"], parameters["count"], parameters["scale"])


# --- covering ------------------------------------------------------------------------------------------------------------


@given(FEW_VALUES)
def test_what_no_other_covers_is_left(table):
    filters = table.filters()
    expected = [
        text
        for place, (text, own) in enumerate(zip(table.texts(), filters, strict=True))
        if not any(
            other.covers(own) and (before < place or not own.covers(other))
            for before, other in enumerate(filters)
            if before != place
        )
    ]
    left = remove_covered(table)
    assert sorted(map(str, left.filters())) == sorted(
        str(parse(text, schema=table.schema)) for text in expected
    )


def test_all_values_but_one_are_covered_by_their_like_and_by_all():
    table = table_of(9, "a00 != 3 and a12 <= 4", "a00 != 3 and a12 <= 7", "a00 != 4 and a12 <= 7", "a00 = 3")
    assert remove_covered(table).texts() == ["a00 != 3 and a12 <= 7", "a00 != 4 and a12 <= 7", "a00 = 3"]
    table = table_of(9, "a00 != 3 and a12 <= 4", "a00 >= 0 and a12 <= 7")
    assert remove_covered(table).texts() == ["a00 >= 0 and a12 <= 7"]


# --- merging -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "threshold", "merger"),
    [
        ("a00 < 4", "a00 = 4", 0.0, "a00 <= 4"),
        ("a00 > 4", "a00 = 4", 0.0, "a00 >= 4"),
        ("a00 < 4", "a00 > 4", 0.0, "a00 != 4"),
        ("a00 <= 5", "a00 >= 3", 0.0, "a00 >= 0"),
        ("a00 <= 5", "a00 >= 6", 0.0, "a00 >= 0"),
        ("a00 < 3", "a00 > 6", 0.4, "a00 >= 0"),
        ("a00 < 3", "a00 = 6", 0.3, "a00 <= 6"),
        ("a00 > 6", "a00 = 3", 0.3, "a00 >= 3"),
    ],
)
def test_the_rules_of_section_5_and_table_1(first, second, threshold, merger):
    table = table_of(10, first, second)
    assert merge_table(table, threshold, Advertised(10)).texts() == [merger]
    if threshold:
        assert len(merge_table(table, threshold - 0.01, Advertised(10))) == 2


def test_the_example_of_section_5_with_advertisements():
    # Above 150 nothing but what is advertised comes: =120, =130 and >150 become >=120 at no cost.
    table = table_of(200, "a01 > 150", "a01 = 130", "a01 = 120")
    lows, highs = np.zeros((1, ATTRIBUTES), np.int64), np.full((1, ATTRIBUTES), 199)
    lows[0, 1] = 151
    assert len(merge_table(table, 0.0, Advertised(200))) == 3
    assert merge_table(table, 0.0, Advertised(200, lows, highs)).texts() == ["a01 >= 120"]


def test_only_what_differs_in_the_topmost_predicate_is_merged():
    table = table_of(
        9, "a00 < 4 and a12 = 4", "a00 = 4 and a12 = 4", "a00 = 5 and a12 = 5", "a00 = 5 and a12 < 5"
    )
    assert merge_table(table, 0.0, Advertised(9)).texts() == [
        "a00 <= 4 and a12 = 4",
        "a00 = 5 and a12 = 5",
        "a00 = 5 and a12 < 5",
    ]
    upside_down = merge_table(table, 0.0, Advertised(9), range(ATTRIBUTES)[::-1])
    assert sorted(upside_down.texts()) == [
        "a00 < 4 and a12 = 4",
        "a00 = 4 and a12 = 4",
        "a00 = 5 and a12 <= 5",
    ]


@given(FEW_VALUES, st.sampled_from([0.0, 0.05, 0.2, 1.0]), st.sampled_from([1.0, 0.5, 0.25]))
def test_a_merger_covers_its_parts_at_the_cost_that_definition_2_gives(table, threshold, share):
    left = remove_covered(table)
    expected = advertisements(table.values, share)
    traffic = ExpectedTraffic(
        Selectivity(None, table.schema), [advert.conjunctions[0] for advert in _texts_of(expected, table)]
    )
    filters = left.filters()
    seen = []
    for diagram in diagrams_of(left):
        tail = [f" and {NAMES[key]} between {low} and {high}" for key, low, high in diagram.tail]
        for merger in mergers_in(diagram, threshold, expected):
            seen += merger.parts
            operator = {AT_MOST: "<=", AT_LEAST: ">=", EQUAL: "=", UNEQUAL: "!="}[merger.operator]
            text = f"{NAMES[merger.attribute]} {operator} {merger.value}{''.join(tail)}"
            around = parse(text, schema=table.schema)
            parts = [filters[part] for part in merger.parts]
            assert all(around.covers(part) for part in parts)
            whole, *held = (dict(each.conjunctions[0].constraints) for each in (around, *parts))
            degree = traffic.degree_beyond(whole, held)
            assert merger.cost == pytest.approx(degree.threshold, abs=1e-9)
            assert merger.cost <= threshold + 1e-9
    assert sorted(seen) == list(range(len(left)))


def _texts_of(expected: Advertised, table: Predicates) -> list[Filter]:
    return [
        parse(
            " and ".join(
                f"{key} between {low} and {high}" for key, low, high in zip(NAMES, lows, highs, strict=True)
            ),
            schema=table.schema,
        )
        for lows, highs in zip(expected.lows.tolist(), expected.highs.tolist(), strict=True)
    ]


@given(FEW_VALUES, st.integers(0, 2**32))
def test_perfect_merging_changes_nothing_that_matches(table, seed):
    after = merge_table(remove_covered(table), 0.0, Advertised(table.values)).filters()
    before = table.filters()
    events = np.random.default_rng(seed).integers(0, table.values, (8, ATTRIBUTES))
    for event in events.tolist():
        point = dict(zip(NAMES, event, strict=True))
        assert any(each.matches(point) for each in after) == any(each.matches(point) for each in before)


def test_weights_are_shares_of_all_publications():
    expected = advertisements(8, 0.5)
    tail = ((1, 2, 5), (12, 0, 1))
    # Of 8 values of a00 all come; of a01 the lower half, of which 2 and 3 are in the tail; of a12 two of eight.
    assert expected.weights(0, tail) == pytest.approx([1 / 8 * 2 / 4 * 2 / 8] * 8)
    assert expected.weights(2, tail) == pytest.approx([*[1 / 4 * 2 / 4 * 2 / 8] * 4, *[0.0] * 4])


# --- predicates ----------------------------------------------------------------------------------------------------------


@given(st.permutations(list(product(("<", "=", ">=", "!="), (1, 2)))))
def test_remembered_relations_are_those_that_comparing_finds(chosen):
    relations = Relations()
    known = []
    for variable, (operator, value) in enumerate(chosen):
        constraint = parse(f"x {operator} {value}").conjunctions[0].constraints[0][1]
        known.append((variable, "x", constraint))
        relations.look_up(known[-1])
        for predicate in known:
            above, below = relations.look_up(predicate)
            expected = [other for other, _, constraint in known if covers(constraint, predicate[2])]
            assert sorted(above) == expected
            assert tuple(map(sorted, relations.compare(predicate))) == (sorted(above), sorted(below))
    assert len(relations) == len(chosen)


# --- experiments ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_each_step_leaves_fewer_and_independent_predicates_leave_nothing_to_merge(ran):
    results = ran(FIG12)
    for shape in ("A", "B", "A, tails of =", "B, tails of ="):
        shares = [share_of(results, stage, shape=shape) for stage in STAGES]
        assert shares == sorted(shares, reverse=True)
        assert len(set(shares)) == 4
    assert share_of(results, "covering", shape="A") < share_of(results, "covering", shape="B")
    for shape in ("A, independent", "B, independent"):
        covering, imperfect = (share_of(results, stage, shape=shape) for stage in ("covering", "imperfect"))
        assert covering - imperfect < 0.005


@pytest.mark.slow
def test_a_random_order_leaves_more_diagrams_and_a_larger_table(ran):
    results = ran(RANDOM_ORDER)
    for shape, name in product(("A", "B"), ("size", "diagrams")):
        given, random = (
            results.mean(name, shape=shape, order=order, stage="perfect") for order in ("given", "random")
        )
        assert given < random


@pytest.mark.slow
def test_diagrams_and_the_naive_scan_find_the_same(ran):
    results = ran(TABLE2)
    assert results.total("differ") == 0
    for shape in results.choices("shape"):
        nodes = [results.mean("nodes", shape=shape, stage=stage) for stage in STAGES]
        assert nodes == sorted(nodes, reverse=True)
    assert results.mean("matches", shape="A", stage="none") > 10


@pytest.mark.slow
def test_one_phase_evaluates_fewer_nodes_and_finds_what_no_other_covers(ran):
    results = ran(FIG13)
    for shape, way in product(("A", "B"), ("pass", "walk")):
        one, two = (results.mean(name, shape=shape, way=way) for name in ("one_nodes", "two_nodes"))
        assert one < (0.75 if way == "pass" else 1.0) * two
    trial = next(trial for trial in FIG13.quick if ("shape", "A") in trial.parameters)
    left = remove_covered(table_of_trial(trial))
    assert results.values("size", shape="A", way="pass").tolist()[-1] == len(left)


@pytest.mark.slow
def test_every_predicate_is_known_once(ran):
    results = ran(CACHE)
    for trial in CACHE.quick:
        table = table_of_trial(trial)
        shape = dict(trial.parameters)["shape"]
        assert results.values("known", shape=shape).max() == len(np.unique(table.numbers))


@pytest.mark.slow
def test_tables_shrink_with_the_threshold_and_with_advertisements_at_none(ran):
    results = ran(FIG14)
    for advertised in (1.0, 0.25):
        sizes = results.values("size", advertised=advertised).tolist()
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[0] > sizes[-1]
    first = {share: results.mean("size", threshold=0.0, advertised=share) for share in (1.0, 0.25)}
    assert first[0.25] < first[1.0]


@pytest.mark.slow
def test_nothing_is_lost_and_more_is_let_through_with_the_threshold(ran):
    results = ran(FIG15)
    for shape in ("A", "B", "A, tails of ="):
        let_through = results.values("let_through", shape=shape).tolist()
        assert let_through == sorted(let_through)
        assert let_through[0] == results.values("wanted", shape=shape)[0]
        assert let_through[-1] > let_through[0]
    assert results.mean("let_through", shape="A", threshold=0.1) < 1.05 * results.mean("wanted", shape="A")


@pytest.mark.slow
def test_the_policy_leaves_about_as_much_as_the_papers_merging(ran):
    results = ran(POLICIES)
    for shape, threshold in product(("A", "B, tails of ="), (0.0, 0.1)):
        where = {"shape": shape, "threshold": threshold}
        assert results.mean("size", **where) < results.mean("covered", **where)
        assert results.mean("size", **where) < 1.2 * results.mean("paper_size", **where)


@pytest.mark.slow
@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda each: each.name)
def test_every_experiment_is_compared_with_the_papers_values(ran, experiment):
    lines = list(experiment.compare(ran(experiment)))
    assert any(line.ours is not None for line in lines)
    assert all(line.paper for line in lines)


def test_a_trial_is_the_same_again():
    trial = next(iter(FIG12.quick))
    first, second = (run_trial(FIG12.simulation, trial) for _ in range(2))
    assert [{**row, "seconds": 0} for row in first] == [{**row, "seconds": 0} for row in second]
    assert "error" not in first[0]
    assert set(SHAPES) == {dict(each.parameters)["shape"] for each in FIG12.quick}
