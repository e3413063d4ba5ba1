"""What a table of subscriptions is like, once it is loaded: figures for people, and the page that shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from thatch.pipeline.schemas import EXPIRES, FILTER, REASON, ROW, SUBSCRIBER, SUBSCRIPTION
from thatch.pipeline.transforms.loading import BOXES, CONDITIONS, IS_AGAIN, IS_BAD, Loaded
from thatch.reports import Report
from thatch.reports.figures import PlotAxis

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Facts", "Reason", "facts_of", "report_of"]

_MOST_REASONS = 100
_MOST_NAMES = 1_000  # attributes, the most frequent
_LONGEST_SHOWN = 200  # characters of an example
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


@dataclass(frozen=True, slots=True)
class Reason:
    """A kind of reason for which rows were refused, how often, and the first of them."""

    expected: str
    rows: int
    first: int
    subscription: str | None
    filter: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What was loaded.

    Parameters
    ----------
    accepted, refused : rows
    subscribers : how many different ones, roughly (5 %)
    expiring : accepted rows that expire
    reasons : why rows were refused, the most frequent first
    attributes, kinds : of the conditions of accepted filters: name, filters that have some, conditions
    boxes, lengths : how many accepted filters have 2^k to 2^(k+1) - 1 boxes, or characters, by k
    """

    accepted: int
    refused: int
    subscribers: int
    expiring: int
    reasons: tuple[Reason, ...]
    attributes: tuple[tuple[str, int, int], ...]
    kinds: tuple[tuple[str, int, int], ...]
    boxes: dict[int, int]
    lengths: dict[int, int]


def facts_of(rows: DataFrame, loaded: Loaded) -> Facts:
    """The figures of rows that were judged; `rows` should be kept, since they are read several times."""
    from pyspark.sql import functions as f

    is_good = ~f.col(IS_BAD) & ~f.col(IS_AGAIN)
    counted = rows.agg(
        f.count("*").alias("rows"),
        f.count_if(is_good).alias("accepted"),
        f.approx_count_distinct(f.when(is_good, f.col(SUBSCRIBER))).alias("subscribers"),
        f.count_if(is_good & f.col(EXPIRES).isNotNull()).alias("expiring"),
    ).first()
    assert counted is not None
    found = _features(rows.where(is_good))
    return Facts(
        accepted=counted["accepted"],
        subscribers=counted["subscribers"],
        expiring=counted["expiring"],
        refused=counted["rows"] - counted["accepted"],
        reasons=_reasons(loaded.rejects) if counted["rows"] > counted["accepted"] else (),
        attributes=_by(found, "attribute"),
        kinds=_by(found, "kind"),
        boxes={int(name): count for name, count in found["boxes"].items()},
        lengths={int(name): count for name, count in found["length"].items()},
    )


def _features(good: DataFrame) -> dict[str, dict[str, int]]:
    """How many filters have each attribute, kind of condition and size, and how many conditions do, in one pass."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    kinds = f.transform(CONDITIONS, lambda each: f.substring_index(each, " ", 1))
    attributes = f.transform(CONDITIONS, lambda each: each.substr(f.locate(" ", each) + 1, f.length(each)))
    lists = {
        "attribute": f.array_distinct(attributes),
        "conditions by attribute": attributes,
        "kind": f.array_distinct(kinds),
        "conditions by kind": kinds,
        "boxes": f.array(_step(f.col(BOXES))),
        "length": f.array(_step(f.char_length(FILTER))),
    }
    features = good.select(
        f.explode(f.concat(*(_named(what, names) for what, names in lists.items()))).alias("feature")
    ).select("feature.*")
    counted = features.groupBy("what", "name").agg(f.count("*").alias("number"))
    turn = f.row_number().over(Window.partitionBy("what").orderBy(f.desc("number"), "name"))
    found: dict[str, dict[str, int]] = {what: {} for what in lists}
    for each in counted.withColumn("turn", turn).where(f.col("turn") <= _MOST_NAMES).collect():
        found[each["what"]][each["name"]] = each["number"]
    return found


def _named(what: str, names: Any) -> Any:
    from pyspark.sql import functions as f

    return f.transform(names, lambda name: f.struct(f.lit(what).alias("what"), name.alias("name")))


def _step(size: Any) -> Any:
    """The power of two that a size begins with. The logarithm is exact to 2^49, and off by one at most beyond."""
    from pyspark.sql import functions as f

    return f.floor(f.log2(f.greatest(size, f.lit(1)))).cast("string")


def _by(found: dict[str, dict[str, int]], what: str) -> tuple[tuple[str, int, int], ...]:
    """Names, filters and conditions, the most frequent first."""
    conditions = found[f"conditions by {what}"]
    rows = ((name, count, conditions.get(name, count)) for name, count in found[what].items())
    return tuple(sorted(rows, key=lambda each: (-each[1], each[0])))


def _reasons(rejects: DataFrame) -> tuple[Reason, ...]:
    """Reasons without what came, which differs from row to row."""
    from pyspark.sql import functions as f

    expected = f.regexp_extract(REASON, r"(?s)^(Expected .*?), got ", 1)
    expected = f.when(expected != "", expected).otherwise(f.col(REASON))
    cut = [f.substring(name, 1, _LONGEST_SHOWN).alias(name) for name in (SUBSCRIPTION, FILTER, REASON)]
    first = f.min(f.struct(ROW, *cut)).alias("first")
    found = (
        rejects.groupBy(f.substring(expected, 1, _LONGEST_SHOWN).alias("expected"))
        .agg(f.count("*").alias("rows"), first)
        .orderBy(f.desc("rows"), "expected")
        .limit(_MOST_REASONS)
        .collect()
    )
    return tuple(
        Reason(
            each["expected"],
            each["rows"],
            *(each["first"][name] for name in (ROW, SUBSCRIPTION, FILTER, REASON)),
        )
        for each in found
    )


def report_of(facts: Facts, path: str, command: str) -> Report:
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
    _add_reasons(report, facts)
    if facts.accepted:
        _add_conditions(report, facts)
        _add_sizes(report, facts)
    return report


def _add_reasons(report: Report, facts: Facts) -> None:
    if not facts.refused:
        report.section("Refused rows", "None: every row is a subscription.")
        return
    report.section(
        "Refused rows", "By what was expected, each with its first row. `rejects` has all of them."
    )
    shown = [
        {
            "rows": each.rows,
            "expected": each.expected,
            "first row": each.first,
            "its id": each.subscription,
            "its filter": each.filter,
            "its reason": each.reason,
        }
        for each in facts.reasons
    ]
    report.table(shown, caption="Reasons")


def _add_conditions(report: Report, facts: Facts) -> None:
    report.section("Attributes", "How many filters ask for each attribute, after normalisation.")
    names = [name for name, _, _ in facts.attributes]
    filters = [count for _, count, _ in facts.attributes]
    report.bars(
        names, filters, title="Filters that ask for an attribute", label="attribute", value="filters", most=30
    )
    rows = [
        {"attribute": name, "filters": count, "of all": count / facts.accepted, "conditions": conditions}
        for name, count, conditions in facts.attributes
    ]
    report.table(rows, caption="Attributes", formats={"of all": "percent"})
    report.section(
        "Conditions", "What filters ask of attributes: one condition per attribute and alternative."
    )
    kinds = [_KINDS.get(name, name) for name, _, _ in facts.kinds]
    report.bars(
        kinds, [count for _, _, count in facts.kinds], title="Kinds of conditions", value="conditions"
    )


def _add_sizes(report: Report, facts: Facts) -> None:
    report.section(
        "Sizes", "A box has one interval per attribute; every `in` and `or` multiplies or adds boxes."
    )
    for sizes, title, axis in (
        (facts.boxes, "Boxes of a filter", "boxes"),
        (facts.lengths, "Length of filter texts", "characters"),
    ):
        steps = range(min(sizes), max(sizes) + 1)
        edges = [2**step for step in (*steps, steps[-1] + 1)]
        report.histogram(
            edges,
            [sizes.get(step, 0) for step in steps],
            title=title,
            x=PlotAxis(axis, log=True),
            y="filters",
        )
