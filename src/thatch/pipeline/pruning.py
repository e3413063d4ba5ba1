"""Send to workers only what filters name: other columns may have any type, which Arrow or Python may not know."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from thatch.errors import TableError
from thatch.model.names import holds_named
from thatch.pipeline.columns import Column, DataFrame, f, quote

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

__all__ = ["attribute_columns", "left_out"]

Names = Collection[str] | None


def attribute_columns(events: DataFrame, names: Names, *, besides: str | None) -> list[Column]:
    """The columns of events that are attributes, without those that hold none of the attributes `names`.

    Without names, what is of a type that events cannot have is left out; with them it is refused where it is named.
    """
    kept = []
    for field in events.schema.fields:
        if field.name != besides:
            column = _pruned(f.col(quote(field.name)), field.dataType, field.name, names)
            if column is not None:
                kept.append(column.alias(field.name))
    return kept


def left_out(events: DataFrame) -> list[str]:
    """What to tell people about the columns that are left out without names."""
    return [
        f"column `{field.name}`: {field.dataType.simpleString()} is no type of values in events, and is left out"
        for field in events.schema.fields
        if not _is_event_type(field.dataType)
    ]


def _pruned(column: Column, kind: DataType, name: str, names: Names) -> Column | None:
    from pyspark.sql.types import ArrayType, StructType

    if names is not None and not holds_named(name, names):
        return None
    if _is_event_type(kind):
        return column
    if isinstance(kind, StructType):
        fields = [
            (field.name, _pruned(column.getField(field.name), field.dataType, f"{name}.{field.name}", names))
            for field in kind.fields
        ]
        kept = [each.alias(field) for field, each in fields if each is not None]
        return f.when(column.isNotNull(), f.struct(*kept)) if kept else None
    if isinstance(kind, ArrayType) and isinstance(kind.elementType, StructType):
        element = kind.elementType
        return f.transform(column, lambda each: _element(each, element, name, names))
    if names is None:
        return None
    expected = "a type of JSON-like values, since filters name it"
    raise TableError(expected, kind.simpleString(), f"column `{name}`")


def _element(each: Column, kind: DataType, name: str, names: Names) -> Column:
    pruned = _pruned(each, kind, name, names)
    return f.when(each.isNotNull(), f.struct()) if pruned is None else pruned


def _is_event_type(kind: DataType) -> bool:
    from pyspark.sql import types as t

    plain = (t.NullType, t.BooleanType, t.IntegralType, t.FractionalType, t.TimestampType, t.TimestampNTZType)
    if isinstance(kind, t.StructType):
        return all(_is_event_type(field.dataType) for field in kind.fields)
    if isinstance(kind, t.ArrayType):
        return _is_event_type(kind.elementType)
    if isinstance(kind, t.MapType):
        return type(kind.keyType) is t.StringType and _is_event_type(kind.valueType)
    return isinstance(kind, (*plain, t.DateType)) or type(kind) is t.StringType
