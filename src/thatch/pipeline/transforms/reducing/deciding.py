"""Deciding many subscriptions at once: one index in a file that every worker maps, and tasks that take interleaved slices.

Whether a subscription is covered by those before it hangs on nothing that is decided meanwhile, so that tasks need not
talk to each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.engine import container
from thatch.pipeline.adapter import Carried, carry, parallelism
from thatch.pipeline.failures import failures_told
from thatch.pipeline.folders import work_folder
from thatch.pipeline.transforms.reducing.lists import Grouped, Lists
from thatch.reduction.boxes import Boxes, Ints

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from thatch.reduction.index import Answers, BoxIndex

__all__ = ["Asking", "Decisions", "PolicyName", "decide"]

PolicyName = Literal["exact", "pairwise"]

_FEW = 500  # questions that are not worth a task
_TASKS = 16  # for each that runs at a time: all end at about the same time, and progress is seen
_INDEX = "index "  # before the names of its arrays
_FLAT = ("codes", "is_single", "nodes", "rounds")
_SIDES = ("offsets", "axes", "lows", "highs")


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """What was found about questions, in their order.

    Parameters
    ----------
    codes : 1 covered, 0 not covered, -1 not decided within the budget
    proofs : of what is covered, the places that cover it together, rising
    is_single : whether every box of the question lies in a single other
    nodes, rounds : what it cost
    """

    codes: npt.NDArray[np.int8]
    proofs: Lists
    is_single: npt.NDArray[np.bool_]
    nodes: Ints
    rounds: Ints

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All of it, for `of`."""
        flat = {name: getattr(self, name) for name in _FLAT}
        return {**flat, "starts": self.proofs.starts, "items": self.proofs.items}

    @classmethod
    def of(cls, parts: list[dict[str, npt.NDArray[Any]]]) -> Decisions:
        """Decisions about questions that were dealt out in turn to these parts, the first to the first."""
        columns = {name: np.concatenate([each[name] for each in parts]) for name in (*_FLAT, "items")}
        sizes = np.concatenate([np.diff(each["starts"]) for each in parts])
        count = len(sizes)
        order = np.argsort(np.concatenate([np.arange(turn, count, len(parts)) for turn in range(len(parts))]))
        proofs = Lists(np.concatenate(([0], np.cumsum(sizes))), columns.pop("items")).take(order)
        return cls(proofs=proofs, **{name: each[order] for name, each in columns.items()})


@dataclass(frozen=True, slots=True)
class Asking:
    """How questions are decided.

    Parameters
    ----------
    policy : whether all rows together count, or each by itself
    budget : most cells that one box of a question may take, infinite for no limit
    """

    policy: PolicyName
    budget: float

    def decided(self, index: BoxIndex, places: Ints, questions: Grouped, before: Ints) -> Decisions:
        """Decide questions by the boxes of an index.

        Parameters
        ----------
        places : of the boxes of the index, by their numbers
        before : for each box of the questions, the number from which on boxes do not count
        """
        is_pairwise = self.policy == "pairwise"
        answers = index.covered_many(
            questions.boxes, before=before, budget=self.budget, pairwise_only=is_pairwise
        )
        return _decisions(answers, questions, places)


def decide(
    spark: SparkSession, asking: Asking, known: Grouped, places: Ints, questions: Grouped, before: Ints
) -> Decisions:
    """Decide questions, each by the rows that come before it, in parallel if they are many.

    Parameters
    ----------
    known, places : rows and the place of each, rising
    questions, before : what is asked, and for each the place from which on rows do not count
    """
    from thatch.reduction.index import BoxIndex

    index, count = BoxIndex.of(known.boxes), len(questions)
    # The boxes of rows are numbered through, so that "before this place" is "below this number".
    below, owners = known.starts[np.searchsorted(places, before)], np.repeat(places, known.counts())
    if count <= _FEW:
        return asking.decided(index, owners, questions, np.repeat(below, questions.counts()))
    arrays = {
        **{f"{_INDEX}{name}": each for name, each in index.arrays().items()},
        **{name: getattr(questions.boxes, name) for name in _SIDES},
        "starts": questions.starts,
        "before": below,
        "places": owners,
    }
    path = work_folder() / f"{uuid4().hex}.boxes"
    container.write(path, {}, arrays)
    slices = max(1, min(_TASKS * parallelism(spark), -(-count // _FEW)))
    task = _Decide(carry(spark, path), slices, asking)
    try:
        with failures_told("deciding which subscriptions are covered"):
            found = spark.range(0, slices, 1, slices).mapInArrow(task, "slice bigint, found binary").toArrow()
    finally:
        path.unlink(missing_ok=True)
    pieces = found.sort_by("slice").column("found")
    return Decisions.of([container.loads(each.as_buffer())[1] for each in pieces])


@dataclass(frozen=True, slots=True)
class _Decide:
    """Decides slices of the questions in a file, in a worker."""

    file: Carried
    slices: int
    asking: Asking

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        index, arrays = _opened(self.file.here())
        questions = Grouped(arrays["starts"], Boxes(*(arrays[name] for name in _SIDES)))
        for batch in batches:
            for number in batch.column(0).to_pylist():
                chosen = np.arange(number, len(questions), self.slices)
                part = questions.take(chosen)
                before = np.repeat(arrays["before"][chosen], part.counts())
                found = self.asking.decided(index, arrays["places"], part, before)
                told = container.dumps({}, found.arrays())
                yield pa.RecordBatch.from_arrays(
                    [pa.array([number], pa.int64()), pa.array([told], pa.binary())], ["slice", "found"]
                )


@lru_cache(maxsize=1)
def _opened(path: Path) -> tuple[BoxIndex, dict[str, npt.NDArray[Any]]]:
    """The index and the questions of a file, mapped once in a worker."""
    from thatch.reduction.index import BoxIndex

    _, arrays = container.read(path)
    index = {name: arrays.pop(name) for name in list(arrays) if name.startswith(_INDEX)}
    return BoxIndex.from_arrays({name.removeprefix(_INDEX): each for name, each in index.items()}), arrays


def _decisions(answers: Answers, questions: Grouped, places: Ints) -> Decisions:
    """What answers about boxes say about groups of them: all must be covered."""
    count, group = len(questions), questions.owners()
    codes = (questions.counts() > 0).astype(np.int8)  # what has no boxes to show cannot be covered
    codes[group[answers.codes < 0]] = -1
    codes[group[answers.codes == 0]] = 0
    is_single = np.ones(count, np.bool_)
    is_single[group[answers.rounds > 0]] = False
    owner = np.repeat(group, np.diff(answers.used_at))
    is_proof = codes[owner] == 1
    # Each place once, though it may cover several boxes.
    pairs = np.unique(np.stack((owner[is_proof], places[answers.used[is_proof]]), axis=1), axis=0)
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(pairs[:, 0], minlength=count), out=starts[1:])
    proofs = Lists(starts, np.ascontiguousarray(pairs[:, 1]))
    nodes, rounds = (np.bincount(group, each, count) for each in (answers.nodes, answers.rounds))
    return Decisions(codes, proofs, is_single, nodes.astype(np.int64), rounds.astype(np.int64))
