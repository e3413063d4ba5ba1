"""First pass: tasks tell the tails of every subscription and the values that they name; then all choose their company."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np
import pyarrow as pa

from thatch.engine import container
from thatch.errors import TableError
from thatch.model.schema import Schema
from thatch.model.selectivity import NamedValues, Selectivity
from thatch.pipeline.adapter import Carried, carry
from thatch.pipeline.failures import failures_told
from thatch.pipeline.folders import work_folder
from thatch.pipeline.schemas import ROW
from thatch.pipeline.transforms.merging.grouping import chosen_tails
from thatch.pipeline.transforms.merging.tails import tails_of
from thatch.pipeline.transforms.reducing.pieces import Task, check_once
from thatch.reduction.boxes import Ints

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["GROUP", "Choices", "Described", "carried_choices", "described"]

GROUP = "group"  # the number of a tail, or for a row that is alone of nothing else
_MERGER = "merger"
_PIECE = "tails binary, named binary"
_SAMPLE = 256  # numbers, and texts, that are kept of those that are named for an attribute

Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True, slots=True, eq=False)
class Described:
    """What is known of all subscriptions before they are merged.

    Parameters
    ----------
    rows : their numbers, rising
    groups : the number of the tail that each has chosen; of those that are alone one that nobody shares
    named : the values that they name, by attribute; a sample where these are many
    prefix : what no id begins with, for those of mergers
    """

    rows: Ints
    groups: Ints
    named: dict[str, NamedValues]
    prefix: str


def described(rows: DataFrame, schema: Schema | None) -> Described:
    """Read all subscriptions, and let each choose whom it is merged with.

    Parameters
    ----------
    rows : as `input_rows` gives them

    Raises
    ------
    TableError
        If rows are not numbered, or two have one number.
    SubscriptionError
        If a row is no subscription.
    """
    with failures_told("reading the subscriptions"):
        pieces = rows.mapInArrow(Describe(schema), _PIECE).toArrow()
    return joined(pieces.to_batches())


def joined(pieces: list[pa.RecordBatch]) -> Described:
    """What tasks have told, brought together."""
    named: dict[str, NamedValues] = {}
    dashes = 0
    told = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))]
    for piece in pieces:
        for tails, names in zip(*(each for each in piece.columns), strict=True):
            arrays = container.loads(tails.as_buffer())[1]
            told.append((arrays["rows"], arrays["counts"], arrays["tails"]))
            dashes = max(dashes, int(arrays["dashes"][0]))
            _add(named, pickle.loads(names.as_buffer()))  # noqa: S301 - a task of ours wrote it
    rows, counts, tails = (np.concatenate(each) for each in zip(*told, strict=True))
    check_once(pa.chunked_array([rows]), TableError, "each number of a row once")
    owners = np.repeat(np.arange(len(rows)), counts)
    choice, is_grouped = chosen_tails(owners, tails, len(rows))
    groups = np.where(is_grouped, choice, rows)
    order = np.argsort(rows)
    return Described(rows[order], groups[order], named, _MERGER + "-" * (dashes + 1))


@dataclass(frozen=True, slots=True)
class Describe(Task):
    """Tells the tails of filters, in a worker."""

    schema: Schema | None

    def __call__(self, batches: Batches) -> Batches:
        for batch in batches:
            if batch.column(0).null_count:
                raise TableError("a number for every row", "null", f"column `{ROW}` of the subscriptions")
            selectivity = Selectivity(schema=self.schema)
            counts: list[int] = []
            tails: list[int] = []
            for filter in self._filters(batch):
                before = len(tails)
                tails += [each.number for each in tails_of(filter)]
                counts.append(len(tails) - before)
                for conjunction in filter.conjunctions:
                    selectivity.observe(conjunction)
            arrays = {
                "rows": batch.column(0).to_numpy(),
                "counts": np.array(counts, np.int64),
                "tails": np.array(tails, np.int64),
                "dashes": np.array([max(map(_dashes, batch.column(1).to_pylist()), default=0)], np.int64),
            }
            named = _add({}, selectivity.named)
            told = [container.dumps({}, arrays), pickle.dumps(named)]
            yield pa.RecordBatch.from_arrays(
                [pa.array([each], pa.binary()) for each in told], ["tails", "named"]
            )


def _add(named: dict[str, NamedValues], others: Mapping[str, NamedValues]) -> dict[str, NamedValues]:
    """Add the values that others name, and keep a sample of all."""
    for key, values in others.items():
        own = named.setdefault(key, NamedValues())
        own.update(values)
        own.thin(_SAMPLE)
    return named


def _dashes(identity: str) -> int:
    """How many dashes follow where an id begins as that of a merger."""
    rest = identity.removeprefix(_MERGER)
    return len(rest) - len(rest.lstrip("-")) if rest != identity else 0


@dataclass(frozen=True, slots=True)
class Choices:
    """The groups of all rows, in a file that workers map."""

    file: Carried

    def of(self, rows: Ints) -> Ints:
        """The groups of some rows."""
        known, groups = _opened(self.file.here())
        found: Ints = groups[np.searchsorted(known, rows)]
        return found


def carried_choices(spark: SparkSession, found: Described) -> Choices:
    """The groups of all rows, for workers."""
    path = work_folder() / f"{uuid4().hex}.groups"
    container.write(path, {}, {"rows": found.rows, "groups": found.groups})
    return Choices(carry(spark, path))


@lru_cache(maxsize=1)
def _opened(path: Path) -> tuple[Ints, Ints]:
    _, arrays = container.read(path)
    return arrays["rows"], arrays["groups"]
