"""The public `reduce`: which subscriptions of a table are enough, and which of them cover the others.

A subscription is redundant exactly if it lies in the union of all that came before it, kept or not, since those kept cover
those left out. So each is decided on its own, in parallel, in three passes. The first looks for a single earlier
subscription that contains it, which is cheap and finds most. The remaining ones have the same union as all, so that the
second pass decides each of them by the earlier ones among them together. Now it is known which are active; the third pass
decides those again whose proof names a passive one.
"""

from __future__ import annotations

from functools import partial
from math import inf

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.model.schema import Schema
from thatch.pipeline.adapter import parallelism
from thatch.pipeline.columns import DataFrame
from thatch.pipeline.tasks import RunParts, run_parts
from thatch.pipeline.transforms.reducing.arranging import Arranged, Order, arrange, log_volumes
from thatch.pipeline.transforms.reducing.deciding import Decider, Decisions, PolicyName, decide_all
from thatch.pipeline.transforms.reducing.pieces import Gather, make_gather, write_questions, write_rows
from thatch.pipeline.transforms.reducing.verdicts import Verdicts, make_frame
from thatch.reduction.boxes import Ints

__all__ = ["arrange_rows", "check_limits", "decide_rows", "reduce"]

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
    """Find the active subscriptions, which together match every event that any matches, and those that they cover.

    The active ones are those of a `ForwardingSet` to which the rows are added one after the other.

    Parameters
    ----------
    subscriptions : `subscription` and `filter`, in which every row must be a subscription (`load` separates the others),
        and optionally `subscriber` and `row` (numbers the rows, and is the order of arrival; else they are numbered as
        they come); it is read twice if filters have derived attributes or wildcards
    policy : whether earlier subscriptions may cover one together, "exact", or only a single one, "pairwise"
    budget : the most cells that the exact search may look at for one box, None for no limit; what is not decided by then
        is active and `exhausted`
    order : as in `row`, or by "volume" the largest first, which leaves fewer active
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
        If a row is not a subscription, or an id occurs twice.
    ParameterError
        If the policy or the order is unknown, or the budget is not at least 1.

    Notes
    -----
    The work is done when this is called; the DataFrame reads what was found from a file that lives as long as this
    process. All boxes pass through this process, as numbers: some 200 bytes for a subscription of four attributes.
    `expires` is ignored: when an active subscription expires, decide those again whose proof names it.
    """
    decider = Decider(policy, check_limits(policy, budget, order))
    spark = subscriptions.sparkSession
    found = arrange_rows(make_gather(subscriptions), order, schema)
    verdicts = decide_rows(found, decider, partial(run_parts, spark), at_once=parallelism(spark))
    return make_frame(spark, found, verdicts, policy)


def check_limits(policy: str, budget: float | None, order: str) -> float:
    """Refuse options that `reduce` does not know; return the budget as a number."""
    for value, known, where in ((policy, _POLICIES, "policy"), (order, _ORDERS, "order")):
        if value not in known:
            raise ParameterError(" or ".join(f'"{each}"' for each in known), shown(value), where)
    if budget is None:
        return inf
    if isinstance(budget, bool) or not isinstance(budget, (int, float)) or not budget >= 1:
        raise ParameterError("at least 1 cell, or None", shown(budget), "budget")
    return budget


def arrange_rows(gather: Gather, order: Order, schema: Schema | None) -> Arranged:
    """Collect subscriptions with their boxes, in the order in which they are decided."""
    rows = write_rows(gather, schema)
    axes = rows.sides.column("axis").combine_chunks().dictionary.to_pylist()
    questions = None
    if any(axis[-1] == ")" or axis in rows.checks for axis in axes):
        questions = write_questions(gather, schema, (rows.checks.get(axis, axis) for axis in axes))
    return arrange(rows, questions, order)


def decide_rows(found: Arranged, decider: Decider, run: RunParts, *, at_once: int) -> Verdicts:
    """Find which subscriptions are active, and what covers the others; in parts if there is much to decide."""

    def decide(decider: Decider, turns: Ints, known: Ints) -> Decisions:
        """Decide some turns by others."""
        rows, questions = found.rows.take(known), found.questions.take(turns)
        return decide_all(run, decider, rows, known, questions, turns, at_once=at_once)

    every = np.arange(len(found.rows))
    verdicts = Verdicts(decide(Decider("pairwise", inf), every, every))
    if decider.policy == "exact":
        left = verdicts.active()
        if len(left) > _MANY:
            # The largest cover many of the others in little time; then fewer are left to decide, and by fewer.
            largest = left[np.argsort(-log_volumes(found.rows.take(left)), kind="stable")]
            verdicts.revise(left, decide(decider, left, np.sort(largest[: len(left) // _LARGEST])))
            left = verdicts.active()
        verdicts.revise(left, decide(decider, left, left))
    again = verdicts.find_unproved()
    unexpected = verdicts.revise(again, decide(decider, again, verdicts.active()))
    verdicts.settle(unexpected, found, decider)
    return verdicts
