"""The public `profile`: what a log of events looks like, and what subscriptions ask of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from thatch.errors import ParameterError, shown
from thatch.model.profile import AttributePair, AttributeProfile, AttributeSet, Profile
from thatch.model.profile.counting import HEAVY, PAIRED, REASONS, SETS
from thatch.model.schema import Schema
from thatch.model.values import canonical_number
from thatch.pipeline.adapter import translate_spark_errors
from thatch.pipeline.columns import DataFrame, f
from thatch.pipeline.transforms.events import EventReader, prepare_events
from thatch.pipeline.transforms.loading import check_subscriptions, split_checked
from thatch.pipeline.transforms.profiling.flattening import EVENTS, MISFITS, REJECTED, SET, VALUE
from thatch.pipeline.transforms.profiling.measuring import FilterCounts, collect_predicates, count_matches
from thatch.pipeline.transforms.profiling.summaries import BOUNDS, attribute_pairs, summarise

__all__ = ["MOST_ATTRIBUTES", "SAMPLE_SEED", "check_fraction", "profile"]

MOST_ATTRIBUTES = 2_000  # that are kept; the others are counted
SAMPLE_SEED = 20_011


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
    """Profile a log of events, and what subscriptions ask of it.

    Reads the events once for their attributes, and once more if there are subscriptions. Rows that are not events, or no
    subscriptions, are counted and left out.

    Parameters
    ----------
    events : a column per attribute (structs are nested objects), or one column of JSON texts
    subscriptions : a table with `subscription` and `filter`; whether they have expired does not matter
    event : a column that names or numbers events, and is no attribute
    json : the column that holds each event as JSON text, which keeps null and missing apart
    nulls : whether null in a column means that the attribute is missing, or null
    schema : declared types; a value outside its type counts as missing
    fraction : of the events to look at, drawn at random, always the same ones

    Notes
    -----
    Counts are exact up to `Profile.bounds`, which the module `summaries` explains. Kept are the 2,000 most frequent
    attributes, the 1,000 most frequent sets of attributes, and pairs of the 50 most frequent attributes.
    """
    check_fraction(fraction)
    reader = EventReader(json=json, nulls=nulls, skips=True)
    log = prepare_events(events, reader, event=event)
    if fraction < 1:
        log = log.sample(fraction=float(fraction), seed=SAMPLE_SEED)
    found = _profile_attributes(log, reader, schema)
    found = replace(found, bounds=replace(BOUNDS, fraction=float(fraction)))
    if subscriptions is None:
        return found
    counts = _count_filters(log, reader, subscriptions, schema)
    return replace(found, predicates=counts.predicates, predicate_pairs=counts.pairs, matches=counts.matches)


def check_fraction(fraction: float) -> None:
    """Refuse a share of events that is none."""
    if not isinstance(fraction, (int, float)) or not 0 < fraction <= 1:
        raise ParameterError("a fraction above 0 and up to 1", shown(fraction), "fraction")


def _profile_attributes(log: DataFrame, reader: EventReader, schema: Schema | None) -> Profile:
    """The first pass: attributes and sets of attributes."""
    summary = summarise(log, reader, schema).persist()  # used several times
    try:
        with translate_spark_errors("profiling the events"):
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
            first_reasons = reasons.orderBy(*order).limit(REASONS).collect()
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
        reasons=tuple((row["key"], row["events"]) for row in first_reasons),
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
        # The estimate may exceed the number of values.
        distinct=min(row["distinct"], row["values"]),
        quantiles=tuple(row["quantiles"] or ()),
        text_quantiles=quantiles,
        heavy=tuple(heavy),
        shortest=row["shortest"] or 0,
        longest=row["longest"] or 0,
        characters=row["characters"] or 0,
    )


def _count_filters(
    log: DataFrame, reader: EventReader, subscriptions: DataFrame, schema: Schema | None
) -> FilterCounts:
    """The second pass: what subscriptions ask."""
    checked = check_subscriptions(
        subscriptions, schema=schema, with_forms=True
    ).persist()  # accepted and refused rows are used
    try:
        loaded = split_checked(checked)
        with translate_spark_errors("reading the subscriptions"):
            rejected = loaded.rejects.count()
        what = collect_predicates(loaded.accepted, schema)
    finally:
        checked.unpersist()
    found = count_matches(log, reader, what, schema)
    return replace(found, matches=replace(found.matches, rejected=rejected))
