"""What does my traffic look like? The public `profile`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from thatch.errors import SparkError, shown
from thatch.model.profile import AttributePair, AttributeProfile, AttributeSet, Profile
from thatch.model.profile.counting import HEAVY, PAIRED, REASONS, SETS
from thatch.model.schema import Schema
from thatch.model.values import canonical_number
from thatch.pipeline.failures import failures_told
from thatch.pipeline.transforms.events import Reading, prepared
from thatch.pipeline.transforms.loading import apart, judged
from thatch.pipeline.transforms.profiling.flattening import EVENTS, MISFITS, REJECTED, SET, VALUE
from thatch.pipeline.transforms.profiling.measuring import Measured, asked, measured
from thatch.pipeline.transforms.profiling.summaries import BOUNDS, attribute_pairs, summarised

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["MOST_ATTRIBUTES", "profile"]

MOST_ATTRIBUTES = 2_000  # that are kept; the others are counted
_SEED = 20_011


def profile(
    events: DataFrame,
    subscriptions: DataFrame | None = None,
    *,
    event: str | None = None,
    json: str | None = None,
    nulls: Literal["missing", "null"] = "missing",
    schema: Schema | None = None,
    fraction: float = 1.0,
) -> Profile:
    """What a log of events looks like, and what subscriptions ask of it.

    Two passes over the events at most: one for their attributes, one for the subscriptions if there are any. Rows that
    are no events are counted and left out, and so are rows that are no subscriptions.

    Parameters
    ----------
    events : a column per attribute (structs are nested objects), or one column of JSON texts
    subscriptions : a table with `subscription` and `filter`; when they expire does not matter here
    event : a column that names or numbers events and is no attribute
    json : the column that holds each event as JSON text, which keeps null and missing apart
    nulls : whether null in a column means that the attribute is missing, or null
    schema : declared types; a value outside its type counts as missing
    fraction : of the events to look at, drawn at random, always the same ones

    Notes
    -----
    Counts are exact but for `Profile.bounds`, which the module `summaries` explains. The 2,000 most frequent attributes
    and 1,000 most frequent sets of attributes are kept, and pairs of the 50 most frequent attributes.
    """
    if not isinstance(fraction, (int, float)) or not 0 < fraction <= 1:
        raise SparkError("a fraction above 0 and up to 1", shown(fraction))
    reading = Reading(json=json, nulls=nulls, skips=True)
    log = prepared(events, reading, event=event)
    if fraction < 1:
        log = log.sample(fraction=float(fraction), seed=_SEED)
    found = _seen(log, reading, schema)
    found = replace(found, bounds=replace(BOUNDS, fraction=float(fraction)))
    if subscriptions is None:
        return found
    told = _asked_of(log, reading, subscriptions, schema)
    return replace(found, predicates=told.predicates, predicate_pairs=told.pairs, matches=told.matches)


def _seen(log: DataFrame, reading: Reading, schema: Schema | None) -> Profile:
    """The first pass: attributes and sets of them."""
    from pyspark.sql import functions as f

    summary = summarised(log, reading, schema).persist()  # several questions are asked of it
    try:
        with failures_told("profiling the events"):
            by_kind = summary.groupBy("kind").agg(
                f.sum("events").alias("events"), f.count("key").alias("keys")
            )
            totals = {row["kind"]: row for row in by_kind.collect()}
            order = [f.desc("events"), f.asc("key")]
            values = summary.where(f.col("kind") == VALUE).orderBy(*order).limit(MOST_ATTRIBUTES).toArrow()
            sets = summary.where(f.col("kind") == SET).select(
                f.from_json("key", "array<string>").alias("keys"), "events"
            )
            kept = sets.orderBy(f.desc("events"), f.asc("keys")).limit(SETS).collect()
            reasons = summary.where((f.col("kind") == REJECTED) & (f.col("key") != "")).select(
                "key", "events"
            )
            told = reasons.orderBy(*order).limit(REASONS).collect()
            attributes = tuple(_attribute(row) for row in values.to_pylist())
            paired = [each.key for each in attributes[:PAIRED]]
            pairs = attribute_pairs(summary, paired).collect() if len(paired) > 1 else []
    finally:
        summary.unpersist()

    def total(kind: int, what: str = "events") -> int:
        return int(totals[kind][what]) if kind in totals else 0

    return Profile(
        events=total(EVENTS),
        rejected=total(REJECTED),
        reasons=tuple((row["key"], row["events"]) for row in told),
        misfits=total(MISFITS),
        attributes=attributes,
        attribute_count=total(VALUE, "keys"),
        sets=tuple(AttributeSet(tuple(row["keys"]), row["events"]) for row in kept),
        set_count=total(SET, "keys"),
        pairs=tuple(
            sorted(
                (AttributePair(row["first"], row["second"], row["events"]) for row in pairs),
                key=lambda each: (-each.events, each.first, each.second),
            )
        ),
    )


_COUNTS = ("events", "values", "nulls", "falses", "trues", "nans", "numbers", "texts", "wide")


def _attribute(row: dict[str, Any]) -> AttributeProfile:
    heavy = [(canonical_number(each["item"]), each["count"]) for each in row["heavy_numbers"] or ()]
    texts = [(each["item"], each["count"]) for each in row["heavy_texts"] or ()]
    heavy = sorted(heavy + texts, key=lambda each: (-each[1], isinstance(each[0], str), each[0]))[:HEAVY]
    quantiles = tuple(row["sample"])
    if quantiles:  # the ends are known exactly
        quantiles = (row["first_text"], *quantiles[1:-1], row["last_text"])
    return AttributeProfile(
        key=row["key"],
        **{name: row[name] for name in _COUNTS},
        # The sketch may say more than there are values.
        distinct=min(row["distinct"], row["values"]),
        quantiles=tuple(row["quantiles"] or ()),
        text_quantiles=quantiles,
        heavy=tuple(heavy),
        shortest=row["shortest"] or 0,
        longest=row["longest"] or 0,
        characters=row["characters"] or 0,
    )


def _asked_of(log: DataFrame, reading: Reading, subscriptions: DataFrame, schema: Schema | None) -> Measured:
    """The second pass: what the subscriptions ask."""
    verdicts = judged(subscriptions, schema=schema).persist()  # accepted and refused rows are both asked for
    try:
        loaded = apart(verdicts)
        with failures_told("reading the subscriptions"):
            rejected = loaded.rejects.count()
        what = asked(loaded.accepted, schema)
    finally:
        verdicts.unpersist()
    found = measured(log, reading, what, schema)
    return replace(found, matches=replace(found.matches, rejected=rejected))
