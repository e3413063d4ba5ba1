"""A profile as a folder: Parquet tables and a manifest.

=====================  =================================================================================
`overview`             one row: events, rejected rows, bounds
`reasons`              why rows were rejected, some of them
`attributes`           a row each: how often it comes, of which types, quantiles
`frequent`             the most frequent values of each attribute
`sets`, `pairs`        attributes that come together
`predicates`           of the subscriptions, with the events that satisfy them
`predicate_pairs`      the same for pairs that often stand together
`matches`              how many subscriptions want how many events
`heaviest`             the subscriptions that want most
`manifest.json`        format, kind, command, parameters, and the checksum of every file
=====================  =================================================================================
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from thatch.errors import TableError, shown
from thatch.formats.folders import new_folder, read_manifest, write_manifest
from thatch.model.profile import (
    AttributePair,
    AttributeProfile,
    AttributeSet,
    ErrorBounds,
    MatchCounts,
    Predicate,
    PredicatePair,
    Profile,
)

__all__ = ["KIND", "read_profile", "tables_of", "write_profile", "write_tables"]

KIND = "profile"

_COUNTS = ("events", "values", "nulls", "falses", "trues", "nans", "numbers", "texts", "distinct", "wide")
_LENGTHS = ("shortest", "longest", "characters")
_BOUNDS = ("fraction", "quantiles", "text_quantiles", "distinct", "heavy")
_TEXT, _WHOLE, _DOUBLE = pa.string(), pa.int64(), pa.float64()
_SCHEMAS = {
    "overview": pa.schema(
        [(name, _WHOLE) for name in ("events", "rejected", "misfits", "attribute_count", "set_count")]
        + [(f"{name}_bound", _DOUBLE) for name in _BOUNDS]
        + [(name, _WHOLE) for name in ("text_length", "subscriptions", "rejected_subscriptions")]
    ),
    "reasons": pa.schema([("reason", _TEXT), ("rows", _WHOLE)]),
    "attributes": pa.schema(
        [("attribute", _TEXT)]
        + [(name, _WHOLE) for name in _COUNTS + _LENGTHS]
        + [("quantiles", pa.list_(_DOUBLE)), ("text_quantiles", pa.list_(_TEXT))]
    ),
    "frequent": pa.schema(
        [("attribute", _TEXT), ("whole", _WHOLE), ("number", _DOUBLE), ("text", _TEXT), ("values", _WHOLE)]
    ),
    "sets": pa.schema([("attributes", pa.list_(_TEXT)), ("events", _WHOLE)]),
    "pairs": pa.schema([("first", _TEXT), ("second", _TEXT), ("events", _WHOLE)]),
    "predicates": pa.schema(
        [("predicate", _TEXT), ("attributes", pa.list_(_TEXT)), ("uses", _WHOLE), ("events", _WHOLE)]
    ),
    "predicate_pairs": pa.schema([("first", _TEXT), ("second", _TEXT), ("uses", _WHOLE), ("events", _WHOLE)]),
    "matches": pa.schema([("events", _WHOLE), ("subscriptions", _WHOLE)]),
    "heaviest": pa.schema([("subscription", _TEXT), ("events", _WHOLE)]),
}


def tables_of(profile: Profile) -> dict[str, pa.Table]:
    """The tables of a profile by name."""
    matches = profile.matches
    rows: dict[str, list[dict[str, Any]]] = {
        "overview": [_overview(profile)],
        "reasons": [{"reason": reason, "rows": count} for reason, count in profile.reasons],
        "attributes": [
            {
                "attribute": each.key,
                **{name: getattr(each, name) for name in _SCHEMAS["attributes"].names[1:]},
            }
            for each in profile.attributes
        ],
        "frequent": [
            {"attribute": each.key, _kind(value): value, "values": count}
            for each in profile.attributes
            for value, count in each.heavy
        ],
        "sets": [{"attributes": each.keys, "events": each.events} for each in profile.sets],
        "pairs": [asdict(each) for each in profile.pairs],
        "predicates": [
            {"predicate": each.text, "attributes": each.attributes, "uses": each.uses, "events": each.events}
            for each in profile.predicates
        ],
        "predicate_pairs": [asdict(each) for each in profile.predicate_pairs],
        "matches": [
            {"events": events, "subscriptions": count}
            for events, count in (matches.distribution if matches else ())
        ],
        "heaviest": [
            {"subscription": identity, "events": events}
            for identity, events in (matches.heaviest if matches else ())
        ],
    }
    return {name: pa.Table.from_pylist(rows[name], schema=schema) for name, schema in _SCHEMAS.items()}


def _overview(profile: Profile) -> dict[str, Any]:
    matches, bounds = profile.matches, profile.bounds
    return {
        **{name: getattr(profile, name) for name in _SCHEMAS["overview"].names[:5]},
        **{f"{name}_bound": getattr(bounds, name) for name in _BOUNDS},
        "text_length": bounds.text_length,
        "subscriptions": matches.subscriptions if matches else None,
        "rejected_subscriptions": matches.rejected if matches else None,
    }


def _kind(value: object) -> str:
    if isinstance(value, str):
        return "text"
    return "whole" if isinstance(value, int) else "number"


def write_tables(folder: Path, profile: Profile) -> dict[str, int]:
    """Write the tables of a profile into a folder; how many rows each has, by name."""
    tables = tables_of(profile)
    for name, table in tables.items():
        pq.write_table(table, folder / f"{name}.parquet")
    return {name: table.num_rows for name, table in tables.items()}


def write_profile(
    folder: str | os.PathLike[str],
    profile: Profile,
    *,
    command: str = "",
    parameters: Mapping[str, Any] | None = None,
) -> None:
    """Write a profile as a folder, which appears when it is whole.

    Parameters
    ----------
    folder : must not be there yet
    command, parameters : what made the profile, for the manifest

    Raises
    ------
    TableError
        If something is there already, or nothing can be written there.
    """
    with new_folder(folder) as hidden:
        rows = write_tables(hidden, profile)
        write_manifest(hidden, KIND, command=command, parameters=parameters or {}, rows=rows)


def read_profile(folder: str | os.PathLike[str]) -> Profile:
    """The profile in a folder, as `write_profile` or the job `thatch profile` has written it.

    Raises
    ------
    TableError
        If the folder is none, of a newer format or another kind, or a file is missing or not as it was written.
    """
    path = Path(folder)
    read_manifest(path, KIND, [f"{name}.parquet" for name in _SCHEMAS])
    tables = {name: _rows(path / f"{name}.parquet", schema) for name, schema in _SCHEMAS.items()}
    try:
        return _profile(tables)
    except (LookupError, TypeError, ValueError) as error:
        raise TableError(f"Cannot read the tables of the profile: {shown(error)}", where=str(path)) from error


def _rows(path: Path, schema: pa.Schema) -> list[dict[str, Any]]:
    try:
        return pq.read_table(path, schema=schema).to_pylist()  # type: ignore[no-any-return]
    except (OSError, pa.ArrowException) as error:
        raise TableError(f"Cannot read a table of the profile: {error}", where=str(path)) from error


def _profile(tables: Mapping[str, list[dict[str, Any]]]) -> Profile:
    (overview,) = tables["overview"]
    frequent: dict[str, list[tuple[Any, int]]] = {}
    for row in tables["frequent"]:
        value = next(row[kind] for kind in ("whole", "number", "text") if row[kind] is not None)
        frequent.setdefault(row["attribute"], []).append((value, row["values"]))
    return Profile(
        **{name: overview[name] for name in _SCHEMAS["overview"].names[:5]},
        reasons=tuple((row["reason"], row["rows"]) for row in tables["reasons"]),
        attributes=tuple(_attribute(row, frequent.get(row["attribute"], [])) for row in tables["attributes"]),
        sets=tuple(AttributeSet(tuple(row["attributes"]), row["events"]) for row in tables["sets"]),
        pairs=tuple(AttributePair(**row) for row in tables["pairs"]),
        predicates=tuple(
            Predicate(
                text=row["predicate"],
                attributes=tuple(row["attributes"]),
                uses=row["uses"],
                events=row["events"],
            )
            for row in tables["predicates"]
        ),
        predicate_pairs=tuple(PredicatePair(**row) for row in tables["predicate_pairs"]),
        matches=_matches(overview, tables),
        bounds=ErrorBounds(
            **{name: overview[f"{name}_bound"] for name in _BOUNDS}, text_length=overview["text_length"]
        ),
    )


def _attribute(row: dict[str, Any], heavy: list[tuple[Any, int]]) -> AttributeProfile:
    return AttributeProfile(
        key=row["attribute"],
        **{name: row[name] for name in _COUNTS + _LENGTHS},
        quantiles=tuple(row["quantiles"]),
        text_quantiles=tuple(row["text_quantiles"]),
        heavy=tuple(heavy),
    )


def _matches(overview: dict[str, Any], tables: Mapping[str, list[dict[str, Any]]]) -> MatchCounts | None:
    if overview["subscriptions"] is None:
        return None
    return MatchCounts(
        subscriptions=overview["subscriptions"],
        rejected=overview["rejected_subscriptions"],
        distribution=tuple((row["events"], row["subscriptions"]) for row in tables["matches"]),
        heaviest=tuple((row["subscription"], row["events"]) for row in tables["heaviest"]),
    )
