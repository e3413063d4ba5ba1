"""`reduce`: which subscriptions of a table are enough, and by what the others are covered.

A subscription is redundant exactly if it lies in the union of all that came before it, kept or not: what was left out is
covered by what was kept. So each is decided on its own, in parallel, in three passes. The first looks for a single
earlier one that contains it, which is cheap and finds most. What is left has the same union as all, so that the second
decides each of the left by the earlier of them together. By now it is known who is active; the third looks again at those
whose proof names a passive one.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.model.schema import Schema
from thatch.pipeline.transforms.reducing.arranged import Arranged, Order, arranged
from thatch.pipeline.transforms.reducing.deciding import Asking, Decisions, PolicyName, decide
from thatch.pipeline.transforms.reducing.labels import volumes_of
from thatch.pipeline.transforms.reducing.pieces import Gather, gatherer, questions_of, rows_of
from thatch.pipeline.transforms.reducing.telling import told
from thatch.pipeline.transforms.reducing.verdicts import Verdicts
from thatch.reduction.boxes import Ints

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["arranged_rows", "checked_limit", "reduce", "verdicts_on"]

_MANY = 10_000  # subscriptions that no single other covers
_LARGEST = 10  # one in so many is among the largest

_POLICIES = ("exact", "pairwise")
_ORDERS = ("arrival", "volume")


def reduce(
    subscriptions: DataFrame,
    *,
    policy: PolicyName = "exact",
    budget: float | None = None,
    order: Order = "arrival",
    schema: Schema | None = None,
) -> DataFrame:
    """Tell active subscriptions, which together match every event that any matches, from those that they cover.

    The active ones are those of a `ForwardingSet` to which the rows are added one after the other.

    Parameters
    ----------
    subscriptions : `subscription` and `filter`, of which every row must be good (`load` tells the bad ones apart), and
        if there are any `subscriber` and `row` (numbers the rows, and is the order of arrival; else they are numbered
        as they come); it is read twice if filters have derived attributes or wildcards
    policy : whether all earlier ones together may cover one, "exact", or only a single one, "pairwise"
    budget : most cells that the exact search may look at for one box, None for no limit; what is not decided by then is
        active and `exhausted`
    order : who comes first: as in `row`, or by "volume" the largest, which leaves fewer of them
    schema : declared types of attributes

    Returns
    -------
    `row`, `subscription`, `subscriber`, `attributes` (the keys that the filter constrains, as text), `boxes` (how many
    it has, null if too many to be decided: such a subscription is active and proves nothing), `active`, `decided_by` (as
    in `thatch.reduction.problem`), `proof` (ids of active subscriptions that together cover a passive one), `exhausted`,
    `nodes` and `rounds` (the work of the search).

    Raises
    ------
    TableError
        If a column is missing or of a wrong type, or two rows have one number.
    SubscriptionError
        If a row is no subscription, or an id occurs twice.
    ParameterError
        If the policy or the order is unknown, or the budget is not at least 1.

    Notes
    -----
    The work is done when this is called; the DataFrame reads what was found from a file that lives as long as this
    process. All boxes pass through this process, as numbers: some 200 bytes for a subscription of four attributes.
    `expires` plays no part: when an active one goes, those whose proof names it are to be decided again.
    """
    asking = Asking(policy, checked_limit(policy, budget, order))
    spark = subscriptions.sparkSession
    found = arranged_rows(gatherer(subscriptions), order, schema)
    return told(spark, found, verdicts_on(found, asking, spark), policy)


def checked_limit(policy: str, budget: float | None, order: str) -> float:
    """The budget as a number, if all three are such that `reduce` can work with them."""
    for value, known, where in ((policy, _POLICIES, "policy"), (order, _ORDERS, "order")):
        if value not in known:
            raise ParameterError(" or ".join(f'"{each}"' for each in known), shown(value), where)
    if budget is None:
        return inf
    if isinstance(budget, bool) or not isinstance(budget, (int, float)) or not budget >= 1:
        raise ParameterError("at least 1 cell, or None", shown(budget), "budget")
    return budget


def arranged_rows(gather: Gather, order: Order, schema: Schema | None) -> Arranged:
    """Subscriptions with their boxes, in the order in which they are decided."""
    rows = rows_of(gather, schema)
    axes = rows.sides.column("axis").combine_chunks().dictionary.to_pylist()
    questions = None
    if any(axis[-1] == ")" or axis in rows.checks for axis in axes):
        questions = questions_of(gather, schema, (rows.checks.get(axis, axis) for axis in axes))
    return arranged(rows, questions, order)


def verdicts_on(found: Arranged, asking: Asking, spark: SparkSession) -> Verdicts:
    """Who is active, and what covers the others; by tasks where there is much to decide."""

    def asked(asking: Asking, places: Ints, known: Ints) -> Decisions:
        """What is found about some places by others."""
        rows, questions = found.rows.take(known), found.questions.take(places)
        return decide(spark, asking, rows, known, questions, places)

    every = np.arange(len(found.rows))
    verdicts = Verdicts(asked(Asking("pairwise", inf), every, every))
    if asking.policy == "exact":
        left = verdicts.active()
        if len(left) > _MANY:
            # The largest, which take little time, cover much of the others; then fewer are left to decide, and by fewer.
            largest = left[np.argsort(-volumes_of(found.rows.take(left)), kind="stable")]
            verdicts.revise(left, asked(asking, left, np.sort(largest[: len(left) // _LARGEST])))
            left = verdicts.active()
        verdicts.revise(left, asked(asking, left, left))
    again = verdicts.unproved()
    unexpected = verdicts.revise(again, asked(asking, again, verdicts.active()))
    verdicts.settle(unexpected, found, asking)
    return verdicts
