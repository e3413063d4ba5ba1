"""What loaded subscriptions are like: figures, and the page that shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from thatch.pipeline.columns import (
    EXPIRES,
    FILTER,
    REASON,
    ROW,
    SUBSCRIBER,
    SUBSCRIPTION,
    Column,
    DataFrame,
    f,
)
from thatch.pipeline.jobs.job import add_sizes, size_class
from thatch.pipeline.transforms.loading import BOXES, CONDITIONS, IS_BAD, IS_REPEATED, Loaded
from thatch.reports import Report

__all__ = [
    "LONGEST_SHOWN",
    "MOST_NAMES",
    "MOST_REASONS",
    "LoadFacts",
    "by_frequency",
    "load_facts",
    "load_report",
]

MOST_REASONS = 100
MOST_NAMES = 1_000  # attributes, the most frequent
LONGEST_SHOWN = 200  # characters of an example
_KINDS = {
    "equal": "equal to one value",
    "in": "one of several values",
    "between": "between two bounds",
    "one-sided": "above or below a bound",
    "prefix": "text that begins so",
    "intervals": "several intervals, as `!=` gives",
    "present": "present",
    "missing": "missing",
    "null": "null",
    "wildcard": "a wildcard to check",
    "within": "a shape to check",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadFacts:
    """What was loaded."""

    accepted: int  # rows
    refused: int  # rows
    subscribers: int  # how many different ones, give or take 5 %
    expiring: int  # accepted rows that expire
    # Why rows were refused, the most frequent first, as rows of the page's table.
    reasons: tuple[dict[str, Any], ...]
    # Of the conditions of accepted filters: name, filters that have some, conditions.
    attributes: tuple[tuple[str, int, int], ...]
    kinds: tuple[tuple[str, int, int], ...]
    # How many accepted filters have 2^k to 2^(k+1) - 1 boxes, or characters, by k.
    boxes: dict[int, int]
    lengths: dict[int, int]


def load_facts(rows: DataFrame, loaded: Loaded) -> LoadFacts:
    """Count what `check_subscriptions` gave; `rows` should be persisted, since they are read several times."""
    is_good = ~f.col(IS_BAD) & ~f.col(IS_REPEATED)
    counts = rows.agg(
        f.count("*").alias("rows"),
        f.count_if(is_good).alias("accepted"),
        f.approx_count_distinct(f.when(is_good, f.col(SUBSCRIBER))).alias("subscribers"),
        f.count_if(is_good & f.col(EXPIRES).isNotNull()).alias("expiring"),
    ).first()
    assert counts is not None
    found = _count_features(rows.where(is_good))
    return LoadFacts(
        accepted=counts["accepted"],
        subscribers=counts["subscribers"],
        expiring=counts["expiring"],
        refused=counts["rows"] - counts["accepted"],
        reasons=_reasons(loaded.rejects) if counts["rows"] > counts["accepted"] else (),
        attributes=by_frequency(found, "attribute"),
        kinds=by_frequency(found, "kind"),
        boxes={int(name): count for name, count in found["boxes"].items()},
        lengths={int(name): count for name, count in found["length"].items()},
    )


def _count_features(good: DataFrame) -> dict[str, dict[str, int]]:
    """Count filters and conditions by attribute, kind and size, in one pass."""
    from pyspark.sql import Window

    kinds = f.transform(CONDITIONS, lambda each: f.substring_index(each, " ", 1))
    attributes = f.transform(CONDITIONS, lambda each: each.substr(f.locate(" ", each) + 1, f.length(each)))
    lists = {
        "attribute": f.array_distinct(attributes),
        "conditions by attribute": attributes,
        "kind": f.array_distinct(kinds),
        "conditions by kind": kinds,
        "boxes": f.array(size_class(f.col(BOXES)).cast("string")),
        "length": f.array(size_class(f.char_length(FILTER)).cast("string")),
    }
    features = good.select(
        f.explode(f.concat(*(_labelled(what, names) for what, names in lists.items()))).alias("feature")
    ).select("feature.*")
    counted = features.groupBy("what", "name").agg(f.count("*").alias("number"))
    rank = f.row_number().over(Window.partitionBy("what").orderBy(f.desc("number"), "name"))
    found: dict[str, dict[str, int]] = {what: {} for what in lists}
    for each in counted.withColumn("rank", rank).where(f.col("rank") <= MOST_NAMES).collect():
        found[each["what"]][each["name"]] = each["number"]
    return found


def _labelled(what: str, names: Column) -> Column:
    return f.transform(names, lambda name: f.struct(f.lit(what).alias("what"), name.alias("name")))


def by_frequency(found: dict[str, dict[str, int]], what: str) -> tuple[tuple[str, int, int], ...]:
    """Names, filters and conditions, the most frequent first."""
    conditions = found[f"conditions by {what}"]
    rows = ((name, count, conditions.get(name, count)) for name, count in found[what].items())
    return tuple(sorted(rows, key=lambda each: (-each[1], each[0])))


def _reasons(rejects: DataFrame) -> tuple[dict[str, Any], ...]:
    """Reasons without the values, which differ from row to row."""
    expected = f.regexp_extract(REASON, r"(?s)^(Expected .*?), got ", 1)
    expected = f.when(expected != "", expected).otherwise(f.col(REASON))
    cut = [f.substring(name, 1, LONGEST_SHOWN).alias(name) for name in (SUBSCRIPTION, FILTER, REASON)]
    found = (
        rejects.groupBy(f.substring(expected, 1, LONGEST_SHOWN).alias("expected"))
        .agg(f.count("*").alias("rows"), f.min(f.struct(ROW, *cut)).alias("first"))
        .orderBy(f.desc("rows"), "expected")
        .limit(MOST_REASONS)
        .collect()
    )
    names = {ROW: "first row", SUBSCRIPTION: "its id", FILTER: "its filter", REASON: "its reason"}
    return tuple(
        {"rows": count, "expected": expected} | {words: first[name] for name, words in names.items()}
        for expected, count, first in found
    )


def load_report(facts: LoadFacts, path: str, command: str) -> Report:
    """The page."""
    report = Report(f"Subscriptions of {path}", command=command)
    report.facts(
        {
            "rows": facts.accepted + facts.refused,
            "accepted": facts.accepted,
            "refused": facts.refused,
            "subscribers (about)": facts.subscribers,
            "that expire": facts.expiring,
            "attributes asked for": len(facts.attributes),
        }
    )
    if facts.refused:
        text = "By what was expected, each with its first row. `rejects` has all of them."
        report.section("Refused rows", text)
        report.table(list(facts.reasons), caption="Reasons")
    else:
        report.section("Refused rows", "None: every row is a subscription.")
    if facts.accepted:
        _add_conditions(report, facts)
        _add_sizes(report, facts)
    return report


def _add_conditions(report: Report, facts: LoadFacts) -> None:
    report.section("Attributes", "How many filters ask for each attribute, after normalisation.")
    names = [name for name, _, _ in facts.attributes]
    filters = [count for _, count, _ in facts.attributes]
    title = "Filters that ask for an attribute"
    report.bars(names, filters, title=title, label="attribute", value="filters", most=30)
    rows = [
        {"attribute": name, "filters": count, "of all": count / facts.accepted, "conditions": conditions}
        for name, count, conditions in facts.attributes
    ]
    report.table(rows, caption="Attributes", formats={"of all": "percent"})
    report.section(
        "Conditions", "What filters ask of attributes: one condition per attribute and alternative."
    )
    kinds = [_KINDS.get(name, name) for name, _, _ in facts.kinds]
    conditions = [count for _, _, count in facts.kinds]
    report.bars(kinds, conditions, title="Kinds of conditions", value="conditions")


def _add_sizes(report: Report, facts: LoadFacts) -> None:
    report.section(
        "Sizes", "A box has one interval per attribute; every `in` and `or` multiplies or adds boxes."
    )
    add_sizes(report, facts.boxes, title="Boxes of a filter", x="boxes", y="filters")
    add_sizes(report, facts.lengths, title="Length of filter texts", x="characters", y="filters")
