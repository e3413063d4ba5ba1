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
@pytest.mark.parametrize("seed", range(3))
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


def test_filters_with_too_many_boxes_are_not_checked():
    lists = " and ".join(f"k{name} in ({', '.join(map(str, range(0, 40, 2)))})" for name in range(3))
    found = find_covered([parse(lists), parse("k0 = 2")], None)
    assert found.unchecked == (0,)
    assert not found.by


def test_nothing_is_covered_among_nothing():
    assert not find_covered([], None).by
