"""The job of `thatch place`: subscriptions, locations and a broker tree to a plan folder, here or on Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from thatch.formats.broker_tree import read_broker_tree
from thatch.formats.locations import read_locations
from thatch.formats.plan import KIND, write_plan, write_plan_tables
from thatch.formats.profile import read_profile
from thatch.model.filters import Filter
from thatch.model.profile import Profile
from thatch.model.schema import Schema
from thatch.pipeline.adapter import Progress, watched
from thatch.pipeline.failures import failures_told
from thatch.pipeline.folders import work_folder
from thatch.pipeline.jobs.load import read_loaded
from thatch.pipeline.jobs.place_report import report_of
from thatch.pipeline.jobs.place_traffic import counted_here, counted_on_spark
from thatch.pipeline.schemas import REASON, ROW
from thatch.pipeline.sinks import REPORT, Folder, folder_written
from thatch.pipeline.transforms.loading import apart, judged
from thatch.pipeline.transforms.placing.place import place as place_on_spark
from thatch.placement.placing import PlacementOptions, place
from thatch.placement.plan import PlacementPlan
from thatch.placement.sites import Homes, Sites
from thatch.placement.subscriptions import SubscriptionList

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Inputs", "Placed", "place_files", "place_here"]

Refused = Sequence[tuple[int, str]]  # rows that are no subscriptions, with the reasons


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What a plan is made of.

    Parameters
    ----------
    subscriptions : a file; on Spark also a folder of files, a glob, or a folder of `thatch load` with its schema
    tree : a file; see `thatch.formats.broker_tree`
    locations : a file; see `thatch.formats.locations`
    profile : a folder of `thatch profile`, None for no profile
    events : files of events in which the traffic of the plan is counted, None for none
    schema : declared types of attributes
    boxes : most in the filter of a broker that says nothing else
    map : two attributes in which the report draws filters
    """

    subscriptions: str
    tree: str
    locations: str
    profile: str | None = None
    events: str | None = None
    schema: Schema | None = None
    boxes: int = 3
    map: tuple[str, ...] = ()

    def read(self) -> tuple[Sites, Homes, Profile | None]:
        """The brokers, the homes of subscribers, and the profile."""
        sites = read_broker_tree(self.tree, complexity=self.boxes)
        profile = None if self.profile is None else read_profile(self.profile)
        return sites, read_locations(self.locations, sites.tree), profile

    def parameters(self, wanted: PlacementOptions) -> dict[str, Any]:
        """All of it for a manifest."""
        schema = self.schema.describe() if self.schema is not None else None
        names = ("subscriptions", "tree", "locations", "profile", "events", "boxes")
        files = {name: getattr(self, name) for name in names}
        return {**files, **asdict(wanted), "schema": schema}


@dataclass(frozen=True, slots=True)
class Placed:
    """A plan, and the rows that are no subscriptions."""

    plan: PlacementPlan
    refused: Refused


def place_here(  # noqa: PLR0913 - what can be told to it
    subscriptions: Sequence[tuple[str, Filter]],
    refused: Refused,
    inputs: Inputs,
    out: str,
    wanted: PlacementOptions,
    *,
    overwrite: bool = False,
    command: str = "",
    now: Callable[[], float] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Placed:
    """Place the subscribers of filters that are in this process, and write the plan; no Spark is needed.

    Parameters
    ----------
    subscriptions, refused : what the file of subscriptions held
    out : the folder; see `thatch.formats.plan`
    """
    sites, homes, profile = inputs.read()
    found = place(
        SubscriptionList(subscriptions),
        sites,
        homes,
        wanted,
        profile=profile,
        schema=inputs.schema,
        now=now,
        on_progress=tell,
    )
    if inputs.events is not None:
        found = counted_here(found, inputs.events, inputs.schema)
    page = report_of(found, inputs.subscriptions, command, attributes=inputs.map, refused=refused)
    write_plan(
        out,
        found,
        report=page.html(),
        command=command,
        parameters=inputs.parameters(wanted),
        overwrite=overwrite,
    )
    return Placed(found, refused)


def place_files(
    spark: SparkSession,
    inputs: Inputs,
    out: str,
    wanted: PlacementOptions,
    *,
    overwrite: bool = False,
    command: str = "",
    now: Callable[[], float] | None = None,
    report: Progress | None = None,
) -> Placed:
    """Place the subscribers of files on Spark, and write the plan to a folder that appears when all of it is whole.

    Parameters
    ----------
    out : the folder; see `thatch.formats.plan`
    report : is told how many of Spark's tasks are done of those known
    """
    sites, homes, profile = inputs.read()
    with (
        folder_written(spark, out, overwrite=overwrite) as folder,
        watched(spark, report),
        failures_told(f"placing the subscribers of {inputs.subscriptions}"),
    ):
        table, schema = read_loaded(spark, inputs.subscriptions, inputs.schema)
        # Kept, since it is read three times.
        rows = judged(table, schema=schema).persist()
        try:
            loaded = apart(rows)
            found = place_on_spark(
                loaded.accepted,
                sites,
                homes,
                wanted,
                profile=profile,
                schema=schema,
                now=now,
            )
            rejects = loaded.rejects.select(ROW, REASON).orderBy(ROW).toArrow().to_pylist()
        finally:
            rows.unpersist()
        if inputs.events is not None:
            found = counted_on_spark(spark, found, inputs.events, schema)
        refused = [(each[ROW], each[REASON]) for each in rejects]
        page = report_of(found, inputs.subscriptions, command, attributes=inputs.map, refused=refused)
        folder.put(REPORT, page.html())
        told = _written(folder, found)
        parameters = replace(inputs, schema=schema).parameters(wanted)
        folder.describe(KIND, command=command, parameters=parameters, rows=told)
    return Placed(found, refused)


def _written(folder: Folder, plan: PlacementPlan) -> dict[str, int]:
    made = work_folder() / uuid4().hex
    made.mkdir()
    rows = write_plan_tables(made, plan)
    for name in rows:
        folder.put(f"{name}.parquet", made / f"{name}.parquet")
    return rows
