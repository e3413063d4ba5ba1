"""Count what filters ask of events: every predicate, frequent pairs of predicates, and every subscription.

All of them become filters of one engine, which every worker maps, so that one pass over the events counts them exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa

from thatch.engine import Engine
from thatch.model.profile import MatchCounts, Predicate, PredicatePair, predicates_of
from thatch.model.profile.counting import PREDICATE_PAIRS, pair_text
from thatch.model.schema import Schema
from thatch.pipeline.adapter import translate_spark_errors
from thatch.pipeline.columns import EVENTS, FILTER, SUBSCRIPTION, DataFrame, f, spark_schema
from thatch.pipeline.forms import FORM, read_form
from thatch.pipeline.indexes import build_index, fill_engine
from thatch.pipeline.tasks import Batches
from thatch.pipeline.transforms.events import EventReader
from thatch.pipeline.transforms.mapped import match_counts

__all__ = [
    "HEAVIEST",
    "PREDICATE_ROWS",
    "FilterCounts",
    "FilterPredicates",
    "build_counting_engine",
    "collect_predicates",
    "count_matches",
    "list_predicates",
    "name_counts",
]

HEAVIEST = 100  # subscriptions that are named
PREDICATE_ROWS = pa.schema(
    [
        ("first", pa.string()),
        ("second", pa.string()),  # null for a predicate alone
        ("attributes", pa.list_(pa.string())),
        ("uses", pa.int64()),  # in how many conjunctions
    ]
)
_ALONE, _PAIR, _WHOLE = "apw"  # what the ids in the engine begin with


@dataclass(frozen=True, slots=True)
class FilterPredicates:
    """What is to be counted: predicates, pairs of them, and subscriptions as `subscription` and `filter`."""

    alone: pa.Table
    pairs: pa.Table
    subscriptions: pa.Table


@dataclass(frozen=True, slots=True)
class FilterCounts:
    """How many events satisfy each predicate, pair and subscription."""

    predicates: tuple[Predicate, ...]
    pairs: tuple[PredicatePair, ...]
    matches: MatchCounts


def collect_predicates(subscriptions: DataFrame, schema: Schema | None = None) -> FilterPredicates:
    """Collect all predicates of accepted subscriptions, and the pairs that are used most, the most used first."""
    found = subscriptions.select(FORM).mapInArrow(
        partial(list_predicates, schema), spark_schema(PREDICATE_ROWS)
    )
    grouped = found.groupBy("first", "second").agg(
        f.any_value("attributes").alias("attributes"), f.sum("uses").alias("uses")
    )
    grouped = grouped.orderBy(f.desc("uses"), f.asc("first"), f.asc("second")).persist()  # used twice
    with translate_spark_errors("reading the subscriptions"):
        try:
            alone = grouped.where(f.col("second").isNull()).toArrow()
            pairs = grouped.where(f.col("second").isNotNull()).limit(PREDICATE_PAIRS).toArrow()
            return FilterPredicates(alone, pairs, subscriptions.select(SUBSCRIPTION, FILTER).toArrow())
        finally:
            grouped.unpersist()


def list_predicates(schema: Schema | None, batches: Batches) -> Batches:
    """List the predicates of filters and the pairs that stand in one conjunction, in a worker."""
    for batch in batches:
        uses: Counter[tuple[str, str | None]] = Counter()
        attributes: dict[str, tuple[str, ...]] = {}
        for form in batch.column(0).to_pylist():
            for alone, pairs in predicates_of(read_form(form, schema)):
                attributes.update(alone)
                uses.update((each, None) for each, _ in alone)
                uses.update(pairs)
        rows = [(*pair, attributes[pair[0]] if pair[1] is None else None, uses[pair]) for pair in uses]
        yield pa.RecordBatch.from_pylist(
            [dict(zip(PREDICATE_ROWS.names, row, strict=True)) for row in rows], PREDICATE_ROWS
        )


def count_matches(
    events: DataFrame, reader: EventReader, what: FilterPredicates, schema: Schema | None = None
) -> FilterCounts:
    """Count how many events, which `prepare_events` gives, satisfy each filter."""
    index = build_index(events.sparkSession, build_counting_engine(what, schema))
    with translate_spark_errors("matching the events"):
        table = match_counts(events, index, reader).toArrow()
    return name_counts(what, table.column(SUBSCRIPTION).to_pylist(), table.column(EVENTS).to_pylist())


def name_counts(what: FilterPredicates, names: Iterable[str], numbers: Iterable[int]) -> FilterCounts:
    """The counts of all filters, which the engine names and has counted."""
    count = dict(zip(names, numbers, strict=True))
    alone = [
        Predicate(text=text, attributes=tuple(attributes), uses=uses, events=count[f"{_ALONE}{number}"])
        for number, (text, _, attributes, uses) in enumerate(_rows(what.alone))
    ]
    pairs = [
        PredicatePair(first=first, second=second, uses=uses, events=count[f"{_PAIR}{number}"])
        for number, (first, second, _, uses) in enumerate(_rows(what.pairs))
    ]
    matches = _summarise({name[1:]: number for name, number in count.items() if name[0] == _WHOLE})
    return FilterCounts(tuple(alone), tuple(pairs), matches)


def _rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    return zip(*(table.column(name).to_pylist() for name in PREDICATE_ROWS.names), strict=True)


def build_counting_engine(what: FilterPredicates, schema: Schema | None) -> Engine:
    """An engine of all that is to be counted."""
    alone = what.alone.column("first").to_pylist()
    pairs = [pair_text(first, second) for first, second, *_ in _rows(what.pairs)]
    ids = [f"{_ALONE}{number}" for number in range(len(alone))]
    ids += [f"{_PAIR}{number}" for number in range(len(pairs))]
    ids += [_WHOLE + each for each in what.subscriptions.column(SUBSCRIPTION).to_pylist()]
    texts = alone + pairs + what.subscriptions.column(FILTER).to_pylist()
    table = pa.table({SUBSCRIPTION: pa.array(ids, pa.string()), FILTER: pa.array(texts, pa.string())})
    engine, rejects = fill_engine(table, schema)
    assert not rejects, rejects[0]
    return engine


def _summarise(count: dict[str, int]) -> MatchCounts:
    heaviest = sorted(count.items(), key=lambda each: (-each[1], each[0]))[:HEAVIEST]
    return MatchCounts(
        subscriptions=len(count),
        distribution=tuple(sorted(Counter(count.values()).items())),
        heaviest=tuple(each for each in heaviest if each[1]),
    )
