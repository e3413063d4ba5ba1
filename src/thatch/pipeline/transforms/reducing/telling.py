"""What was found, as a DataFrame: read by tasks from a file in which it lies as Spark wants it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thatch.pipeline.adapter import Carried, carry, parallelism
from thatch.pipeline.folders import work_folder
from thatch.pipeline.schemas import ROW, SUBSCRIBER, SUBSCRIPTION
from thatch.pipeline.transforms.reducing.arranged import Arranged
from thatch.pipeline.transforms.reducing.deciding import PolicyName
from thatch.pipeline.transforms.reducing.pieces import ATTRIBUTES
from thatch.pipeline.transforms.reducing.verdicts import Verdicts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["ACTIVE", "BOXES", "DECIDED_BY", "EXHAUSTED", "NODES", "PROOF", "ROUNDS", "told"]

BOXES = "boxes"
ACTIVE = "active"
DECIDED_BY = "decided_by"
PROOF = "proof"
EXHAUSTED = "exhausted"
NODES = "nodes"
ROUNDS = "rounds"

_TOLD = (
    f"{ROW} bigint, {SUBSCRIPTION} string, {SUBSCRIBER} string, {ATTRIBUTES} string, {BOXES} int, {ACTIVE} boolean, "
    f"{DECIDED_BY} string, {PROOF} array<string>, {EXHAUSTED} boolean, {NODES} bigint, {ROUNDS} bigint"
)
_AT_ONCE = 10_000  # rows of a batch


def told(spark: SparkSession, found: Arranged, verdicts: Verdicts, policy: PolicyName) -> DataFrame:
    """The verdicts in order of `row`; see `reduce`."""
    path = work_folder() / f"{uuid4().hex}.arrow"
    batches = 0
    sink = None
    for batch in _batches(found, verdicts, policy):
        sink = sink or pa.ipc.new_file(str(path), batch.schema)
        sink.write_batch(batch)
        batches += 1
    if sink is None:
        return spark.createDataFrame([], _TOLD)
    sink.close()
    parts = min(batches, 4 * parallelism(spark))
    return spark.range(0, batches, 1, parts).mapInArrow(_Read(carry(spark, path)), _TOLD)


@dataclass(frozen=True, slots=True)
class _Read:
    """Reads batches of a file by their numbers, in a worker."""

    file: Carried

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with pa.memory_map(str(self.file.here())) as source:
            reader = pa.ipc.open_file(source)
            for batch in batches:
                for number in batch.column(0).to_pylist():
                    yield reader.get_batch(number)


def _batches(found: Arranged, verdicts: Verdicts, policy: PolicyName) -> Iterator[pa.RecordBatch]:
    ids = found.told.column(SUBSCRIPTION)
    words = pa.array(_words(found, verdicts, policy))
    boxes = found.rows.counts().astype(np.int32)
    by_row = pc.sort_indices(found.told.column(ROW)).to_numpy().astype(np.int64)
    for start in range(0, len(by_row), _AT_ONCE):
        places = by_row[start : start + _AT_ONCE]
        here = found.told.take(pa.array(places)).combine_chunks()
        proofs = verdicts.proofs.take(places)
        named = ids.take(pa.array(proofs.items)).combine_chunks()
        columns = {
            **{
                name: here.column(name).combine_chunks()
                for name in (ROW, SUBSCRIPTION, SUBSCRIBER, ATTRIBUTES)
            },
            BOXES: pa.array(boxes[places], mask=boxes[places] == 0),
            ACTIVE: pa.array(verdicts.is_active[places]),
            DECIDED_BY: words.take(pa.array(places)),
            PROOF: pa.ListArray.from_arrays(pa.array(proofs.starts.astype(np.int32)), named),
            EXHAUSTED: pa.array(verdicts.is_exhausted[places]),
            NODES: pa.array(verdicts.nodes[places]),
            ROUNDS: pa.array(verdicts.rounds[places]),
        }
        yield pa.RecordBatch.from_arrays(list(columns.values()), list(columns))


def _words(found: Arranged, verdicts: Verdicts, policy: PolicyName) -> list[str]:
    """How each was decided, in the words of `thatch.reduction.problem`."""
    searched = "pairwise" if policy == "pairwise" else "branch_and_bound"
    word = np.where(
        verdicts.is_active, searched, np.where(verdicts.is_single, "pairwise", "branch_and_bound")
    )
    if policy == "exact":
        word[verdicts.is_active & (verdicts.nodes == 0)] = "empty"  # nothing was there to search in
    word[verdicts.is_exhausted | (found.questions.counts() == 0)] = "budget"
    return word.tolist()  # type: ignore[no-any-return]
