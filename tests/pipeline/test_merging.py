"""Merging on Spark: nothing that anybody wants is lost, and little more is let through than the budget allows."""

from __future__ import annotations

import json
from math import comb
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import thatch
from tests.examples import examples
from tests.pipeline.test_reducing import DECLARED, DERIVED, PLAIN, SCHEMA, sets_of
from thatch.engine import container
from thatch.errors import ParameterError, SubscriptionError, TableError
from thatch.model.selectivity import Selectivity
from thatch.pipeline import SharedIndex, merge
from thatch.pipeline.tasks import SharedFile, load_arrays
from thatch.pipeline.transforms.events import KEY, EventReader
from thatch.pipeline.transforms.merging.closing import join_filters
from thatch.pipeline.transforms.merging.describing import (
    ROUNDS,
    choose_tails,
    combine_pieces,
    describe_filters,
)
from thatch.pipeline.transforms.merging.frontier import (
    GapCounts,
    choose_gaps,
    estimate_costs,
    fewest_trials,
    most_allowed,
    order_gaps,
    upper_bound,
)
from thatch.pipeline.transforms.merging.gaps import COMPONENTS, GROUPED, join_groups
from thatch.pipeline.transforms.merging.measuring import HELD, combine_sums, look_at_events, sum_by_rank
from thatch.pipeline.transforms.reducing.pieces import INPUT

on_spark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark")]

VALUES = {
    "x": [0, 1, 4, 5, 8.5, 9, 12, None, "a"],
    "y": [0, 3, 5, 10, None, True],
    "z": [0, 6, 11, True, False, None],
    "t": ["", "a", "ab", "AB", "aXb", "b", "é", "z", 3],
    "n": [0, 1, 5, 19, 20],
    "s": ["buy", "sell", "hold", None],
}
EVENTS = st.lists(
    st.fixed_dictionaries({}, optional={key: st.sampled_from(each) for key, each in VALUES.items()}),
    min_size=1,
    max_size=12,
)


# --- merging in this process, with the tasks' own code ---------------------------------------------------------------


def told_of(filters: list[str], schema: thatch.Schema | None = None, parts: int = 2) -> list[dict]:
    """The components of filters, as tasks tell them that share the rows in some way."""
    count = len(filters)
    nothing = [None] * count
    columns = [
        list(range(count)),
        [f"s{number}" for number in range(count)],
        nothing,
        filters,
        nothing,
        nothing,
    ]
    batch = pa.record_batch(
        [pa.array(*each) for each in zip(columns, INPUT.types, strict=True)], schema=INPUT
    )
    dealt = [batch.take(pa.array(range(part, count, parts), pa.int64())) for part in range(parts)]
    pieces = [piece for some in dealt for piece in describe_filters(schema, iter([some]))]
    known = combine_pieces(pa.Table.from_batches(pieces))
    assert known.rows.tolist() == list(range(count))
    order = np.lexsort((known.rows, known.groups))
    taken = batch.take(pa.array(order))
    grouped = pa.record_batch([*taken.columns, pa.array(known.groups[order])], schema=GROUPED)
    selectivity = Selectivity(None, schema, named=known.named)
    return pa.Table.from_batches(join_groups(schema, selectivity, iter([grouped])), COMPONENTS).to_pylist()


def members(row: dict) -> list[str]:
    return row["parts"] or [row["subscription"]]


@given(filters=sets_of(st.one_of(PLAIN, DERIVED)), events=EVENTS)
@examples(30)
def test_what_is_merged_without_gaps_wants_exactly_what_its_parts_want(filters, events):
    assert_exact(filters, events, None)


@pytest.mark.slow
@given(filters=sets_of(DECLARED, SCHEMA), events=EVENTS)
@examples(30)
def test_declared_lines_are_merged_exactly_too(filters, events):
    assert_exact(filters, events, SCHEMA)


def assert_exact(filters: list[str], events: list[dict], schema: thatch.Schema | None) -> None:
    told = told_of(filters, schema)
    assert sorted(part for row in told for part in members(row)) == sorted(
        f"s{number}" for number in range(len(filters))
    )
    for row in told:
        parts = [thatch.parse(filters[int(part[1:])], schema) for part in members(row)]
        merger = thatch.parse(row["filter"], schema)
        for event in events:
            assert merger.matches(event) == any(part.matches(event) for part in parts)


@given(filters=sets_of(PLAIN), events=EVENTS)
@examples(30)
def test_a_closed_gap_lets_through_what_its_filter_says_and_nothing_else(filters, events):
    before = None
    for row in told_of(filters):
        if row["gap"] is not None:
            both = thatch.parse(join_filters([before, row], None))
            alone = [thatch.parse(each) for each in (before["filter"], row["filter"], row["gap"])]
            for event in events:
                assert both.matches(event) == any(each.matches(event) for each in alone)
            assert 0 <= row["mass"] <= 1
        before = row


@pytest.mark.slow
@given(filters=sets_of(st.one_of(PLAIN, DERIVED)), parts=st.integers(1, 4))
@examples(30)
def test_components_do_not_depend_on_who_holds_which_rows(filters, parts):
    assert told_of(filters, parts=parts) == told_of(filters, parts=1)


@pytest.mark.parametrize(
    ("filters", "merged"),
    [
        (["k = 1 and x < 5", "k = 1 and x = 5"], ["k = 1 and x <= 5"]),
        (["k = 1 and x < 5", "k = 1 and x > 5"], ["k = 1 and x != 5"]),
        (["k = 1 and x != 5", "k = 1 and x = 5"], ["k = 1 and x <= infinity"]),
        (["x between 1 and 5", "x between 3 and 8", "x between 8 and 9"], ["x between 1 and 9"]),
        (["x < 5", "x > 5 and y = 1"], ["x < 5", "x > 5 and y = 1"]),
        (["exists(x)", "x is missing"], ["true"]),
        (["x = 1 or y = 2", "x = 1 or y = 3"], ["x = 1 or y = 2", "x = 1 or y = 3"]),
        (["x in (1, 5) and y = 1", "x in (1, 5) and y < 1"], ["x in (1, 5) and y <= 1"]),
    ],
)
def test_the_perfect_mergers_of_the_paper_are_found(filters, merged):
    assert sorted(row["filter"] for row in told_of(filters)) == sorted(merged)


def test_integers_that_are_declared_touch_their_neighbours():
    told = told_of(["n <= 4", "n = 5", "n = 7"], SCHEMA)
    assert [(row["filter"], row["parts"], row["gap"]) for row in told] == [
        ("n <= 5", ["s0", "s1"], None),
        ("n = 7", [], "n = 6"),
    ]
    assert told[1]["mass"] == pytest.approx(1 / 21)


def test_a_gap_between_a_number_and_a_text_stays_open():
    told = told_of(["x = 1", "x = 3", "x = 'a'", "x = 'c'"])
    assert [(row["filter"], row["gap"]) for row in told] == [
        ("x = 1", None),
        ("x = 3", "(x > 1 and x < 3)"),
        ("x = 'a'", None),
        ("x = 'c'", "(x > 'a' and x < 'c')"),
    ]


# --- who is merged with whom -----------------------------------------------------------------------------------------


@given(st.lists(st.lists(st.integers(-3, 6), max_size=4, unique=True), max_size=12), st.randoms())
@examples(40)
def test_rows_choose_the_tail_that_most_share_whatever_their_order(tails, random):
    pairs = [(row, tail) for row, own in enumerate(tails) for tail in own]
    random.shuffle(pairs)
    owners, numbers = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    choice, is_grouped = choose_tails(owners, numbers, len(tails))
    found = {row: int(choice[row]) for row in np.flatnonzero(is_grouped).tolist()}
    assert found == reference_tails(dict(enumerate(tails)))


def reference_tails(tails: dict[int, list[int]]) -> dict[int, int]:
    """What `choose_tails` chooses, by its definition: sets of rows that shrink; rows that stay single are left out."""
    chosen: dict[int, int] = {}
    for _ in range(ROUNDS):
        left = {row: own for row, own in tails.items() if row not in chosen}
        rows_of: dict[int, list[int]] = {}
        for row, own in left.items():
            for tail in own:
                rows_of.setdefault(tail, []).append(row)
        wanted: dict[int, list[int]] = {}
        for row, own in left.items():
            if own:
                best = min(own, key=lambda tail: (-len(rows_of[tail]), tail))
                if len(rows_of[best]) > 1:
                    wanted.setdefault(best, []).append(row)
        for tail, rows in wanted.items():
            if len(rows) > 1:
                chosen.update(dict.fromkeys(rows, tail))
    return chosen


# --- how likely values are -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_values_that_subscriptions_name_do_not_depend_on_how_the_work_is_split():
    texts = [f"x < {number / 2} and t = 't{number}'" for number in range(3_000)]
    nothing = [None] * len(texts)
    columns = [list(range(len(texts))), [f"s{text}" for text in texts], nothing, texts, nothing, nothing]
    batch = pa.record_batch(
        [pa.array(*each) for each in zip(columns, INPUT.types, strict=True)], schema=INPUT
    )

    def named(parts: int) -> dict:
        dealt = [batch.take(pa.array(range(part, 3_000, parts))) for part in range(parts)]
        pieces = [piece for some in dealt for piece in describe_filters(None, iter([some]))]
        return combine_pieces(pa.Table.from_batches(pieces)).named

    whole, split = named(1), named(3)
    for key in ("x", "t"):
        assert whole[key].points == split[key].points
        assert whole[key].singles == split[key].singles
        assert len(whole[key].points) <= 258
    side = thatch.parse("x >= 500 and x < 1000").conjunctions[0].constraints[0]
    assert Selectivity(named=whole).upper(*side) == pytest.approx(500 / 1499.5, rel=0.01)


# --- bounds and choices ----------------------------------------------------------------------------------------------


@given(trials=st.integers(1, 60), data=st.data())
@examples(30)
def test_the_upper_bound_is_where_so_few_become_unlikely(trials, data):
    count = data.draw(st.integers(0, trials))
    bound = upper_bound(count, trials)
    if count == trials:
        assert bound == 1.0
        return
    so_few = sum(
        comb(trials, each) * bound**each * (1 - bound) ** (trials - each) for each in range(count + 1)
    )
    assert so_few == pytest.approx(0.05, rel=1e-6)
    assert most_allowed(trials, bound + 1e-9) >= count
    assert most_allowed(trials, bound - 1e-9) < count


def test_bounds_of_large_logs_and_of_none():
    assert upper_bound(0, 1_000_000) == pytest.approx(2.9957e-6, rel=1e-3)
    assert upper_bound(20_000, 1_000_000) == pytest.approx(0.02 + 1.645 * 0.00014, rel=1e-3)
    assert upper_bound(0, 0) == 1.0
    assert most_allowed(1_000_000, 0.0) == -1
    assert most_allowed(10, 1.0) == 10
    assert fewest_trials(0.02) == 149  # 0.98 ** 149 is the first power that is at most 0.05


@pytest.mark.slow
@given(
    inside=st.lists(st.tuples(st.booleans(), st.sets(st.integers(0, 5), max_size=3)), max_size=60),
    masses=st.lists(st.floats(0, 0.2), min_size=6, max_size=6),
    budget=st.sampled_from([0.0, 0.05, 0.3, 0.6, 1.0]),
)
@examples(40)
def test_the_frontier_is_that_of_counting_anew_for_every_choice(inside, masses, budget):
    mass, rows = np.array(masses), np.arange(6)
    trained, held = ([own for half, own in inside if half == which] for which in (False, True))
    counts = np.array([sum(gap in own for own in trained) for gap in rows])
    costs = estimate_costs(counts, mass, len(trained))
    order = order_gaps(costs, rows)
    halves = [by_rank(own, order) for own in (trained, held)]
    found = choose_gaps(costs[order], 10, budget, *halves)
    sets = [set(order[:closed].tolist()) for closed in range(7)]
    table = found.table().to_pylist()
    for row in table:
        closed = sets[row["closed"]]
        assert row["size"] == 10 - row["closed"]
        assert row["estimated"] == pytest.approx(sum(costs[gap] for gap in closed))
        if held:
            assert row["measured"] == sum(bool(closed & own) for own in held) / len(held)
            assert row["measured_sum"] == sum(len(closed & own) for own in held) / len(held)
    assert [row["closed"] for row in table if row["chosen"]] == [found.closed]
    allowed = [closed for closed in range(7) if is_allowed(sets[closed], trained, held, costs, budget)]
    assert found.closed == (max(allowed) if budget else 0)


def by_rank(events: list[set[int]], order: np.ndarray) -> GapCounts:
    ranked = [sorted(order.tolist().index(gap) for gap in own) for own in events]
    first = np.bincount([own[0] for own in ranked if own], minlength=6)
    return GapCounts(len(events), first, np.bincount([each for own in ranked for each in own], minlength=6))


def is_allowed(closed: set[int], trained: list, held: list, costs: np.ndarray, budget: float) -> bool:
    """By the definition: the first half says how far to go, the second must prove it."""
    if not closed:
        return True
    if not trained and not held:
        return sum(costs[gap] for gap in closed) <= budget + 1e-12
    in_vain = [sum(bool(closed & own) for own in half) for half in (trained, held)]
    return in_vain[0] <= budget * len(trained) and upper_bound(in_vain[1], len(held)) <= budget


@pytest.mark.parametrize("budget", [-0.1, 1.5, float("nan"), True, "much"])
def test_a_budget_is_a_share(budget):
    with pytest.raises(ParameterError, match="a share of events between 0 and 1"):
        merge(None, budget=budget)


# --- what a log says, with the tasks' own code ------------------------------------------------------------------------


def index_here(path: Path, filters: list[str]) -> SharedIndex:
    engine = thatch.Engine()
    for number, text in enumerate(filters):
        engine.subscribe(str(number), text)
    engine.save(path)
    return SharedIndex(
        SharedFile(path.name, str(path), thatch.Engine.open), len(filters), engine.attributes()
    )


def test_events_that_nobody_wants_are_counted_where_they_first_lie_in_a_closed_gap(tmp_path):
    gaps = ["x between 10 and 29", "x between 20 and 39", "x between 50 and 59", "y = 1"]
    wanted = ["x between 25 and 34"]
    indexes = [
        index_here(tmp_path / f"{name}.thatch", filters)
        for name, filters in {"gaps": gaps, "wanted": wanted}.items()
    ]
    events = [{"x": number, "y": number % 7} for number in range(70)]
    texts = [*(json.dumps(event) for event in events), "no event"]
    is_held = [number % 3 == 0 for number in range(71)]
    columns = {KEY: list(range(71)), "e": texts, HELD: is_held}
    batch = pa.RecordBatch.from_pydict(columns)
    ranks = np.array([2, 0, 1, 3])
    container.write(tmp_path / "ranks", {}, {"ranks": ranks})
    batches = iter([batch.slice(0, 40), batch.slice(40)])
    pieces = look_at_events(*indexes, EventReader(json="e", skips=True), batches)
    shared = SharedFile("ranks", str(tmp_path / "ranks"), load_arrays)
    found = combine_sums(pa.Table.from_batches(sum_by_rank(shared, pieces)), 4)
    assert (found.trained.events, found.held.events, found.refused) == (46, 24, 1)
    first = np.zeros((2, 4), np.int64)
    every = np.zeros((2, 4), np.int64)
    for event, half in zip(events, is_held, strict=False):
        if not any(thatch.parse(text).matches(event) for text in wanted):
            inside = sorted(ranks[gap] for gap, text in enumerate(gaps) if thatch.parse(text).matches(event))
            every[int(half), inside] += 1
            first[int(half), inside[:1]] += 1
    for half, counts in enumerate((found.trained, found.held)):
        assert counts.first.tolist() == first[half].tolist()
        assert counts.every.tolist() == every[half].tolist()


# --- on Spark --------------------------------------------------------------------------------------------------------


class TestOnSpark:
    pytestmark = on_spark

    def test_what_is_no_table_of_subscriptions_is_refused(self, spark):
        kinds = "row long, subscription string, filter string"
        twice = spark.createDataFrame([(1, "a", "x = 1"), (1, "b", "x = 2")], kinds)
        with pytest.raises(TableError, match="each number of a row once"):
            merge(twice)
        broken = spark.createDataFrame([(1, "a", "x =")], kinds)
        with pytest.raises(SubscriptionError, match="row 1"):
            merge(broken)
