"""Read only the columns that filters name: others may have any type, and cost nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import pyarrow as pa
import pyarrow.types as pt

from thatch.engine.tables import is_event_type
from thatch.errors import TableError, shown
from thatch.model.names import holds_named

__all__ = ["left_out", "prune_table"]

Names = Collection[str] | None


def prune_table(table: pa.Table, names: Names) -> pa.Table:
    """A table without what no attribute names in its columns and objects where that is of no type that events have.

    Without `names` everything of such a type is left out; with them it is refused where it is named.
    """
    if len(set(table.column_names)) < len(table.column_names):
        raise TableError("each column once", shown(table.column_names))
    kept = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        pruned = _pruned(column, name, names)
        if pruned is not None:
            kept[name] = pruned
    if not kept:
        return table.select([])
    return pa.table(kept)


def left_out(table: pa.Table) -> Iterator[str]:
    """What to tell people about the columns that `prune_table` leaves out without names."""
    for field in table.schema:
        if not is_event_type(field.type):
            yield f"column `{field.name}`: {field.type} is no type of values in events, and is left out"


def _pruned(column: pa.ChunkedArray, name: str, names: Names) -> pa.ChunkedArray | None:
    if names is not None and not holds_named(name, names):
        return None
    if is_event_type(column.type):
        return column
    if pt.is_struct(column.type):
        import pyarrow.compute as pc  # takes longer to import than most tables to match

        fields = [
            (field.name, _pruned(pc.struct_field(column, [at]), f"{name}.{field.name}", names))
            for at, field in enumerate(column.type)
        ]
        kept = [(field, each.combine_chunks()) for field, each in fields if each is not None]
        if not kept:
            return None
        nulls = column.combine_chunks().is_null()
        arrays, labels = [each for _, each in kept], [field for field, _ in kept]
        return pa.chunked_array([pa.StructArray.from_arrays(arrays, labels, mask=nulls)])
    if names is None:
        return None
    expected = "a type of JSON-like values, since filters name it"
    raise TableError(expected, str(column.type), f"column `{name}`")
