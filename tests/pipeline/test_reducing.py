"""Reducing on Spark keeps the subscriptions that a forwarding set keeps, row for row, with proofs that hold."""

from __future__ import annotations

from functools import partial
from math import inf

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import thatch
from thatch.errors import ParameterError, SubscriptionError, TableError
from thatch.model.covering import covers
from thatch.pipeline import reduce
from thatch.pipeline.tasks import run_parts_here
from thatch.pipeline.transforms.reducing import deciding
from thatch.pipeline.transforms.reducing.arranging import NumberLists
from thatch.pipeline.transforms.reducing.deciding import Decider
from thatch.pipeline.transforms.reducing.pieces import INPUT, combine_pieces
from thatch.pipeline.transforms.reducing.reduce import arrange_rows, decide_rows
from thatch.reduction.covering import covered_by
from thatch.reduction.forwarding.forwarding_set import ForwardingSet
from thatch.reduction.forwarding.policies import Exact, Pairwise

on_spark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark")]

SCHEMA = thatch.Schema({"n": thatch.Integer(0, 20), "s": thatch.Enum("buy", "sell", "hold")})

# --- filters ---------------------------------------------------------------------------------------------------------

NUMBERS = st.integers(0, 9)
PLAIN = st.one_of(
    st.builds("{0} between {1} and {2}".format, st.sampled_from("xyz"), NUMBERS, st.integers(9, 12)),
    st.builds(
        "{0} {1} {2}".format, st.sampled_from("xyz"), st.sampled_from(["<", "<=", ">", ">=", "!="]), NUMBERS
    ),
    st.builds("{0} in ({1}, {2})".format, st.sampled_from("xyz"), NUMBERS, NUMBERS),
    st.builds(
        "t {0} '{1}'".format, st.sampled_from(["<", ">=", "="]), st.sampled_from(["", "a", "ab", "b\0", "é"])
    ),
    st.builds("t like '{0}%'".format, st.sampled_from(["a", "ab", "b"])),
    st.sampled_from(
        [
            "exists(x)",
            "x is missing",
            "y is null",
            "y is missing",
            "exists(y)",
            "z = true",
            "z = false",
            "z is null",
        ]
    ),
)
DERIVED = st.sampled_from(
    [
        "lower(t) = 'ab'",
        "lower(t) != 'ab'",
        "lower(t) is distinct from 'ab' or lower(t) is missing",
        "t < 'm'",
        "t >= 'm'",
        "lower(t) like 'a%'",
        "lower(t) is missing",
        "exists(t)",
        "t is missing",
        "t = 'AB'",
        "t in ('Ab', 'aB', 'c')",
        "t like '%b'",
        "t like '%a%b%'",
        "not t like '%a%b%'",
        "t is unlike '%a%b%'",
        "t like 'A%'",
        "t >= 'a'",
    ]
)
DECLARED = st.one_of(
    st.builds("n {0} {1}".format, st.sampled_from(["<", "<=", ">", ">=", "=", "!="]), st.integers(1, 19)),
    st.sampled_from(
        ["s = 'buy'", "s != 'buy'", "s in ('sell', 'hold')", "exists(s)", "s is missing", "s is null"]
    ),
    st.sampled_from(["exists(n)", "n is null", "n is missing"]),
)


def filters_of(conditions: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """One to three conditions together, and sometimes two such alternatives."""
    together = st.lists(conditions, min_size=1, max_size=3).map(" and ".join)
    return st.one_of(together, together, st.lists(together, min_size=2, max_size=2).map(" or ".join))


def sets_of(conditions: st.SearchStrategy[str], schema: thatch.Schema | None = None):
    def is_satisfiable(text: str) -> bool:
        try:
            thatch.parse(text, schema)
        except thatch.FilterError:
            return False
        return True

    return st.lists(filters_of(conditions).filter(is_satisfiable), min_size=1, max_size=14)


# --- reducing in this process, with the tasks' own code --------------------------------------------------------------


def reduced(filters: list[str], schema=None, policy="exact", budget=inf, order="arrival"):
    """Active turns, and the proofs of the others, by id; and the order in which they were decided."""
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
    halves = [batch.slice(count // 2), batch.slice(0, count // 2)]
    found = arrange_rows(lambda task: combine_pieces(task(iter(halves))), order, schema)
    verdicts = decide_rows(found, Decider(policy, budget), partial(run_parts_here, lambda: None), at_once=1)
    ids = found.names.column("subscription").to_pylist()
    active = [ids[place] for place in np.flatnonzero(verdicts.is_active)]
    proofs = {
        ids[place]: [ids[each] for each in proof]
        for place, proof in enumerate(lists_of(verdicts.proofs))
        if not verdicts.is_active[place]
    }
    exhausted = {ids[place] for place in np.flatnonzero(verdicts.is_exhausted)}
    return active, proofs, exhausted, ids


def lists_of(lists: NumberLists) -> list[list[int]]:
    return [each.tolist() for each in np.split(lists.items, lists.starts[1:-1])]


def sequential(filters: dict[str, str], policy, schema=None) -> list[str]:
    """What a forwarding set keeps."""
    link = ForwardingSet(policy, schema=schema)
    for name, text in filters.items():
        link.add(name, text)
    return list(link.active)


def named(filters: list[str]) -> dict[str, str]:
    return {f"s{number}": text for number, text in enumerate(filters)}


def assert_proved(
    filters: dict[str, str], active: list[str], proofs: dict[str, list[str]], schema=None
) -> None:
    """Every other is covered by what its proof names, all of it active: by subtraction, or where that gives up, exactly."""
    assert set(active) | set(proofs) == set(filters)
    assert not set(active) & set(proofs)
    for name, proof in proofs.items():
        assert proof
        assert set(proof) <= set(active)
        others = [thatch.parse(filters[each], schema) for each in proof]
        filter = thatch.parse(filters[name], schema)
        together = [conjunction for each in others for conjunction in each.conjunctions]
        assert (
            covers(together, filter.conjunctions, schema) or covered_by(filter, others, budget=inf).covered
        ), (name, proof)


@pytest.mark.parametrize("order", ["arrival", "volume"])
@given(filters=sets_of(PLAIN))
def test_the_same_are_active_as_in_a_forwarding_set(filters, order):
    active, proofs, exhausted, ids = reduced(filters, order=order)
    assert active == sequential({name: named(filters)[name] for name in ids}, Exact(budget=inf))
    assert_proved(named(filters), active, proofs)
    assert not exhausted
    if order == "arrival":
        assert ids == list(named(filters))


@given(filters=sets_of(PLAIN))
def test_what_one_other_covers_is_found_pairwise_as_in_a_forwarding_set(filters):
    active, proofs, _, _ = reduced(filters, policy="pairwise")
    assert active == sequential(named(filters), Pairwise())
    assert_proved(named(filters), active, proofs)


@pytest.mark.slow
@given(filters=sets_of(st.one_of(DERIVED, DERIVED, PLAIN)))
def test_derived_attributes_and_wildcards_are_judged_as_in_a_forwarding_set(filters):
    active, proofs, _, _ = reduced(filters)
    assert active == sequential(named(filters), Exact(budget=inf))
    assert_proved(named(filters), active, proofs)


@given(filters=sets_of(DECLARED, SCHEMA))
def test_declared_types_are_judged_as_in_a_forwarding_set(filters):
    active, proofs, _, _ = reduced(filters, SCHEMA)
    assert active == sequential(named(filters), Exact(budget=inf), SCHEMA)
    assert_proved(named(filters), active, proofs, SCHEMA)


@pytest.mark.slow
@given(filters=sets_of(PLAIN), budget=st.integers(1, 3))
def test_a_budget_keeps_more_and_says_which(filters, budget):
    unlimited, _, _, _ = reduced(filters)
    active, proofs, exhausted, _ = reduced(filters, budget=budget)
    assert set(unlimited) <= set(active)
    assert set(active) - set(unlimited) <= exhausted <= set(active)
    assert_proved(named(filters), active, proofs)


def test_a_passive_row_whose_boxes_are_not_covered_proves_nothing():
    # Where `lower(t)` is text, so is t: the first two cover the third. But in its boxes t may be anything, and so the
    # third and the fourth cover the fifth, where the first two and the fourth leave what no event has.
    filters = [
        "t < 'm'",
        "t >= 'm'",
        "lower(t) = 'ab'",
        "lower(t) is distinct from 'ab' or lower(t) is missing",
        "exists(u)",
        "u = 1",
        "v = 1",
    ]
    active, proofs, _, _ = reduced(filters)
    assert active == sequential(named(filters), Exact(budget=inf)) == ["s0", "s1", "s3", "s4", "s6"]
    assert proofs == {"s2": ["s0", "s1"], "s5": ["s4"]}
    assert_proved(named(filters), active, proofs)


@given(
    st.permutations(
        [
            "t < 'm'",
            "t >= 'm'",
            "lower(t) = 'ab'",
            "lower(t) is distinct from 'ab' or lower(t) is missing",
            "lower(t) is missing and u > 0",
            "exists(u)",
            "u between 1 and 5",
            "u between 3 and 9",
            "u between 2 and 8",
        ]
    )
)
def test_in_any_order_such_rows_are_judged_as_in_a_forwarding_set(filters):
    active, proofs, _, _ = reduced(filters)
    assert active == sequential(named(filters), Exact(budget=inf))
    assert_proved(named(filters), active, proofs)


def test_a_filter_with_too_many_boxes_stays_and_proves_nothing():
    many = " and ".join(f"a{number} in (1, 3, 5, 7)" for number in range(6))
    filters = [
        many,
        "a0 = 1 and a1 = 1 and a2 = 1 and a3 = 1 and a4 = 1 and a5 = 1",
        "a0 = 1",
        "a0 = 1 and a1 = 1",
    ]
    active, proofs, exhausted, _ = reduced(filters)
    assert active == ["s0", "s1", "s2"]
    assert proofs == {"s3": ["s2"]}
    assert not exhausted


# --- on Spark --------------------------------------------------------------------------------------------------------


def random_filters(count: int, seed: int = 3) -> list[str]:
    """Filters of all kinds, of which many cover each other."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        low, width = rng.integers(0, 60, 3), rng.integers(1, 40, 3)
        parts = [f"{name} between {a} and {a + b}" for name, a, b in zip("xyz", low, width, strict=True)]
        kind = rng.integers(0, 12)
        if kind == 0:
            parts[0] = f"t in ('a{low[0] % 5}', 'b')"
        elif kind == 1:
            parts[1] = "y is missing" if low[1] % 2 else "exists(y)"
        elif kind == 2:
            parts[2] = f"lower(t) = 'a{low[2] % 5}'"
        elif kind == 3:
            parts = [f"x < {low[0]} and y > {low[1]}", f"z != {low[2]}"]
            made.append(" or ".join(parts))
            continue
        made.append(" and ".join(parts[: 1 + rng.integers(1, 3)]))
    return made


@pytest.fixture(scope="module")
def table(spark):
    names = [(number, name, text) for number, (name, text) in enumerate(named(random_filters(700)).items())]
    return spark.createDataFrame(names, "row long, subscription string, filter string")


@pytest.fixture(scope="module")
def found(table):
    return {each["subscription"]: each for each in reduce(table.repartition(2)).collect()}


class TestOnSpark:
    pytestmark = on_spark

    def test_it_is_the_forwarding_set_row_for_row(self, found):
        filters = named(random_filters(700))
        active = [name for name in filters if found[name]["active"]]
        assert active == sequential(filters, Exact(budget=inf))
        proofs = {name: each["proof"] for name, each in found.items() if not each["active"]}
        assert_proved(filters, active, proofs)
        assert 50 < len(active) < 600
        assert max(map(len, proofs.values())) > 1

    def test_every_row_says_how_it_was_decided(self, found):
        assert len(found) == 700
        for each in found.values():
            assert each["active"] == (not each["proof"])
            assert each["decided_by"] in {"empty", "pairwise", "branch_and_bound"}
            assert not each["exhausted"]
            assert each["boxes"] >= 1
        assert {each["attributes"] for each in found.values()} >= {"x, y", "lower(t), x, y", "x, y, z"} - {
            "x, y, z"
        }

    def test_neither_partitions_nor_slices_matter(self, table, found, monkeypatch):
        monkeypatch.setattr(deciding, "_FEW", 60)
        again = reduce(table.repartition(1)).collect()
        assert {each["subscription"]: each for each in again} == found

    def test_an_empty_table_gives_an_empty_answer(self, spark):
        nothing = reduce(spark.createDataFrame([], "subscription string, filter string"))
        assert nothing.collect() == []
        assert "proof" in nothing.columns

    def test_rows_that_are_not_numbered_come_as_they_are(self, spark):
        rows = [("a", "u1", "x > 1"), ("b", None, "x > 2"), ("c", None, "exists(x)")]
        table = spark.createDataFrame(rows, "subscription string, subscriber string, filter string").coalesce(
            1
        )
        told = sorted(reduce(table).collect())
        assert [(each["subscription"], each["subscriber"], each["active"]) for each in told] == [
            ("a", "u1", True),
            ("b", None, False),
            ("c", None, True),
        ]

    @pytest.mark.parametrize(
        ("rows", "error", "message"),
        [
            (
                [(1, "a", "x > 1"), (2, "b", "x >")],
                SubscriptionError,
                r"(?s)every row is a subscription .* row 2, 'b'",
            ),
            ([(1, "a", "x > 1"), (2, "a", "x > 2")], SubscriptionError, r"each id once, got 'a' 2 times"),
            ([(1, "a", "x > 1"), (1, "b", "x > 2")], TableError, r"each number of a row once, got 1 2 times"),
            ([(None, "a", "x > 1")], TableError, r"a number for every row, got null - at column `row`"),
            ([(1, None, "x > 1")], SubscriptionError, r"a text as id"),
            ([(1, "a", None)], SubscriptionError, r"filter text, got null"),
        ],
    )
    def test_rows_that_are_no_subscriptions_are_named(self, spark, rows, error, message):
        table = spark.createDataFrame(rows, "row long, subscription string, filter string")
        with pytest.raises(error, match=message):
            reduce(table)

    def test_columns_that_are_missing_or_of_another_type_are_named(self, table):
        with pytest.raises(TableError, match=r"a column `filter` in the table of subscriptions"):
            reduce(table.drop("filter"))
        with pytest.raises(TableError, match=r"text, got int - at column `filter`"):
            reduce(table.selectExpr("row", "subscription", "1 as filter"))
        with pytest.raises(TableError, match=r"whole numbers, got string - at column `row`"):
            reduce(table.selectExpr("'1' as row", "subscription", "filter"))

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"policy": "group"}, r'"exact" or "pairwise", got \'group\' - at policy'),
            ({"order": "size"}, r'"arrival" or "volume"'),
            ({"budget": 0}, r"at least 1 cell"),
            ({"budget": float("nan")}, r"at least 1 cell"),
            ({"budget": "5"}, r"at least 1 cell"),
        ],
    )
    def test_what_cannot_be_asked_is_refused(self, table, wrong, message):
        with pytest.raises(ParameterError, match=message):
            reduce(table, **wrong)
