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

from thatch.errors import TableError, shown
from thatch.formats.folders import read_tables, write_folder
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

__all__ = ["KIND", "profile_tables", "read_profile", "write_profile"]

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


def profile_tables(profile: Profile) -> dict[str, pa.Table]:
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


def write_profile(
    folder: str | os.PathLike[str],
    profile: Profile,
    *,
    command: str = "",
    parameters: Mapping[str, Any] | None = None,
    overwrite: bool = False,
) -> None:
    """Write a profile as a folder; `command` and `parameters` say in the manifest what made it.

    Raises `OutputError` if it may not be written; see `thatch.outputs`.
    """
    tables = profile_tables(profile)
    write_folder(folder, KIND, tables, command=command, parameters=parameters, overwrite=overwrite)


def read_profile(folder: str | os.PathLike[str]) -> Profile:
    """The profile that `write_profile` or the job `thatch profile` wrote; raises `TableError` if there is none."""
    tables, _ = read_tables(Path(folder), KIND, _SCHEMAS)
    try:
        return _profile({name: table.to_pylist() for name, table in tables.items()})
    except (LookupError, TypeError, ValueError) as error:
        raise TableError(
            f"Cannot read the tables of the profile: {shown(error)}", where=str(folder)
        ) from error


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
