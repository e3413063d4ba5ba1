"""How much smaller a set of subscriptions could be: figures for people, and the page that shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from thatch.pipeline.schemas import REASON, ROW, SUBSCRIPTION
from thatch.pipeline.transforms.reducing.pieces import ATTRIBUTES
from thatch.pipeline.transforms.reducing.telling import ACTIVE, BOXES, EXHAUSTED, NODES, PROOF, ROUNDS
from thatch.reports import Report

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Coverer", "Facts", "Mask", "add_sections", "facts_of", "report_of"]

_MOST = 200  # masks, coverers and rows, in a table
_POINTS = 200  # of a curve
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Mask:
    """Subscriptions that constrain the same attributes: how many, how many are active, covered by one or by several."""

    attributes: str
    subscriptions: int
    active: int
    single: int
    several: int


@dataclass(frozen=True, slots=True)
class Coverer:
    """An active subscription, how many passive ones lean on it, and for how many of them it is enough alone."""

    subscription: str
    attributes: str
    leaning: int
    alone: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What was found.

    Parameters
    ----------
    active, single, several : subscriptions that are enough, and those that one or several of them cover
    exhausted, large : active ones that were not decided within the budget, or have too many boxes to be decided
    refused, first_refused : rows that are no subscriptions, and the first of them: row, reason
    nodes, rounds : cells that searches looked at, and how often they asked for another subscription
    hardest : row, id and cells of the searches that took most
    first_exhausted : row and id
    masks : by attributes, the most frequent first
    coverers : those on which most lean first
    sizes : passive ones by the number of those that their proof names
    curve : how many had come, and how many of them were active
    """

    active: int
    single: int
    several: int
    exhausted: int
    large: int
    refused: int
    nodes: int
    rounds: int
    first_refused: tuple[tuple[int, str], ...] = ()
    first_exhausted: tuple[tuple[int, str], ...] = ()
    hardest: tuple[tuple[int, str, int], ...] = ()
    masks: tuple[Mask, ...] = ()
    coverers: tuple[Coverer, ...] = ()
    sizes: tuple[tuple[int, int], ...] = ()
    curve: tuple[tuple[int, int], ...] = ()

    @property
    def passive(self) -> int:
        """How many are covered."""
        return self.single + self.several

    @property
    def subscriptions(self) -> int:
        """How many there were."""
        return self.active + self.passive


def facts_of(found: DataFrame, rejects: DataFrame) -> Facts:
    """The figures of what `reduce` gave."""
    from pyspark.sql import functions as f

    names = f.size(PROOF)
    columns = {
        "active": f.count_if(f.col(ACTIVE)),
        "single": f.count_if(names == 1),
        "several": f.count_if(names > 1),
    }
    counted = found.agg(
        *(column.alias(name) for name, column in columns.items()),
        f.count_if(EXHAUSTED).alias("exhausted"),
        f.count_if(f.col(BOXES).isNull()).alias("large"),
        f.coalesce(f.sum(NODES), f.lit(0)).alias("nodes"),
        f.coalesce(f.sum(ROUNDS), f.lit(0)).alias("rounds"),
    ).first()
    assert counted is not None
    by_mask = found.groupBy(ATTRIBUTES).agg(
        f.count("*").alias("subscriptions"), *(column.alias(name) for name, column in columns.items())
    )
    masks = by_mask.orderBy(f.desc("subscriptions"), ATTRIBUTES).limit(_MOST).collect()
    sizes = found.where(~f.col(ACTIVE)).groupBy(names.alias("names")).count().orderBy("names").collect()
    exhausted = found.where(EXHAUSTED).orderBy(ROW).limit(_MOST).collect()
    hardest = found.where(f.col(NODES) > 0).orderBy(f.desc(NODES), ROW).limit(_SHOWN).collect()
    refused = rejects.orderBy(ROW).limit(_SHOWN).collect()
    return Facts(
        **counted.asDict(),
        refused=rejects.count(),
        first_refused=tuple((each[ROW], each[REASON]) for each in refused),
        first_exhausted=tuple((each[ROW], each[SUBSCRIPTION]) for each in exhausted),
        hardest=tuple((each[ROW], each[SUBSCRIPTION], each[NODES]) for each in hardest),
        masks=tuple(Mask(*each) for each in masks),
        coverers=_coverers(found),
        sizes=tuple((each["names"], each["count"]) for each in sizes),
        curve=_curve(found),
    )


def _coverers(found: DataFrame) -> tuple[Coverer, ...]:
    from pyspark.sql import functions as f

    named = found.select(f.explode(PROOF).alias(SUBSCRIPTION), (f.size(PROOF) == 1).alias("is_alone"))
    counted = named.groupBy(SUBSCRIPTION).agg(
        f.count("*").alias("leaning"), f.count_if("is_alone").alias("alone")
    )
    first = counted.orderBy(f.desc("leaning"), SUBSCRIPTION).limit(_MOST)
    told = first.join(found.select(SUBSCRIPTION, ATTRIBUTES), SUBSCRIPTION)
    rows = told.select(SUBSCRIPTION, ATTRIBUTES, "leaning", "alone").collect()
    return tuple(
        sorted((Coverer(*each) for each in rows), key=lambda each: (-each.leaning, each.subscription))
    )


def _curve(found: DataFrame) -> tuple[tuple[int, int], ...]:
    table = found.select(ROW, ACTIVE).toArrow().sort_by(ROW)
    active = np.cumsum(table.column(ACTIVE).to_numpy())
    seen = np.unique(np.linspace(1, len(active), min(_POINTS, len(active))).astype(np.int64))
    return tuple(zip(seen.tolist(), active[seen - 1].tolist(), strict=True))


def report_of(facts: Facts, path: str, command: str) -> Report:
    """The page."""
    report = Report(f"What is enough of {path}", command=command)
    total = max(facts.subscriptions, 1)
    report.facts(
        {
            "subscriptions": facts.subscriptions,
            "that are enough": facts.active,
            "of all": facts.active / total,
            "covered by one other": facts.single,
            "covered by several together": facts.several,
            "not decided within the budget": facts.exhausted,
            "with too many boxes": facts.large,
            "rows refused": facts.refused,
        },
        formats={"of all": "percent"},
    )
    add_sections(report, facts)
    return report


def add_sections(report: Report, facts: Facts) -> None:
    """What there is to tell beyond the figures."""
    if facts.subscriptions:
        _add_sizes(report, facts)
        _add_masks(report, facts)
    if facts.coverers:
        _add_coverers(report, facts)
    if facts.subscriptions:
        _add_work(report, facts)
    if facts.refused:
        report.section("Rows that are no subscriptions")
        rows = [{"row": row, "reason": reason} for row, reason in facts.first_refused]
        report.table(rows, caption="The first of them", total=facts.refused)


def _add_sizes(report: Report, facts: Facts) -> None:
    report.section(
        "Before and after", "As subscriptions come in: how many there are, and how many of them are enough."
    )
    seen = [each for each, _ in facts.curve]
    report.lines(
        {"all": (seen, seen), "enough": (seen, [each for _, each in facts.curve])},
        title="Subscriptions",
        x="rows seen",
        y="subscriptions",
    )
    if facts.sizes:
        report.bars(
            [names for names, _ in facts.sizes],
            [count for _, count in facts.sizes],
            title="How many it takes to cover one",
            label="subscriptions in the proof",
            value="subscriptions covered",
        )


def _add_masks(report: Report, facts: Facts) -> None:
    report.section(
        "By attributes", "Subscriptions that ask for the same attributes, and what is left of them."
    )
    first = facts.masks[:20]
    report.bars(
        [each.attributes or "(all events)" for each in first],
        {"all": [each.subscriptions for each in first], "enough": [each.active for each in first]},
        title="The most frequent sets of attributes",
        label="attributes",
        value="subscriptions",
    )
    rows = [
        {
            "attributes": each.attributes,
            "subscriptions": each.subscriptions,
            "enough": each.active,
            "of them": each.active / each.subscriptions,
            "covered by one": each.single,
            "by several": each.several,
        }
        for each in facts.masks
    ]
    report.table(rows, caption="Sets of attributes", formats={"of them": "percent"})


def _add_coverers(report: Report, facts: Facts) -> None:
    report.section(
        "What covers what", "On how many proofs each active subscription stands; `passive` has all proofs."
    )
    rows = [
        {
            "subscription": each.subscription,
            "attributes": each.attributes,
            "covers": each.leaning,
            "alone": each.alone,
            "with others": each.leaning - each.alone,
        }
        for each in facts.coverers
    ]
    report.table(rows, caption="Those that cover most")


def _add_work(report: Report, facts: Facts) -> None:
    report.section(
        "Work", "What the exact search took, beyond looking for one subscription that contains another."
    )
    report.facts({"cells looked at": facts.nodes, "rounds of asking": facts.rounds})
    if facts.hardest:
        rows = [{"row": row, "subscription": name, "cells": cells} for row, name, cells in facts.hardest]
        report.table(rows, caption="The hardest")
    if facts.exhausted:
        rows = [{"row": row, "subscription": name} for row, name in facts.first_exhausted]
        report.table(rows, caption="Not decided within the budget, and so active", total=facts.exhausted)
