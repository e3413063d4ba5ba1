"""The job of `thatch place`: place subscribers at the brokers of a tree, in this process or on Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from thatch.engine import Engine
from thatch.errors import EventError
from thatch.formats.broker_tree import read_broker_tree
from thatch.formats.columns import Tell
from thatch.formats.events import read_events
from thatch.formats.files import Rejects
from thatch.formats.locations import read_locations
from thatch.formats.plan import KIND, plan_tables, write_plan
from thatch.formats.profile import read_profile
from thatch.formats.reading import Reading
from thatch.model.filters import Filter
from thatch.model.profile import Profile
from thatch.model.schema import Schema
from thatch.outputs import check_folder
from thatch.pipeline.columns import EVENTS, REASON, ROW, SUBSCRIPTION, SparkSession
from thatch.pipeline.jobs.job import JobOutput, SparkJob, read_files_or_loaded, run_job
from thatch.pipeline.jobs.place_report import place_report
from thatch.pipeline.transforms.loading import check_subscriptions, split_checked
from thatch.pipeline.transforms.matching import match
from thatch.pipeline.transforms.placing import place as place_on_spark
from thatch.placement.placing import PlacementOptions, place
from thatch.placement.plan import PlacementPlan
from thatch.placement.sites import Homes, Sites
from thatch.placement.subscriptions import SubscriptionList

__all__ = ["Inputs", "Refused", "place_files", "place_here"]

Refused = Sequence[tuple[int, str]]  # rows that are not subscriptions, with the reasons

_EVERY = "every"  # the id of a filter that holds on all events; those of brokers are numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What a plan is made of."""

    # A file; on Spark also a folder of files, a glob, or a folder of `thatch load` with its schema.
    subscriptions: str
    tree: str  # a file; see `thatch.formats.broker_tree`
    locations: str  # a file; see `thatch.formats.locations`
    profile: str | None = None  # a folder of `thatch profile`, None for no profile
    events: str | None = None  # files of events in which the traffic of the plan is counted, None for none
    schema: Schema | None = None  # declared types of attributes
    reading: Reading = field(default_factory=Reading)  # how these files are read
    nulls: Literal["missing", "null"] = "missing"  # what empty fields of events are
    boxes: int = 3  # the most boxes in a broker's filter, unless the tree says otherwise
    map: tuple[str, ...] = ()  # two attributes in which the page draws filters

    def read(self) -> tuple[Sites, Homes, Profile | None]:
        """Read the brokers, the locations of subscribers, and the profile."""
        sites = read_broker_tree(self.tree, complexity=self.boxes)
        profile = None if self.profile is None else read_profile(self.profile)
        return sites, read_locations(self.locations, sites.tree, self.reading), profile

    @property
    def paths(self) -> tuple[str | None, ...]:
        """What is read."""
        return self.subscriptions, self.tree, self.locations, self.profile, self.events

    def parameters(self, wanted: PlacementOptions) -> dict[str, Any]:
        """All of it for a manifest."""
        names = ("subscriptions", "tree", "locations", "profile", "events", "nulls", "boxes")
        files = {name: getattr(self, name) for name in names}
        schema = None if self.schema is None else self.schema.describe()
        return {**files, **asdict(wanted), "schema": schema}


def place_here(
    subscriptions: Sequence[tuple[str, Filter]],
    refused: Refused,
    inputs: Inputs,
    wanted: PlacementOptions,
    output: JobOutput,
    *,
    now: Callable[[], float] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> PlacementPlan:
    """Place the subscribers of filters in this process, without Spark, and write the plan.

    The file of subscriptions held `subscriptions` and `refused`. `thatch.formats.plan` describes the folder.
    """
    check_folder(output.folder, inputs=(*inputs.paths, *output.inputs), overwrite=output.overwrite)
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
        found = _count_traffic_here(found, inputs.events, inputs, output)
    page = place_report(found, inputs.subscriptions, output.command, attributes=inputs.map, refused=refused)
    write_plan(
        output.folder,
        found,
        report=page.html(made=output.made),
        command=output.command,
        parameters=inputs.parameters(wanted),
        inputs=(*inputs.paths, *output.inputs),
        overwrite=output.overwrite,
    )
    return found


def place_files(
    spark: SparkSession,
    inputs: Inputs,
    wanted: PlacementOptions,
    output: JobOutput,
    *,
    now: Callable[[], float] | None = None,
) -> tuple[PlacementPlan, Refused]:
    """Place the subscribers of files on Spark, and write the plan; also returns the rows that were refused."""
    sites, homes, profile = inputs.read()
    with run_job(spark, output, f"placing the subscribers of {inputs.subscriptions}", inputs.paths) as job:
        table, schema = read_files_or_loaded(spark, inputs.subscriptions, inputs.schema, inputs.reading)
        checked = check_subscriptions(table, schema=schema, with_forms=True).persist()  # read three times
        try:
            loaded = split_checked(checked)
            rejects = loaded.rejects.select(ROW, REASON).orderBy(ROW).toArrow().to_pylist()
            if rejects:
                limit = inputs.reading.rejects
                limit.check(
                    len(rejects), checked.count(), inputs.subscriptions, "subscriptions", rejects[0][REASON]
                )
            found = place_on_spark(
                loaded.accepted, sites, homes, wanted, profile=profile, schema=schema, now=now
            )
        finally:
            checked.unpersist()
        if inputs.events is not None:
            found = _count_traffic(job, found, inputs.events, replace(inputs, schema=schema))
        refused = [(each[ROW], each[REASON]) for each in rejects]
        job.finish(
            KIND,
            page=place_report(
                found, inputs.subscriptions, output.command, attributes=inputs.map, refused=refused
            ),
            parameters=replace(inputs, schema=schema).parameters(wanted),
            rows=job.put_tables(plan_tables(found)),
        )
    return found, refused


# --- traffic ---------------------------------------------------------------------------------------------------------


def _count_traffic_here(plan: PlacementPlan, path: str, inputs: Inputs, output: JobOutput) -> PlacementPlan:
    """Count how many events of a file each broker would get; rows that are not events are left out."""
    engine, refused = _broker_filters(plan, inputs.schema), Rejects()
    counts: Counter[str] = Counter()
    names, tell = engine.attributes(), output.tell
    found = read_events(path, refused, nulls=inputs.nulls, reading=inputs.reading, tell=tell, names=names)
    for row, event in found:
        try:
            counts.update(engine.match(event))
        except EventError as error:
            refused(row, str(error))
    _check_events(path, inputs, counts, counts[_EVERY] + len(refused), output.tell)
    return _add_traffic(plan, counts)


def _count_traffic(job: SparkJob, plan: PlacementPlan, path: str, inputs: Inputs) -> PlacementPlan:
    """The same on Spark, for files of any size."""
    engine = _broker_filters(plan, inputs.schema)
    log = job.read_events(path, inputs.reading, names=engine.attributes())
    found = match(
        log.table, engine, give="counts", event=log.row, json=log.json, nulls=inputs.nulls, bad="skip"
    ).toArrow()
    names, events = (found.column(name).to_pylist() for name in (SUBSCRIPTION, EVENTS))
    counts = Counter(dict(zip(names, events, strict=True)))
    _check_events(path, inputs, counts, log.count, job.tell)
    return _add_traffic(plan, counts)


def _check_events(path: str, inputs: Inputs, counts: Counter[str], rows: int, tell: Tell | None) -> None:
    """Report how many rows of a log are not events, and raise a `TableError` if there are too many."""
    refused = rows - counts[_EVERY]
    inputs.reading.rejects.check(refused, rows, path)
    if refused and tell is not None:
        tell(f"{refused:,} rows of {path} are not events and were skipped")


def _broker_filters(plan: PlacementPlan, schema: Schema | None) -> Engine:
    """An engine of the filters of brokers, by their numbers, and of a filter that counts all events."""
    engine = Engine(schema)
    engine.subscribe(_EVERY, "true")
    for node, filter in enumerate(plan.filters):
        if filter is not None:
            engine.subscribe(str(node), str(filter))
    return engine


def _add_traffic(plan: PlacementPlan, counts: Counter[str]) -> PlacementPlan:
    passing = {name: counts[str(node)] for node, name in enumerate(plan.tree.names)}
    return plan.with_counts(counts[_EVERY], passing)
