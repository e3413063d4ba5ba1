"""A saved engine: the columns of its index and its ids in one container, which is mapped when it is opened.

A small set is saved as texts instead, and parsed again, so that neither saving nor opening it needs compiled kernels.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.engine import container
from thatch.engine.details import PLAIN, pack_details, unpack_details
from thatch.engine.ids import Ids, arrays_under
from thatch.errors import IndexFileError, SubscriptionError, ThatchError
from thatch.matching.arrays import starts_of
from thatch.matching.growing import GrowingIndex
from thatch.matching.necessary import NecessaryIndex
from thatch.model.language import parse
from thatch.model.schema import Schema

__all__ = ["Content", "pack_engine", "read_engine", "unpack_engine", "write_engine"]

Arrays = dict[str, npt.NDArray[Any]]
Content = tuple[dict[str, Any], Arrays]


def write_engine(
    path: Path, index: GrowingIndex, ids: Ids, schema: Schema | None, *, overwrite: bool = False
) -> None:
    """Write an engine, whole or not at all."""
    container.write(path, *pack_engine(index, ids, schema), overwrite=overwrite)


def read_engine(path: Path, *, writable: bool, background: bool) -> tuple[GrowingIndex, Ids, Schema | None]:
    """The parts of a saved engine, mapped; raises `IndexFileError` for what is no such file."""
    return unpack_engine(container.read(path, writable=writable), str(path), background=background)


def pack_engine(index: GrowingIndex, ids: Ids, schema: Schema | None) -> Content:
    """An engine as a header and arrays."""
    header = {"kind": "engine", "schema": schema.describe() if schema is not None else None}
    if isinstance(index.current, NecessaryIndex):
        return {**header, "form": "texts"}, _texts_of(index, ids)
    saved = index.current.arrays()
    arrays: Arrays = {**_text_arrays("attributes", saved.keys)}
    for kind, parts in (("segments", saved.segments), ("rules", saved.rules)):
        for number, part in enumerate(parts):
            arrays |= {f"{kind}/{number}/{name}": array for name, array in part.items()}
    arrays |= {f"subscriptions/{name}": array for name, array in ids.arrays().items()}
    counts = {"segments": len(saved.segments), "rules": len(saved.rules)}
    return {**header, "form": "segments", **counts}, arrays


def unpack_engine(
    content: Content, where: str, *, background: bool
) -> tuple[GrowingIndex, Ids, Schema | None]:
    """The parts of an engine that `pack_engine` gave."""
    header, arrays = content
    try:
        if header.get("kind") != "engine":
            raise IndexFileError("a saved engine", f"a saved {header.get('kind')}", where)
        schema = Schema.from_description(header["schema"]) if header["schema"] is not None else None
        index = GrowingIndex(background=background, schema=schema)
        if header["form"] == "texts":
            return index, _from_texts(index, arrays, schema), schema
        segments = index.grow()
        parts, rules = (
            [arrays_under(arrays, f"{kind}/{number}/") for number in range(header.get(kind, 0))]
            for kind in ("segments", "rules")
        )
        segments.restore(_texts(arrays, "attributes"), parts, rules)
        return index, Ids.from_arrays(arrays_under(arrays, "subscriptions/")), schema
    except (ThatchError, LookupError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, IndexFileError):
            raise
        raise IndexFileError("a saved engine", f"a damaged one ({error})", where) from error


def _texts_of(index: GrowingIndex, ids: Ids) -> Arrays:
    """Few subscriptions as texts; an empty subscriber column means that there are none."""
    slots = ids.taken()
    subscribers = ids.subscribers(slots)
    return {
        **_text_arrays("ids", ids.names(slots)),
        **_text_arrays(
            "filters", [ids.detail(slot).parked or str(index.current.filter(slot)) for slot in slots.tolist()]
        ),
        **pack_details(
            {row: ids.detail(slot) for row, slot in enumerate(slots.tolist()) if slot in ids.details}
        ),
        **_text_arrays("subscribers", [name or "" for name in subscribers]),
        "has_subscriber": np.array([name is not None for name in subscribers], np.bool_),
        "expires": ids.expiry(slots),
    }


def _from_texts(index: GrowingIndex, arrays: Arrays, schema: Schema | None) -> Ids:
    ids = Ids()
    rows = zip(
        _texts(arrays, "ids"),
        _texts(arrays, "filters"),
        _texts(arrays, "subscribers"),
        arrays["has_subscriber"].tolist(),
        arrays["expires"].tolist(),
        strict=True,
    )
    details = unpack_details(arrays)
    for row, (identity, text, subscriber, has_subscriber, expires) in enumerate(rows):
        if ids.find(identity) >= 0:
            raise SubscriptionError("each id once", f"{identity!r} again")
        filter = parse(text, schema)
        slot = ids.add(identity, subscriber if has_subscriber else None, expires)
        ids.describe(slot, details.get(row, PLAIN))
        if ids.detail(slot).parked is None:
            index.add(slot, filter)
    return ids


def _text_arrays(name: str, texts: Iterable[str]) -> Arrays:
    encoded = [text.encode("utf-8") for text in texts]
    blob = np.frombuffer(b"".join(encoded), np.uint8)
    return {f"{name}/offsets": starts_of([len(text) for text in encoded]), f"{name}/blob": blob}


def _texts(arrays: Arrays, name: str) -> list[str]:
    blob, offsets = arrays[f"{name}/blob"].tobytes(), arrays[f"{name}/offsets"].tolist()
    return [blob[a:b].decode("utf-8") for a, b in pairwise(offsets)]
