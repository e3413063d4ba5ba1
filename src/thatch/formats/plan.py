"""A plan as a folder: Parquet tables and a manifest.

===================  ===========================================================================================
`tree`               a row a broker, the publisher with them: its parent, location, share of the capacity, load, and the
                     share of events that its filter lets through: by volume, and counted in a log if there was one
`assignment`         a row a subscriber: its broker, the length of the way, how much longer than the shortest that is,
                     and its location
`filters`            a row a broker that lets something through: its name as `subscription`, and its filter as text; so
                     this is a table of subscriptions, which can be matched, loaded and reduced
`boxes`              the same as boxes, an interval of shares of events for each axis
`axes`               the attributes that boxes are made of
`statistics`         one row: status, algorithm, bandwidth, bounds, loads, delays, seconds
`yardsticks`         the same of simpler ways to place the same subscribers
`certificate`        one row: what the independent check found, with its faults, of which there should be none; of an
                     infeasible plan the limits it breaks, why, and the least that must give (`reasons`, in sentences)
`manifest.json`      format, kind, command, parameters, and the checksum of every file
===================  ===========================================================================================
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from thatch.errors import TableError, ThatchError, shown
from thatch.formats.folders import read_tables, write_folder
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.schema import Schema
from thatch.outputs.places import Inputs
from thatch.placement.arrays import Floats
from thatch.placement.broken import BrokenLimit, Relaxation, Shortage
from thatch.placement.certificate import Certificate
from thatch.placement.placement import Status
from thatch.placement.plan import PlacementPlan
from thatch.placement.tree import BrokerTree

__all__ = ["KIND", "REPORT", "plan_tables", "read_plan", "write_plan"]

KIND = "plan"
REPORT = "report.html"

_TEXT, _WHOLE, _DOUBLE = pa.string(), pa.int64(), pa.float64()
_BROKEN = pa.struct(
    [
        ("limit", _TEXT),
        ("broker", _TEXT),
        ("subscribers", _WHOLE),
        ("value", _DOUBLE),
        ("allowed", _DOUBLE),
        ("worst", _TEXT),
    ]
)
_SHORTAGE = pa.struct([("brokers", pa.list_(_TEXT)), ("subscribers", _WHOLE), ("room", _WHOLE)])
_RELAXATION = pa.struct(
    [("parameter", _TEXT), ("given", _DOUBLE), ("enough", _DOUBLE), ("too_little", _DOUBLE)]
)
_SCHEMAS = {
    "tree": pa.schema(
        [
            ("broker", _TEXT),
            ("parent", _TEXT),
            ("location", pa.list_(_DOUBLE)),
            ("most_boxes", _WHOLE),
            ("share", _DOUBLE),
            ("load", _WHOLE),
            ("volume", _DOUBLE),
            ("counted", _DOUBLE),
        ]
    ),
    "assignment": pa.schema(
        [
            ("subscriber", _TEXT),
            ("broker", _TEXT),
            ("way", _DOUBLE),
            ("delay", _DOUBLE),
            ("location", pa.list_(_DOUBLE)),
        ]
    ),
    "filters": pa.schema([("subscription", _TEXT), ("filter", _TEXT)]),
    "boxes": pa.schema([("broker", _TEXT), ("lows", pa.list_(_DOUBLE)), ("highs", pa.list_(_DOUBLE))]),
    "axes": pa.schema([("attribute", _TEXT)]),
    "certificate": pa.schema(
        [
            ("status", _TEXT),
            ("bandwidth", _DOUBLE),
            ("load_factor", _DOUBLE),
            ("faults", pa.list_(_TEXT)),
            ("broken", pa.list_(_BROKEN)),
            ("is_possible", pa.bool_()),
            ("shortage", _SHORTAGE),
            ("relaxations", pa.list_(_RELAXATION)),
            ("reasons", pa.list_(_TEXT)),
        ]
    ),
}
_MEASURED = ("statistics", "yardsticks")  # tables whose columns depend on what was measured


def plan_tables(plan: PlacementPlan) -> dict[str, pa.Table]:
    """The tables of a plan by name."""
    names, d = plan.tree.names, len(plan.axes)
    columns: dict[str, dict[str, Any]] = {
        "tree": _tree_columns(plan),
        "assignment": {
            "subscriber": list(plan.subscribers),
            "broker": pa.array(names, _TEXT).take(pa.array(plan.assignment)),
            "way": plan.distances,
            "delay": plan.delays,
            "location": plan.homes.tolist(),
        },
        "filters": {
            "subscription": [
                name for name, each in zip(names, plan.filters, strict=True) if each is not None
            ],
            "filter": [str(each) for each in plan.filters if each is not None],
        },
        "boxes": {
            "broker": [name for name, boxes in zip(names, plan.boxes, strict=True) for _ in boxes],
            "lows": [box[:d].tolist() for boxes in plan.boxes for box in boxes],
            "highs": [box[d:].tolist() for boxes in plan.boxes for box in boxes],
        },
        "axes": {"attribute": list(plan.axes)},
        "certificate": {
            "status": [plan.certificate.status.value],
            "bandwidth": [plan.certificate.bandwidth],
            "load_factor": [plan.certificate.load_factor],
            "faults": [list(plan.certificate.faults)],
            "broken": [list(map(asdict, plan.certificate.broken))],
            "is_possible": [plan.certificate.is_possible],
            "shortage": [None if plan.certificate.shortage is None else asdict(plan.certificate.shortage)],
            "relaxations": [list(map(asdict, plan.certificate.relaxations))],
            "reasons": [list(plan.certificate.reasons)],
        },
    }
    tables = {name: pa.table(columns[name], schema=schema) for name, schema in _SCHEMAS.items()}
    return {
        **tables,
        "statistics": pa.Table.from_pylist([dict(plan.statistics)]),
        "yardsticks": pa.Table.from_pylist(list(map(dict, plan.yardsticks))),
    }


def _tree_columns(plan: PlacementPlan) -> dict[str, Any]:
    tree = plan.tree
    place = {leaf: number for number, leaf in enumerate(tree.leaves.tolist())}
    at = [place.get(node) for node in range(len(tree.names))]
    return {
        "broker": list(tree.names),
        "parent": [tree.names[parent] if parent >= 0 else None for parent in tree.parents.tolist()],
        "location": tree.locations.tolist(),
        "most_boxes": plan.complexities,
        "share": [None if each is None else float(plan.shares[each]) for each in at],
        "load": [None if each is None else int(plan.loads[each]) for each in at],
        "volume": plan.volumes,
        "counted": [None] * len(tree.names) if plan.counted is None else plan.counted,
    }


def write_plan(
    folder: str | os.PathLike[str],
    plan: PlacementPlan,
    *,
    report: str = "",
    command: str = "",
    parameters: Mapping[str, Any] | None = None,
    inputs: Inputs = (),
    overwrite: bool = False,
) -> None:
    """Write a plan as a folder; raises `OutputError` if it may not be written, see `thatch.outputs`.

    Parameters
    ----------
    report : the page that shows it, as HTML; none if empty
    command, parameters : what made the plan, for the manifest
    inputs : the files that the plan was made from, which are never replaced
    overwrite : whether to replace a folder that a command has written
    """
    write_folder(
        folder,
        KIND,
        plan_tables(plan),
        pages={REPORT: report} if report else None,
        command=command,
        parameters=parameters,
        inputs=inputs,
        overwrite=overwrite,
    )


def read_plan(folder: str | os.PathLike[str]) -> PlacementPlan:
    """The plan that `write_plan` or the command `thatch place` wrote; raises `TableError` if there is none."""
    tables, parameters = read_tables(Path(folder), KIND, {**_SCHEMAS, **dict.fromkeys(_MEASURED)})
    described = parameters.get("schema")
    try:
        schema = Schema.from_description(described) if described is not None else None
        return _plan(tables, schema)
    except (LookupError, TypeError, ValueError, ThatchError) as error:
        raise TableError(
            f"Cannot read the tables of the plan: {shown(str(error))}", where=str(folder)
        ) from error


def _plan(tables: Mapping[str, pa.Table], schema: Schema | None) -> PlacementPlan:
    nodes = tables["tree"].to_pydict()
    number = {name: node for node, name in enumerate(nodes["broker"])}
    parents = [-1 if parent is None else number[parent] for parent in nodes["parent"]]
    tree = BrokerTree.of(np.array(parents), nodes["location"], nodes["broker"])
    leaves = tree.leaves.tolist()
    assignment = tables["assignment"]
    texts = dict(zip(*tables["filters"].to_pydict().values(), strict=True))
    return PlacementPlan(
        tree=tree,
        shares=np.array([nodes["share"][leaf] for leaf in leaves]),
        loads=np.array([nodes["load"][leaf] for leaf in leaves]),
        complexities=np.array(nodes["most_boxes"]),
        subscribers=tuple(assignment.column("subscriber").to_pylist()),
        assignment=np.array([number[name] for name in assignment.column("broker").to_pylist()], np.int64),
        homes=np.array(assignment.column("location").to_pylist(), np.float64),
        distances=assignment.column("way").to_numpy(),
        delays=assignment.column("delay").to_numpy(),
        axes=tuple(tables["axes"].column("attribute").to_pylist()),
        boxes=_boxes(tables, tree),
        filters=tuple(_filter(texts.get(name), schema) for name in tree.names),
        volumes=np.array(nodes["volume"]),
        certificate=_certificate(tables["certificate"].to_pylist()[0]),
        statistics=tables["statistics"].to_pylist()[0],
        yardsticks=tuple(tables["yardsticks"].to_pylist()),
        counted=None if None in nodes["counted"] else np.array(nodes["counted"]),
    )


def _certificate(row: Mapping[str, Any]) -> Certificate:
    shortage = row["shortage"]
    return Certificate(
        tuple(row["faults"]),
        Status(row["status"]),
        row["bandwidth"],
        row["load_factor"],
        tuple(BrokenLimit(**each) for each in row["broken"] or ()),
        row["is_possible"],
        None if shortage is None else Shortage(**{**shortage, "brokers": tuple(shortage["brokers"])}),
        tuple(Relaxation(**each) for each in row["relaxations"] or ()),
    )


def _filter(text: str | None, schema: Schema | None) -> Filter | None:
    return None if text is None else parse(text, schema)


def _boxes(tables: Mapping[str, pa.Table], tree: BrokerTree) -> tuple[Floats, ...]:
    rows: dict[str, list[list[float]]] = {}
    for each in tables["boxes"].to_pylist():
        rows.setdefault(each["broker"], []).append(each["lows"] + each["highs"])
    width = 2 * tables["axes"].num_rows
    return tuple(np.array(rows.get(name, [])).reshape(-1, width) for name in tree.names)
