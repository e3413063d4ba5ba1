"""Decide many subscriptions at once: every worker maps one index, and each task takes an interleaved slice.

Whether those before it cover a subscription does not depend on other decisions, so that tasks need not communicate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from thatch.engine import container
from thatch.pipeline.tasks import Arrays, RunParts, load_arrays, scratch_file
from thatch.pipeline.transforms.reducing.arranging import BoxGroups, NumberLists
from thatch.reduction.boxes import Boxes, Ints

if TYPE_CHECKING:
    from thatch.reduction.index import Answers, BoxIndex

__all__ = ["Decider", "Decisions", "PolicyName", "decide_all"]

PolicyName = Literal["exact", "pairwise"]

_FEW = 500  # questions that are not worth a task
_TASKS = 16  # for each that runs at a time, so that all end at about the same time and progress shows
_INDEX = "index "  # prefix of the names of its arrays
_FLAT = ("codes", "is_single", "nodes", "rounds")
_SIDES = ("offsets", "axes", "lows", "highs")


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """The decisions on questions, in their order."""

    codes: npt.NDArray[np.int8]  # 1 covered, 0 not covered, -1 not decided within the budget
    proofs: NumberLists  # for a covered question the turns that cover it together, rising
    is_single: npt.NDArray[np.bool_]  # whether every box of the question lies in a single other box
    # The work of the search.
    nodes: Ints
    rounds: Ints

    def arrays(self) -> Arrays:
        """All fields, for `combine`."""
        flat = {name: getattr(self, name) for name in _FLAT}
        return {**flat, "starts": self.proofs.starts, "items": self.proofs.items}

    @classmethod
    def combine(cls, parts: list[Arrays]) -> Decisions:
        """Combine the decisions on questions that were dealt out in turn to these parts."""
        columns = {name: np.concatenate([each[name] for each in parts]) for name in (*_FLAT, "items")}
        sizes = np.concatenate([np.diff(each["starts"]) for each in parts])
        count = len(sizes)
        order = np.argsort(np.concatenate([np.arange(part, count, len(parts)) for part in range(len(parts))]))
        proofs = NumberLists(np.concatenate(([0], np.cumsum(sizes))), columns.pop("items")).take(order)
        return cls(proofs=proofs, **{name: each[order] for name, each in columns.items()})


@dataclass(frozen=True, slots=True)
class Decider:
    """Decides questions."""

    policy: PolicyName  # whether rows may cover a question together, or only one alone
    budget: float  # the most cells that one box of a question may take, infinite for no limit

    def decide(self, index: BoxIndex, turns: Ints, questions: BoxGroups, before: Ints) -> Decisions:
        """Decide questions by the boxes of an index.

        Parameters
        ----------
        turns : of the boxes of the index, by their numbers
        before : for each box of the questions, the number from which on boxes do not count
        """
        is_pairwise = self.policy == "pairwise"
        answers = index.decide_many(
            questions.boxes, before=before, budget=self.budget, pairwise_only=is_pairwise
        )
        return _decide_groups(answers, questions, turns)


def decide_all(
    run: RunParts,
    decider: Decider,
    known: BoxGroups,
    turns: Ints,
    questions: BoxGroups,
    before: Ints,
    *,
    at_once: int,
) -> Decisions:
    """Decide questions, each by the rows that come before it; in parts if there are many.

    Parameters
    ----------
    run, at_once : runs the parts, so many at a time
    known, turns : rows and the turn of each, rising
    questions, before : the questions, and for each the turn from which on rows do not count
    """
    from thatch.reduction.index import BoxIndex

    index, count = BoxIndex.of(known.boxes), len(questions)
    # The boxes of rows are numbered through, so that "before this turn" is "below this number".
    below, owners = known.starts[np.searchsorted(turns, before)], np.repeat(turns, known.counts())
    if count <= _FEW:
        return decider.decide(index, owners, questions, np.repeat(below, questions.counts()))
    arrays = {
        **{f"{_INDEX}{name}": each for name, each in index.arrays().items()},
        **{name: getattr(questions.boxes, name) for name in _SIDES},
        "starts": questions.starts,
        "before": below,
        "turns": owners,
    }
    path = scratch_file(".boxes")
    container.write(path, {}, arrays)
    slices = max(1, min(_TASKS * at_once, -(-count // _FEW)))
    work, doing = partial(_decide_slice, slices, decider), "deciding which subscriptions are covered"
    found = run(path, _load, work, count=slices, tasks=slices, doing=doing)
    return Decisions.combine([container.loads(each)[1] for each in found])


def _load(path: Path) -> tuple[BoxIndex, Arrays]:
    """The index and the questions of a file."""
    from thatch.reduction.index import BoxIndex

    arrays = load_arrays(path)
    index = {name: arrays.pop(name) for name in list(arrays) if name.startswith(_INDEX)}
    return BoxIndex.from_arrays({name.removeprefix(_INDEX): each for name, each in index.items()}), arrays


def _decide_slice(slices: int, decider: Decider, shared: tuple[BoxIndex, Arrays], number: int) -> bytes:
    """Decide every `slices`-th question, in a worker."""
    index, arrays = shared
    questions = BoxGroups(arrays["starts"], Boxes(*(arrays[name] for name in _SIDES)))
    chosen = np.arange(number, len(questions), slices)
    part = questions.take(chosen)
    before = np.repeat(arrays["before"][chosen], part.counts())
    return container.dumps({}, decider.decide(index, arrays["turns"], part, before).arrays())


def _decide_groups(answers: Answers, questions: BoxGroups, turns: Ints) -> Decisions:
    """Turn answers about boxes into decisions about groups: all boxes must be covered."""
    count, group = len(questions), questions.owners()
    codes = (questions.counts() > 0).astype(np.int8)  # a question without boxes is not covered
    codes[group[answers.codes < 0]] = -1
    codes[group[answers.codes == 0]] = 0
    is_single = np.ones(count, np.bool_)
    is_single[group[answers.rounds > 0]] = False
    owner = np.repeat(group, np.diff(answers.used_at))
    is_proof = codes[owner] == 1
    # Each turn once, though it may cover several boxes.
    pairs = np.unique(np.stack((owner[is_proof], turns[answers.used[is_proof]]), axis=1), axis=0)
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(pairs[:, 0], minlength=count), out=starts[1:])
    proofs = NumberLists(starts, np.ascontiguousarray(pairs[:, 1]))
    nodes, rounds = (np.bincount(group, each, count) for each in (answers.nodes, answers.rounds))
    return Decisions(codes, proofs, is_single, nodes.astype(np.int64), rounds.astype(np.int64))
