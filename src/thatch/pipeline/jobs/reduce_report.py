"""How much smaller a set of subscriptions could be: figures, and the page that shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.pipeline.columns import ROW, SUBSCRIPTION, DataFrame, f
from thatch.pipeline.jobs.job import FirstRows, add_first_rows, first_rows
from thatch.pipeline.transforms.reducing.pieces import ATTRIBUTES
from thatch.pipeline.transforms.reducing.verdicts import ACTIVE, BOXES, EXHAUSTED, NODES, PROOF, ROUNDS
from thatch.reports import Report

__all__ = [
    "MOST_LISTED",
    "SHOWN",
    "ReduceFacts",
    "add_sections",
    "curve_of",
    "reduce_facts",
    "reduce_report",
]

MOST_LISTED = 200  # masks, coverers and rows, in a table
_POINTS = 200  # of a curve
SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ReduceFacts:
    """What was found."""

    active: int  # subscriptions that are enough
    single: int  # covered by one of them
    several: int  # covered by several of them together
    exhausted: int  # active because undecided within the budget
    large: int  # active because they have too many boxes to be decided
    refused: int  # rows that are not subscriptions
    nodes: int  # cells that searches looked at
    rounds: int  # how often searches asked for another subscription
    first_refused: FirstRows = ()
    first_exhausted: tuple[tuple[int, str], ...] = ()  # row and id
    hardest: tuple[tuple[int, str, int], ...] = ()  # row, id and cells of the searches that took most
    masks: tuple[dict[str, Any], ...] = ()  # counts by set of attributes, the most frequent first
    coverers: tuple[
        dict[str, Any], ...
    ] = ()  # active ones by how many others they cover, alone and with others
    sizes: tuple[tuple[int, int], ...] = ()  # passive subscriptions by the size of their proofs
    curve: tuple[tuple[int, int], ...] = ()  # how many had arrived, and how many of them were active

    @property
    def passive(self) -> int:
        """How many others cover."""
        return self.single + self.several

    @property
    def subscriptions(self) -> int:
        """How many there were."""
        return self.active + self.passive


def reduce_facts(found: DataFrame, rejects: DataFrame) -> ReduceFacts:
    """Count what `reduce` found."""
    proof_size = f.size(PROOF)
    columns = {
        "active": f.count_if(f.col(ACTIVE)),
        "single": f.count_if(proof_size == 1),
        "several": f.count_if(proof_size > 1),
    }
    counts = found.agg(
        *(column.alias(name) for name, column in columns.items()),
        f.count_if(EXHAUSTED).alias("exhausted"),
        f.count_if(f.col(BOXES).isNull()).alias("large"),
        f.coalesce(f.sum(NODES), f.lit(0)).alias("nodes"),
        f.coalesce(f.sum(ROUNDS), f.lit(0)).alias("rounds"),
    ).first()
    assert counts is not None
    by_mask = found.groupBy(ATTRIBUTES).agg(
        f.count("*").alias("subscriptions"),
        columns["active"].alias("needed"),
        (columns["active"] / f.count("*")).alias("share needed"),
        columns["single"].alias("covered by one"),
        columns["several"].alias("by several"),
    )
    masks = by_mask.orderBy(f.desc("subscriptions"), ATTRIBUTES).limit(MOST_LISTED).collect()
    sizes = found.where(~f.col(ACTIVE)).groupBy(proof_size.alias("names")).count().orderBy("names").collect()
    exhausted = found.where(EXHAUSTED).orderBy(ROW).limit(MOST_LISTED).collect()
    hardest = found.where(f.col(NODES) > 0).orderBy(f.desc(NODES), ROW).limit(SHOWN).collect()
    refused, first_refused = first_rows(rejects)
    return ReduceFacts(
        **counts.asDict(),
        refused=refused,
        first_refused=first_refused,
        first_exhausted=tuple((each[ROW], each[SUBSCRIPTION]) for each in exhausted),
        hardest=tuple((each[ROW], each[SUBSCRIPTION], each[NODES]) for each in hardest),
        masks=tuple(each.asDict() for each in masks),
        coverers=_coverers(found),
        sizes=tuple((each["names"], each["count"]) for each in sizes),
        curve=curve_of(found.select(ROW, ACTIVE).toArrow().sort_by(ROW).column(ACTIVE).to_numpy()),
    )


def _coverers(found: DataFrame) -> tuple[dict[str, Any], ...]:
    named = found.select(f.explode(PROOF).alias(SUBSCRIPTION), (f.size(PROOF) == 1).alias("is_alone"))
    counts = named.groupBy(SUBSCRIPTION).agg(
        f.count("*").alias("covers"), f.count_if("is_alone").alias("alone")
    )
    first = counts.orderBy(f.desc("covers"), SUBSCRIPTION).limit(MOST_LISTED)
    joined = first.join(found.select(SUBSCRIPTION, ATTRIBUTES), SUBSCRIPTION)
    others = (f.col("covers") - f.col("alone")).alias("with others")
    rows = joined.select(SUBSCRIPTION, ATTRIBUTES, "covers", "alone", others).collect()
    return tuple(
        sorted((each.asDict() for each in rows), key=lambda row: (-row["covers"], row[SUBSCRIPTION]))
    )


def curve_of(is_active: npt.NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    """How many subscriptions had arrived, and how many of them were active; at some moments."""
    active = np.cumsum(is_active)
    seen = np.unique(np.linspace(1, len(active), min(_POINTS, len(active))).astype(np.int64))
    return tuple(zip(seen.tolist(), active[seen - 1].tolist(), strict=True))


def reduce_report(facts: ReduceFacts, path: str, command: str) -> Report:
    """The page."""
    report = Report(f"Redundant subscriptions of {path}", command=command)
    total = max(facts.subscriptions, 1)
    report.facts(
        {
            "subscriptions": facts.subscriptions,
            "needed": facts.active,
            "share needed": facts.active / total,
            "covered by one other": facts.single,
            "covered by several together": facts.several,
            "undecided within the budget": facts.exhausted,
            "with too many boxes": facts.large,
            "rows refused": facts.refused,
        },
        formats={"share needed": "percent"},
    )
    add_sections(report, facts)
    return report


def add_sections(report: Report, facts: ReduceFacts) -> None:
    """Add all but the figures."""
    if facts.subscriptions:
        _add_sizes(report, facts)
        _add_masks(report, facts)
    if facts.coverers:
        _add_coverers(report, facts)
    if facts.subscriptions:
        _add_work(report, facts)
    add_first_rows(report, "Rows that are not subscriptions", facts.first_refused, facts.refused)


def _add_sizes(report: Report, facts: ReduceFacts) -> None:
    report.section(
        "Before and after", "As subscriptions arrive: how many there are, and how many of them are needed."
    )
    seen, needed = zip(*facts.curve, strict=True)
    curves = {"all": (seen, seen), "needed": (seen, needed)}
    report.lines(curves, title="Subscriptions", x="rows seen", y="subscriptions")
    if facts.sizes:
        sizes, counts = zip(*facts.sizes, strict=True)
        label, value = "subscriptions in the proof", "subscriptions covered"
        report.bars(sizes, counts, title="Size of proofs", label=label, value=value)


def _add_masks(report: Report, facts: ReduceFacts) -> None:
    report.section(
        "By attributes", "Subscriptions that constrain the same attributes, and how many of them are needed."
    )
    first = facts.masks[:20]
    report.bars(
        [each["attributes"] or "(all events)" for each in first],
        {"all": [each["subscriptions"] for each in first], "needed": [each["needed"] for each in first]},
        title="The most frequent sets of attributes",
        label="attributes",
        value="subscriptions",
    )
    report.table(list(facts.masks), caption="Sets of attributes", formats={"share needed": "percent"})


def _add_coverers(report: Report, facts: ReduceFacts) -> None:
    report.section(
        "What covers what", "How many others each active subscription covers; `passive` has all proofs."
    )
    report.table(list(facts.coverers), caption="Subscriptions that cover most others")


def _add_work(report: Report, facts: ReduceFacts) -> None:
    report.section(
        "Work",
        "The cost of the exact search, beyond the search for a single subscription that contains another.",
    )
    report.facts({"cells visited": facts.nodes, "rounds of search": facts.rounds})
    if facts.hardest:
        rows = [{"row": row, "subscription": name, "cells": cells} for row, name, cells in facts.hardest]
        report.table(rows, caption="The hardest subscriptions")
    if facts.exhausted:
        rows = [{"row": row, "subscription": name} for row, name in facts.first_exhausted]
        report.table(rows, caption="Active because undecided within the budget", total=facts.exhausted)
