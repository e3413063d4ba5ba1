"""Which filters others cover, by the index and by comparing all pairs."""

from __future__ import annotations

from random import Random

import pytest

from thatch import Filter, parse
from thatch.model.schema import Schema
from thatch.model.types import Integer
from thatch.pipeline.embedded.covering import find_covered
from thatch.reduction import covered_by

SCHEMA = Schema({"qty": Integer(0, 20)})


def drawn(rng: Random, schema: Schema | None) -> list[Filter]:
    """Different filters."""
    found: dict[Filter, None] = {}
    while len(found) < 60:
        parts = []
        for _ in range(rng.choice([1, 1, 1, 2])):
            conditions = [
                f"price between {(low := rng.randrange(8))} and {low + rng.randrange(8)}",
                f"qty >= {rng.randrange(9)}",
                f"symbol in ('A', '{rng.choice('ABC')}')",
                f"lower(name) like '{rng.choice('ab')}%'",
                f"name like '%{rng.choice('xy')}%'",
            ]
            parts.append("(" + " and ".join(rng.sample(conditions, rng.randrange(1, 4))) + ")")
        found[parse(" or ".join(parts), schema)] = None
    return list(found)


@pytest.mark.parametrize("schema", [None, SCHEMA], ids=["undeclared", "declared"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_every_filter_that_one_other_covers_is_found_and_every_proof_is_true(schema, seed):
    filters = drawn(Random(seed), schema)
    found = find_covered(filters, schema)
    covered = {
        number
        for number, each in enumerate(filters)
        if any(other.covers(each) for other in filters if other is not each)
    }
    assert covered <= set(found.by)
    assert covered
    for number, others in found.by.items():
        assert number not in others
        assert covered_by(filters[number], [filters[other] for other in others]).covered is not False
    assert not found.unchecked


def test_filters_with_too_many_boxes_are_checked_by_events():
    lists = " and ".join(f"k{name} in ({', '.join(map(str, range(0, 40, 2)))})" for name in range(3))
    filters = [
        parse(lists),
        parse("k0 = 2"),
        parse("k0 = 2 and k1 = 4 and k2 = 6"),
        parse(f"z = 1 and {lists}"),
    ]
    found = find_covered(filters, None)
    assert not found.unchecked
    assert found.by == {2: (1,), 3: (0,)}


RULES = [
    "lower(image) like '%\\cmd.exe' and (line like '%/c%' or line like '%/k%')",
    "lower(image) like '%cmd.exe' and line like '%/%'",
    "lower(image) like '%\\pwsh.exe' or parent like '%\\office%' and line like '%-enc%'",
    "(lower(image) like '%pwsh%' or parent like '%office%') and line like '%-e%'",
    "line like '%-e%' or lower(image) like '%pwsh.exe'",
    "level >= 4",
    "level = 5 and image like '%x%'",
    "image = 'cmd.exe' and line = 'cmd /c dir'",
    "user like 'adm%' and not user like '%test%'",
    "user like '%test%' or user = 'admin'",
    "user like 'adm%'",
]


def test_patterns_are_found_in_wider_ones_and_plain_filters_in_patterns():
    found = find_covered(list(map(parse, RULES)), None)
    assert found.by == {0: (1,), 2: (4,), 3: (4,), 6: (5,), 7: (0,), 8: (10,)}
    assert not found.unchecked
    kept = [parse(text) for number, text in enumerate(RULES) if number not in found.by]
    for number, others in found.by.items():
        assert covered_by(RULES[number], [RULES[other] for other in others]).covered
        assert covered_by(RULES[number], kept).covered
    for each in kept:
        assert not covered_by(each, [other for other in kept if other is not each]).covered


def test_what_is_beyond_the_budget_is_told():
    filters = list(map(parse, RULES))
    found = find_covered(filters, None, budget=12)
    assert found.unchecked
    assert set(found.unchecked).isdisjoint(found.by)


def test_nothing_is_covered_among_nothing():
    assert not find_covered([], None).by
