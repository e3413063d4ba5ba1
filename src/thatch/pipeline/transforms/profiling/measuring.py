"""What filters ask of events: every predicate, frequent pairs of them and every subscription, counted exactly.

They are made filters of one engine, which every worker maps, and one pass over the events counts them all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from thatch.engine import Engine
from thatch.model.language import parse
from thatch.model.profile import MatchCounts, Predicate, PredicatePair, predicates_of
from thatch.model.profile.counting import PREDICATE_PAIRS, pair_text
from thatch.model.schema import Schema
from thatch.pipeline.failures import failures_told
from thatch.pipeline.indexes import indexed
from thatch.pipeline.schemas import EVENTS, FILTER, SUBSCRIPTION
from thatch.pipeline.transforms import mapped
from thatch.pipeline.transforms.events import Reading

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["HEAVIEST", "Asked", "Measured", "asked", "measured", "predicates"]

HEAVIEST = 100  # subscriptions that are named
_AT_ONCE = 50_000  # filters that are read at a time, so that not all are Python objects at once
_PREDICATES = "first string, second string, attributes array<string>, uses bigint"
_SCHEMA = pa.schema(
    [
        ("first", pa.string()),
        ("second", pa.string()),
        ("attributes", pa.list_(pa.string())),
        ("uses", pa.int64()),
    ]
)


def predicates(subscriptions: DataFrame, schema: Schema | None = None) -> DataFrame:
    """All predicates of subscriptions, and pairs of them that stand in one conjunction.

    Returns
    -------
    `first`, `second` (null for a predicate alone), `attributes`, `uses` (in how many conjunctions).
    """
    from pyspark.sql import functions as f

    found = subscriptions.select(FILTER).mapInArrow(_Predicates(schema), _PREDICATES)
    return found.groupBy("first", "second").agg(
        f.any_value("attributes").alias("attributes"), f.sum("uses").alias("uses")
    )


@dataclass(frozen=True, slots=True)
class _Predicates:
    schema: Schema | None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            uses: Counter[tuple[str, str | None]] = Counter()
            attributes: dict[str, tuple[str, ...]] = {}
            for text in batch.column(0).to_pylist():
                for alone, pairs in predicates_of(parse(text, schema=self.schema)):
                    attributes.update(alone)
                    uses.update((each, None) for each, _ in alone)
                    uses.update(pairs)
            firsts, seconds = zip(*uses, strict=True) if uses else ((), ())
            keys = [attributes[first] if second is None else None for first, second in uses]
            yield pa.RecordBatch.from_arrays(
                [
                    pa.array(firsts, pa.string()),
                    pa.array(seconds, pa.string()),
                    pa.array(keys, pa.list_(pa.string())),
                    pa.array(uses.values(), pa.int64()),
                ],
                schema=_SCHEMA,
            )


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be measured: rows of `predicates`, and subscriptions as `subscription` and `filter`."""

    predicates: pa.Table
    pairs: pa.Table
    subscriptions: pa.Table


def asked(subscriptions: DataFrame, schema: Schema | None = None) -> Asked:
    """All predicates of subscriptions that were accepted, and the pairs that are used most, the most used first."""
    from pyspark.sql import functions as f

    grouped = predicates(subscriptions, schema).persist()  # two questions are asked of it
    order = [f.desc("uses"), f.asc("first"), f.asc("second")]
    with failures_told("reading the subscriptions"):
        try:
            alone = grouped.where(f.col("second").isNull()).orderBy(*order).toArrow()
            pairs = (
                grouped.where(f.col("second").isNotNull()).orderBy(*order).limit(PREDICATE_PAIRS).toArrow()
            )
            return Asked(alone, pairs, subscriptions.select(SUBSCRIPTION, FILTER).toArrow())
        finally:
            grouped.unpersist()


@dataclass(frozen=True, slots=True)
class Measured:
    """What was counted of what was asked."""

    predicates: tuple[Predicate, ...]
    pairs: tuple[PredicatePair, ...]
    matches: MatchCounts


def measured(events: DataFrame, reading: Reading, what: Asked, schema: Schema | None = None) -> Measured:
    """Count for everything asked how many events satisfy it.

    Parameters
    ----------
    events : as `prepared` gives them
    """
    index = indexed(events.sparkSession, _engine(what, schema))
    with failures_told("matching the events"):
        table = mapped.counts(events, index, reading).toArrow()
    names, numbers = table.column(SUBSCRIPTION).to_pylist(), table.column(EVENTS).to_pylist()
    count = dict(zip(names, numbers, strict=True))
    return Measured(
        tuple(
            Predicate(
                text=row["first"],
                attributes=tuple(row["attributes"]),
                uses=row["uses"],
                events=count[f"{_ALONE}{at}"],
            )
            for at, row in enumerate(what.predicates.to_pylist())
        ),
        tuple(
            PredicatePair(
                first=row["first"], second=row["second"], uses=row["uses"], events=count[f"{_PAIR}{at}"]
            )
            for at, row in enumerate(what.pairs.to_pylist())
        ),
        _matches({name[1:]: number for name, number in count.items() if name[0] == _WHOLE}),
    )


_ALONE, _PAIR, _WHOLE = "apw"  # what the ids in the engine begin with


def _engine(what: Asked, schema: Schema | None) -> Engine:
    alone = what.predicates.column("first").to_pylist()
    pairs = [pair_text(row["first"], row["second"]) for row in what.pairs.to_pylist()]
    ids = [f"{_ALONE}{at}" for at in range(len(alone))] + [f"{_PAIR}{at}" for at in range(len(pairs))]
    ids += [_WHOLE + each for each in what.subscriptions.column(SUBSCRIPTION).to_pylist()]
    texts = alone + pairs + what.subscriptions.column(FILTER).to_pylist()
    table = pa.table({SUBSCRIPTION: pa.array(ids, pa.string()), FILTER: pa.array(texts, pa.string())})
    engine = Engine(schema)
    for start in range(0, table.num_rows, _AT_ONCE):
        refused = engine.subscribe_many(table.slice(start, _AT_ONCE))
        assert not refused.num_rows, refused.to_pylist()[0]
    engine.compact()
    return engine


def _matches(count: dict[str, int]) -> MatchCounts:
    numbers = Counter(count.values())
    wanted = sorted(count.items(), key=lambda each: (-each[1], each[0]))
    return MatchCounts(
        subscriptions=len(count),
        distribution=tuple(sorted(numbers.items())),
        heaviest=tuple(each for each in wanted[:HEAVIEST] if each[1]),
    )
