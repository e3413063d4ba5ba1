"""Read and check subscriptions in this process, with the functions that Spark's workers run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from thatch.errors import TableError
from thatch.formats.columns import read_table
from thatch.formats.files import Rejects, kind_of, open_text
from thatch.formats.reading import Reading
from thatch.formats.rules import holds_rules, read_rules
from thatch.formats.subscriptions import is_loaded, loaded_schema, read_loaded
from thatch.model.schema import Schema
from thatch.pipeline.columns import EXPIRES, FILTER, REASON, ROW, SUBSCRIBER, SUBSCRIPTION, arrow_schema
from thatch.pipeline.embedded.files import find_local_files
from thatch.pipeline.embedded.work import ROWS_AT_ONCE, JobWork
from thatch.pipeline.forms import FORM
from thatch.pipeline.sources.subscriptions import (
    SUBSCRIPTION_ROWS,
    check_names,
    parse_lines,
    reject_rows,
    rows_of,
    split_rows,
)
from thatch.pipeline.transforms.loading import (
    BOXES,
    CONDITIONS,
    IS_REPEATED,
    REJECT_ROWS,
    UNREAD,
    add_reasons,
    check_batches,
    make_check,
)

__all__ = ["ACCEPTED_ROWS", "CheckedRows", "check_rows", "read_rows", "read_rows_or_loaded"]

_LINES = pa.schema([(ROW, pa.int64()), ("line", pa.binary())])
ACCEPTED_ROWS = arrow_schema(ROW, SUBSCRIPTION, SUBSCRIBER, FILTER, EXPIRES)


class CheckedRows:
    """Rows that are subscriptions, and rows that are not, both in their order.

    Parameters
    ----------
    good : `ACCEPTED_ROWS`, and what `check_rows` adds
    rejects : `row`, `subscription`, `filter`, `reason`
    """

    def __init__(self, good: pa.Table, rejects: pa.Table) -> None:
        self.good = good
        self.rejects = rejects

    def check(self, reading: Reading, rows: int, path: str) -> None:
        """Raise a `TableError` if too many of the rows of a file were rejected."""
        count = self.rejects.num_rows
        why = self.rejects.column(REASON)[0].as_py() if count else ""
        reading.rejects.check(count, rows, path, "subscriptions", why)

    @property
    def accepted(self) -> pa.Table:
        """The good rows as they are written."""
        return self.good.select(ACCEPTED_ROWS.names)


def read_rows_or_loaded(path: str, schema: Schema | None, reading: Reading) -> tuple[pa.Table, Schema | None]:
    """Read the subscriptions of files with the schema given, or of a folder of `thatch load` with its own."""
    if not is_loaded(path):
        return read_rows(path, reading), schema
    known = loaded_schema(path, schema)
    return rows_of(read_loaded(path), path), known


def read_rows(path: str, reading: Reading | None = None) -> pa.Table:
    """Read the subscriptions of a file, a folder of files or a glob, as `read_subscriptions` of Spark does."""
    if holds_rules(path, reading or Reading()):
        return rows_of(read_rules(path, reading), path)
    names = find_local_files(path)
    lines = kind_of(names[0]) == "jsonl"
    batches = _read_lines(names, reading) if lines else _read_columns(names, path, reading)
    return pa.Table.from_batches(batches, SUBSCRIPTION_ROWS).sort_by(ROW)


def _read_lines(names: list[str], reading: Reading | None) -> Iterator[pa.RecordBatch]:
    numbers = count()
    for name in names:
        with open_text(name, reading) as stream:
            while lines := list(islice(stream, ROWS_AT_ONCE)):
                rows = list(islice(numbers, len(lines)))
                texts = [each.removesuffix("\n").encode("utf-8", "surrogateescape") for each in lines]
                yield from parse_lines(iter([pa.record_batch([rows, texts], schema=_LINES)]))


def _read_columns(names: list[str], path: str, reading: Reading | None) -> Iterator[pa.RecordBatch]:
    first = 0
    for name in names:
        rejects = Rejects()
        table, rows = read_table(name, rejects, reading)
        _check_types(table, path)
        yield from split_rows(table, [first + row for row in rows], path)
        yield reject_rows([(first + row, reason) for row, reason in rejects])
        first += len(rows) + len(rejects)


def _check_types(table: pa.Table, path: str) -> None:
    check_names(tuple(table.column_names), path)
    for name in (SUBSCRIPTION, FILTER, SUBSCRIBER):
        kind = table.schema.field(name).type if name in table.column_names else pa.string()
        kind = kind.value_type if pt.is_dictionary(kind) else kind
        if not (
            pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind) or pt.is_null(kind)
        ):
            raise TableError("text", str(kind), f"{path}, column `{name}`")


def check_rows(
    table: pa.Table,
    schema: Schema | None,
    work: JobWork,
    *,
    with_conditions: bool = False,
    with_forms: bool = False,
) -> CheckedRows:
    """Parse every row, and separate those that are subscriptions; as `check_subscriptions` does."""
    check = make_check(schema, with_conditions=with_conditions, with_forms=with_forms)
    checked = pa.Table.from_batches(check_batches(check, work.over(table)))
    is_repeated = _find_repeated(checked)
    is_good = pc.and_(pc.is_null(checked.column(REASON)), pc.invert(is_repeated))
    bad = checked.append_column(IS_REPEATED, is_repeated).filter(pc.invert(is_good))
    bad = bad.select([ROW, SUBSCRIPTION, FILTER, UNREAD, REASON, IS_REPEATED])
    names = [
        *ACCEPTED_ROWS.names,
        *([BOXES, CONDITIONS] if with_conditions else []),
        *([FORM] if with_forms else []),
    ]
    rejects = pa.Table.from_batches(add_reasons(iter(bad.to_batches())), REJECT_ROWS)
    return CheckedRows(checked.filter(is_good).select(names), rejects)


def _find_repeated(checked: pa.Table) -> pa.Array:
    """Whether a good row before each row has its id."""
    first: dict[str, int] = {}
    rows = zip(*(checked.column(name).to_pylist() for name in (SUBSCRIPTION, UNREAD, REASON)), strict=True)
    found = []
    for number, (identity, unread, reason) in enumerate(rows):
        found.append(unread is None and identity in first)
        if reason is None:
            first.setdefault(identity, number)
    return pa.array(found, pa.bool_())
