"""Which subscriptions are active and which passive, pass by pass, until every proof names active ones only."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from thatch.pipeline.adapter import parallelism
from thatch.pipeline.columns import (
    ROW,
    SUBSCRIBER,
    SUBSCRIPTION,
    DataFrame,
    SparkSession,
    arrow_schema,
    spark_schema,
)
from thatch.pipeline.tasks import Batches, SharedFile, scratch_file, share_file
from thatch.pipeline.transforms.reducing.arranging import Arranged, NumberLists
from thatch.pipeline.transforms.reducing.deciding import Decider, Decisions, PolicyName
from thatch.pipeline.transforms.reducing.pieces import ATTRIBUTES
from thatch.reduction.boxes import Ints

__all__ = [
    "ACTIVE",
    "BOXES",
    "DECIDED_BY",
    "EXHAUSTED",
    "NODES",
    "PROOF",
    "ROUNDS",
    "VERDICT_ROWS",
    "Verdicts",
    "make_batches",
    "make_frame",
]

Flags = npt.NDArray[np.bool_]


class Verdicts:
    """What is known of every subscription, by turn; at the beginning the decisions of the first pass."""

    def __init__(self, first: Decisions) -> None:
        self.is_active: Flags = first.codes != 1
        self.is_exhausted: Flags = first.codes < 0
        self.is_single: Flags = first.is_single.copy()
        self.proofs: NumberLists = first.proofs
        self.nodes: Ints = first.nodes.copy()
        self.rounds: Ints = first.rounds.copy()

    def active(self) -> Ints:
        """The turns that are active so far."""
        return np.flatnonzero(self.is_active)

    def find_unproved(self) -> Ints:
        """The passive turns whose proof names a passive one."""
        is_unproved = np.zeros(len(self.is_active), np.bool_)
        is_unproved[self.proofs.owners()[~self.is_active[self.proofs.items]]] = True
        return np.flatnonzero(is_unproved)

    def revise(self, turns: Ints, again: Decisions) -> Ints:
        """Replace the decisions on some turns, and return those that are not covered."""
        self.is_active[turns] = again.codes != 1
        self.is_exhausted[turns] = again.codes < 0
        self.is_single[turns] = again.is_single
        self.proofs = self.proofs.replace(turns, again.proofs)
        self.nodes[turns] += again.nodes
        self.rounds[turns] += again.rounds
        uncovered: Ints = turns[again.codes == 0]
        return uncovered

    def settle(self, unexpected: Ints, found: Arranged, decider: Decider) -> None:
        """Decide one after the other, in this process, from the first turn that is active unexpectedly.

        There is none unless filters have derived attributes or checks. Such a filter asks for less than its boxes hold
        (they hold combinations of values that no event has), so that it may be passive while its boxes are not covered.
        Another filter that these boxes help to cover is then covered by all before it, and yet not by the active ones.

        Nothing changes before that turn. After it, turns that were active are decided again, since what is active now may
        cover them, and turns whose proof is broken.
        """
        if not len(unexpected):
            return
        from thatch.reduction.index import BoxIndex

        first, rows = int(unexpected[0]), found.rows
        owners = rows.owners()
        known = np.flatnonzero(self.is_active[:first])
        numbers = np.flatnonzero(self.is_active[owners] & (owners < first))  # of boxes, among all
        index = BoxIndex.of(rows.take(known).boxes, numbers)
        decided: list[int] = []
        decisions: list[Decisions] = []
        for turn in range(first, len(self.is_active)):
            proof = self.proofs.items[self.proofs.starts[turn] : self.proofs.starts[turn + 1]]
            if not self.is_active[turn] and self.is_active[proof].all():
                continue
            here = np.array([turn])
            question = found.questions.take(here)
            before = np.repeat(rows.starts[here], question.counts())
            decision = decider.decide(index, owners, question, before)
            decided.append(turn)
            decisions.append(decision)
            self.is_active[turn] = decision.codes[0] != 1
            if self.is_active[turn]:
                for number, box in enumerate(rows.take(here).boxes, start=int(rows.starts[turn])):
                    index.add(number, *box)
        self.revise(np.array(decided), Decisions.combine([each.arrays() for each in decisions]))


# --- as a DataFrame --------------------------------------------------------------------------------------------------

BOXES = "boxes"
ACTIVE = "active"
DECIDED_BY = "decided_by"
PROOF = "proof"
EXHAUSTED = "exhausted"
NODES = "nodes"
ROUNDS = "rounds"

_NAMES = (ROW, SUBSCRIPTION, SUBSCRIBER, ATTRIBUTES)
VERDICT_ROWS = arrow_schema(
    *_NAMES,
    (BOXES, pa.int32()),
    (ACTIVE, pa.bool_()),
    DECIDED_BY,
    (PROOF, pa.list_(pa.string())),
    (EXHAUSTED, pa.bool_()),
    (NODES, pa.int64()),
    (ROUNDS, pa.int64()),
)
_AT_ONCE = 10_000  # rows of a batch


def make_frame(spark: SparkSession, found: Arranged, verdicts: Verdicts, policy: PolicyName) -> DataFrame:
    """Make a DataFrame of the verdicts, in the order of `row`, that tasks read from a file; see `reduce`."""
    path = scratch_file(".arrow")
    batches = 0
    with pa.ipc.new_file(str(path), VERDICT_ROWS) as sink:
        for batch in make_batches(found, verdicts, policy):
            sink.write_batch(batch)
            batches += 1
    if not batches:
        return spark.createDataFrame([], spark_schema(VERDICT_ROWS))
    shared = share_file(spark, path, _open_batches)
    numbers = spark.range(0, batches, 1, min(batches, 4 * parallelism(spark)))
    return numbers.mapInArrow(partial(_read_batches, shared), spark_schema(VERDICT_ROWS))


def _open_batches(path: Path) -> pa.ipc.RecordBatchFileReader:
    return pa.ipc.open_file(pa.memory_map(str(path)))


def _read_batches(shared: SharedFile[pa.ipc.RecordBatchFileReader], batches: Batches) -> Batches:
    """Read batches of a file by their numbers, in a worker."""
    reader = shared.open()
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield reader.get_batch(number)


def make_batches(found: Arranged, verdicts: Verdicts, policy: PolicyName) -> Batches:
    """Make batches of the verdicts, in the order of `row`."""
    ids = found.names.column(SUBSCRIPTION)
    words = pa.array(_words(found, verdicts, policy))
    boxes = found.rows.counts().astype(np.int32)
    by_row = pc.sort_indices(found.names.column(ROW)).to_numpy().astype(np.int64)
    for start in range(0, len(by_row), _AT_ONCE):
        turns = by_row[start : start + _AT_ONCE]
        names = found.names.take(pa.array(turns)).combine_chunks()
        proofs = verdicts.proofs.take(turns)
        proof_ids = ids.take(pa.array(proofs.items)).combine_chunks()
        columns = [
            *(names.column(name).combine_chunks().cast(VERDICT_ROWS.field(name).type) for name in _NAMES),
            pa.array(boxes[turns], mask=boxes[turns] == 0),
            pa.array(verdicts.is_active[turns]),
            words.take(pa.array(turns)),
            pa.ListArray.from_arrays(pa.array(proofs.starts.astype(np.int32)), proof_ids),
            pa.array(verdicts.is_exhausted[turns]),
            pa.array(verdicts.nodes[turns]),
            pa.array(verdicts.rounds[turns]),
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=VERDICT_ROWS)


def _words(found: Arranged, verdicts: Verdicts, policy: PolicyName) -> list[str]:
    """How each was decided, in the words of `thatch.reduction.problem`."""
    searched = "pairwise" if policy == "pairwise" else "branch_and_bound"
    covered = np.where(verdicts.is_single, "pairwise", "branch_and_bound")
    words = np.where(verdicts.is_active, searched, covered)
    if policy == "exact":
        words[verdicts.is_active & (verdicts.nodes == 0)] = "empty"  # there was nothing to search in
    words[verdicts.is_exhausted | (found.questions.counts() == 0)] = "budget"
    return list(words.tolist())
