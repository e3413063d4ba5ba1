"""`place`: which broker should serve which subscriber, of a table of subscriptions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from thatch import placement
from thatch.formats.locations import homes_of
from thatch.model.profile import Profile
from thatch.model.schema import Schema
from thatch.pipeline.failures import failures_told
from thatch.pipeline.transforms.placing.gathering import SparkSubscriptions
from thatch.pipeline.transforms.placing.parts import EachOnSpark
from thatch.placement.placing import PlacementOptions
from thatch.placement.plan import PlacementPlan
from thatch.placement.sites import Homes, Sites

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["place"]


def place(
    subscriptions: DataFrame,
    sites: Sites,
    locations: DataFrame | Homes,
    wanted: PlacementOptions | None = None,
    *,
    profile: Profile | None = None,
    schema: Schema | None = None,
    now: Callable[[], float] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> PlacementPlan:
    """A verified plan: the very same as `thatch.placement.place` gives for the same subscriptions in the same order.

    Tasks parse filters, count intervals and interests, find candidate sets, draw samples, fit the filters of brokers and bound
    the bandwidth from below; linear programs, flows, greedy steps and searches run in this process, on numbers.

    Parameters
    ----------
    subscriptions : `subscription` and `filter`, of which every row must be good (`load` tells the bad ones apart), and if
        there are any `subscriber` and `row`, the order of arrival (without, that of the names of subscribers); it is read
        twice
    sites : the brokers, as `thatch.formats.broker_tree.read_broker_tree` gives them
    locations : `subscriber` with coordinates, or with a `broker`, and perhaps a `limit`; see `thatch.formats.locations`
    wanted, profile, schema, now, tell : as for `thatch.placement.place`

    Raises
    ------
    TableError
        If a column is missing or of a wrong type, or a location is none.
    SubscriptionError
        If a row is no subscription.
    ParameterError
        If a subscriber has no location, or a limit that no leaf can meet.
    """
    if not isinstance(locations, Homes):
        with failures_told("reading the locations"):
            rows = locations.toArrow().to_pylist()
        locations = homes_of(enumerate(rows), sites.tree, "the locations")
    return placement.place(
        SparkSubscriptions(subscriptions, schema),
        sites,
        locations,
        wanted,
        profile=profile,
        schema=schema,
        executor=EachOnSpark(subscriptions.sparkSession),
        now=now,
        on_progress=tell,
    )
