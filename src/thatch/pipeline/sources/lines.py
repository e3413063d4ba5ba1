"""Read the lines of text files on Spark, each with its number.

Only a line feed ends a line, and every line counts. Numbers go on from file to file in the order of their names. Spark
reads files in splits: one pass counts the lines of each, and then a line is numbered by its position in its split.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote as quote_path

import pyarrow as pa
import pyarrow.compute as pc

from thatch.errors import TableError
from thatch.formats.contents import as_text, open_file, open_packed, translate_damage
from thatch.formats.reading import PAGE, Reading
from thatch.pipeline.adapter import parallelism
from thatch.pipeline.columns import ROW, Column, DataFrame, SparkSession, f
from thatch.pipeline.sources.files import Files, is_here, plain_path, translate_read_errors
from thatch.pipeline.tasks import Batches

__all__ = [
    "FILE",
    "LINE",
    "FileSplit",
    "Lines",
    "is_not_blank",
    "read_numbered_lines",
    "read_plain_lines",
    "spread",
]

LINE = "line"
FILE = "file"  # the number of a file among those that have lines
_START = "start"
_LONGEST = "mapreduce.input.linerecordreader.line.maxlength"
_BLOCK = 1 << 20  # bytes that are cut into lines at once
_PARTS = "spark.sql.files.minPartitionNum"
_FEW = 8  # splits that a chain of comparisons tells apart; more are joined as a table

# The characters that `str.strip` removes: a line of nothing else holds no event.
_WHITE = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
_WHITE += "\u2028\u2029\u202f\u205f\u3000"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSplit:
    """A part of a file that one task reads."""

    file: str  # its path
    start: int  # the byte where it begins
    first: int  # the number of its first line
    filled: int  # how many lines are not blank
    head: str | None  # its first line that is not empty, if it was asked for


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines as columns `row`, `line` and `file`, and their splits in order."""

    table: DataFrame
    splits: tuple[FileSplit, ...]


def read_numbered_lines(spark: SparkSession, files: Files, *, heads: bool = False) -> Lines:
    """Read the lines of files; those of one split stay together, in order.

    If `heads`, also find the first line of each split that is not empty.
    """
    _keep_splits(spark)
    with translate_read_errors(files.given):
        raw = _read_text(spark, files).select(
            LINE,
            f.monotonically_increasing_id().alias("position"),
            FILE,
            _START,
            f.xxhash64(FILE, _START).alias("split"),
        )
        head = f.min_by(LINE, f.when(~f.col(LINE).isin("", "\r"), f.col("position")))
        counted = (
            raw.groupBy("split", FILE, _START)
            .agg(
                f.count("*").alias("count"),
                f.count_if(is_not_blank(f.col(LINE))).alias("filled"),
                f.min("position").alias("position"),
                (head if heads else f.lit(None).cast("string")).alias("head"),
                *_measures(),
            )
            .collect()
        )
        _check_lengths(spark, files, counted)
    counted.sort(key=lambda each: (plain_path(each[FILE]), each[_START]))
    splits, numbers = _number_splits(counted)
    return Lines(_add_numbers(spark, raw, numbers), splits)


def read_plain_lines(spark: SparkSession, files: Files) -> DataFrame:
    """Read lines as `row` and `line`; numbers are unique, but not those of the files."""
    with translate_read_errors(files.given):
        text = _read_text(spark, files)
        if not files.is_whole and max(_file_sizes(spark, files).values()) > files.reading.max_line:
            _check_lengths(spark, files, text.groupBy(FILE).agg(*_measures()).collect())
    return text.select(f.monotonically_increasing_id().alias(ROW), LINE)


def _read_text(spark: SparkSession, files: Files) -> DataFrame:
    """Read lines as UTF-8 with their file and the byte where their split begins; Spark splits only plain UTF-8."""
    if not files.is_whole:
        longest = str(files.reading.max_line + 2)  # a line and its end must be shorter
        text = spark.read.option("lineSep", "\n").option(_LONGEST, longest).text(files.path)
        file, start = f.col("_metadata.file_path"), f.col("_metadata.file_block_start")
        return text.select(f.col("value").alias(LINE), file.alias(FILE), start.alias(_START))
    kinds = f"{LINE} string, {FILE} string, {_START} bigint"
    if all(is_here(spark, name) for name in files.names):
        count = len(files.names)
        numbers = spark.range(0, count, 1, count)
        return numbers.mapInArrow(partial(_open_files, files.names, files.reading), kinds)
    contents = spark.read.format("binaryFile").load(files.path)
    named = contents.select(f.col("_metadata.file_path"), "content")
    return named.mapInArrow(partial(_unpack_files, files.reading), kinds)


def _measures() -> tuple[Column, Column]:
    """The bytes of lines with their ends, and those of the longest."""
    length = f.octet_length(LINE)
    return f.sum(length + f.lit(1)).alias("size"), f.max(length).alias("longest")


def _check_lengths(spark: SparkSession, files: Files, counted: list[Any]) -> None:
    """Refuse files with a line over the limit.

    Spark cuts the last one of a split, and leaves out others without a word: then bytes are missing.
    """
    if files.is_whole:
        return
    limit = files.reading.max_line
    sizes: Counter[str] = Counter()
    for each in counted:
        sizes[plain_path(each[FILE])] += each["size"]
    too_long = {plain_path(each[FILE]) for each in counted if each["longest"] > limit}
    for name, size in _file_sizes(spark, files).items():
        if name in too_long or size - sizes[name] > len(BOM_UTF8):  # the mark is no part of a line
            expected = f"lines of at most {limit:,} bytes (`--max-line`, {PAGE})"
            raise TableError(expected, "a longer one", name)


def _file_sizes(spark: SparkSession, files: Files) -> dict[str, int]:
    if all(is_here(spark, name) for name in files.names):
        return {name: Path(name).stat().st_size for name in files.names}
    # This reader opens files only for their content.
    listed = spark.read.format("binaryFile").load(files.path).select("_metadata.file_path", "length")
    return {plain_path(path): size for path, size in listed.collect()}


def _open_files(names: tuple[str, ...], reading: Reading, batches: Batches) -> Batches:
    """Read the lines of files with these numbers, in a worker that sees them."""
    for batch in batches:
        for number in batch.column(0).to_pylist():
            with open_file(names[number], reading) as stream:
                yield from _cut_lines(stream, "file:" + quote_path(names[number]))


def _unpack_files(reading: Reading, batches: Batches) -> Batches:
    """Read the lines of files whose content has been sent, in a worker."""
    for batch in batches:
        for uri, content in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
            name, packed = plain_path(uri), pa.BufferReader(content.as_buffer())
            with translate_damage(name):
                if name.lower().endswith(".gz"):
                    stream = open_packed(packed, name, reading, packed.size())
                else:
                    stream = as_text(packed, name, reading)
                yield from _cut_lines(stream, uri)


def _cut_lines(stream: BinaryIO, uri: str) -> Batches:
    """Cut a stream of UTF-8 into batches of lines."""
    rest = b""
    while block := stream.read(_BLOCK):
        *lines, rest = (rest + block).split(b"\n")
        yield _line_batch(lines, uri)
    if rest:
        yield _line_batch([rest], uri)


def _line_batch(lines: list[bytes], uri: str) -> pa.RecordBatch:
    # Lines that are not UTF-8 are rejected later, with the reason.
    options = pc.CastOptions(target_type=pa.string(), allow_invalid_utf8=True)
    texts = pc.cast(pa.array(lines, pa.binary()), options=options)
    starts = pa.repeat(pa.scalar(0, pa.int64()), len(lines))
    return pa.RecordBatch.from_arrays([texts, pa.repeat(uri, len(lines)), starts], [LINE, FILE, _START])


def is_not_blank(line: Column) -> Column:
    """Whether a line has more than white space."""
    return f.btrim(line, f.lit(_WHITE)) != ""


def _keep_splits(spark: SparkSession) -> None:
    """Make Spark split files the same way in every job, even if it gains or loses executors meanwhile."""
    if spark.conf.get(_PARTS, None) is None:
        spark.conf.set(_PARTS, str(parallelism(spark)))


def _number_splits(counted: list[Any]) -> tuple[tuple[FileSplit, ...], list[tuple[int, int, int]]]:
    """The splits, and of each its hash, the shift from Spark's positions to numbers, and the number of its file."""
    splits: list[FileSplit] = []
    numbers = []
    first, file = 0, -1
    for each in counted:
        name = plain_path(each[FILE])
        file += not splits or splits[-1].file != name
        filled, head = each["filled"], each["head"]
        splits.append(FileSplit(file=name, start=each[_START], first=first, filled=filled, head=head))
        numbers.append((each["split"], first - each["position"], file))
        first += each["count"]
    if len({each[0] for each in numbers}) < len(numbers):
        raise TableError("Two splits of the files have the same hash: rename a file", where=splits[0].file)
    return tuple(splits), numbers


def _add_numbers(spark: SparkSession, raw: DataFrame, numbers: list[tuple[int, int, int]]) -> DataFrame:
    if len(numbers) <= _FEW:
        shift = _by_split([(split, shift) for split, shift, _ in numbers], "bigint")
        file = _by_split([(split, file) for split, _, file in numbers], "int")
        return raw.select(
            (f.col("position") + shift).alias(ROW), f.col(LINE), f.coalesce(file, f.lit(0)).alias(FILE)
        )
    columns = [pa.array(each, pa.int64()) for each in zip(*numbers, strict=True)]
    known = spark.createDataFrame(pa.table(columns, names=["split", "shift", "number"]))
    joined = raw.drop(FILE).join(f.broadcast(known), "split", "left")
    return joined.select(
        (f.col("position") + f.coalesce("shift", _other_splits())).alias(ROW),
        f.col(LINE),
        f.col("number").cast("int").alias(FILE),
    )


def _by_split(cases: list[tuple[int, int]], kind: str) -> Column:
    """The value for the split of a row."""
    chosen: Any = f
    for split, value in cases:
        chosen = chosen.when(f.col("split") == split, f.lit(value).cast(kind))
    if chosen is f:  # no lines at all
        return f.lit(0).cast(kind)
    return chosen.otherwise(_other_splits().cast(kind))  # type: ignore[no-any-return]  # columns of Spark have no types


def _other_splits() -> Column:
    text = "Files or their splits changed after their lines were counted (keep spark.sql.files.* the same)"
    return f.raise_error(f.lit(text)).cast("bigint")


def spread(spark: SparkSession, table: DataFrame, files: Files, key: str) -> DataFrame:
    """Spread the rows of files that one task each reads over as many tasks as run at once."""
    if not files.is_whole:
        return table
    return table.repartition(max(parallelism(spark), len(files.names)), key)
