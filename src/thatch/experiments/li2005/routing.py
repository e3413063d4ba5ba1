"""Table 2: the time of a publication, with diagrams and with a naive scan, for routing tables of every stage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from time import process_time
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from thatch.experiments.experiment import Comparison, Comparisons, Experiment
from thatch.experiments.li2005.covering import ends_of
from thatch.experiments.li2005.setting import COUNT, SCALE, SETTING, SMALL, show_rounded, subscriptions_of
from thatch.experiments.li2005.tables import STAGES, reduce_by_stages
from thatch.experiments.results import Results, join, number, ratio
from thatch.experiments.trials import Row, Simulation, columns, grid, random_of
from thatch.model.events import Record, read_event
from thatch.model.language import parse
from thatch.workloads.li2005 import NAMES, OPERATORS, UNEQUAL, Ints, Predicates, draw_publications

__all__ = ["TABLE2"]

_ROUNDS = 3  # of which the quickest counts

Variables = npt.NDArray[np.int32]
Question = TypeVar("Question")
Answer = TypeVar("Answer")


def _trial(seed: int, *, shape: str, count: int, scale: int, publications: int) -> Iterator[Row]:
    table = subscriptions_of(seed, shape, count, scale)
    events = draw_publications(random_of(seed, "publications"), publications, table.values)
    records = [read_event(dict(zip(NAMES, event, strict=True))) for event in events.tolist()]
    for stage, reduced in reduce_by_stages(table).items():
        yield {"stage": stage, **_RoutingTable(reduced).measure(events, records)}


class _RoutingTable:
    """A routing table as diagrams, and as rows for the scan."""

    def __init__(self, table: Predicates) -> None:
        from thatch.matching.diagrams.chains import Chains
        from thatch.matching.diagrams.predicates import PredicateIndex

        self._predicates, self._chains = PredicateIndex(), Chains()
        _, firsts, inverse = np.unique(table.numbers, return_index=True, return_inverse=True)
        columns = (table.attribute, table.operator, table.value)
        variables = np.array([self._variable(*(int(each[first]) for each in columns)) for first in firsts])
        chains = variables[inverse].tolist()
        offsets = table.offsets.tolist()
        for row in range(len(table)):
            self._chains.insert(chains[offsets[row] : offsets[row + 1]][::-1])
        is_outside = table.operator == UNEQUAL
        lows, highs = (np.where(is_outside, table.value, ends) for ends in ends_of(table))
        self._rows = (table.offsets, table.attribute, lows, highs, is_outside)
        nodes = len(self._chains)
        from thatch.matching.diagrams.chains import FullPass  # takes a while to load

        self._full_pass = FullPass()
        self._truth = np.zeros(self._predicates.size, np.uint8)
        self._value, self._stack = np.zeros(nodes, np.uint8), np.zeros(nodes, np.int32)
        self._found = np.zeros(max(nodes, len(table)), np.int32)
        self._size = len(table)

    def _variable(self, attribute: int, operator: int, value: int) -> int:
        predicate = parse(f"{NAMES[attribute]} {OPERATORS[operator]} {value}")
        return self._predicates.acquire(*predicate.conjunctions[0].constraints[0])

    def measure(self, events: Ints, records: Sequence[Record]) -> Row:
        """Microseconds for a publication, by step; and how many subscriptions match one."""
        assigned, true = _time(self._predicates.true_variables, records)
        evaluated, _ = _time(self._evaluated, true)
        walked, _ = _time(self._top_down, true)
        scanned, matches = _time(self._scan, events)
        outputs = self._chains.columns.outputs
        matched = [int(outputs[self._found[: self._evaluated(each)]].sum()) for each in true]
        return {
            "size": self._size,
            "nodes": len(self._chains) - 1,
            "predicates": len(self._predicates),
            "assigned_us": assigned,
            "evaluated_us": evaluated,
            "walked_us": walked,
            "scanned_us": scanned,
            "matches": float(np.mean(matches)),
            "differ": sum(one != other for one, other in zip(matched, matches, strict=True)),
        }

    def _evaluated(self, true: Variables) -> int:
        return self._full_pass(self._chains.columns, true, self._truth, self._value, self._found)

    def _top_down(self, true: Variables) -> int:
        from thatch.matching.diagrams.kernels import top_down

        columns = self._chains.columns
        seen = (columns.variable, columns.first, columns.after, columns.outputs)
        return int(top_down(seen, true, self._truth, self._stack, self._found, len(columns.variable)))

    def _scan(self, event: Ints) -> int:
        from thatch.experiments.li2005.kernels import scan

        return int(scan(self._rows, event, self._found))


def _time(ask: Callable[[Question], Answer], questions: Iterable[Question]) -> tuple[float, list[Answer]]:
    """Microseconds a question in the fastest of some rounds, and all answers."""
    asked = list(questions)
    ask(asked[0])  # compiles the kernels
    quickest = inf
    for _ in range(_ROUNDS):
        moment = process_time()
        answers = [ask(one) for one in asked]
        quickest = min(quickest, process_time() - moment)
    return 1e6 * quickest / len(asked), answers


SIMULATION = Simulation(
    name="li2005/routing",
    trial=_trial,
    results=columns(
        int="size nodes predicates differ",
        float="assigned_us evaluated_us walked_us scanned_us matches",
        str="stage",
    ),
)


# Milliseconds without reduction, after covering, after perfect and after imperfect merging.
PAPER = {
    "A": {"diagrams": (68.73, 19.16, 13.31, 9.96), "naive": (300.71, 73.41, 49.89, 43.83)},
    "B": {"diagrams": (82.28, 38.15, 33.37, 29.19), "naive": (300.92, 165.38, 152.21, 141.06)},
}
_SHAPES = ("A", "B", "A, tails of =", "B, tails of =")
_STEPS = {"diagrams": "evaluated_us", "naive": "scanned_us"}


def _compare(results: Results) -> Comparisons:
    for shape in (name for name in _SHAPES if name in results.choices("shape")):
        paper = PAPER[shape[0]]
        ours = {
            way: [results.mean(step, shape=shape, stage=stage) for stage in STAGES]
            for way, step in _STEPS.items()
        }
        for way, means in ours.items():
            yield Comparison(
                f"{way}, {shape}: covering / perfect / imperfect, as shares of none",
                " / ".join(f"{value / paper[way][0]:.3f}" for value in paper[way][1:]),
                join(_ratio(mean, means[0]) for mean in means[1:]),
            )
            yield Comparison(
                f"{way}, {shape}: microseconds without reduction, after covering, perfect and imperfect merging",
                " / ".join(f"{1_000 * value:,.0f}" for value in paper[way]),
                join(map(show_rounded, means)),
                "other hardware and another language; only shares compare" if way == "naive" else "",
            )
        yield Comparison(
            f"naive / diagrams, {shape}: none / covering / perfect / imperfect",
            " / ".join(f"{a / b:.2f}" for a, b in zip(paper["naive"], paper["diagrams"], strict=True)),
            join(map(_ratio, ours["naive"], ours["diagrams"])),
        )
        times = (
            results.show_means(("assigned_us", "walked_us"), show_rounded, " | ", shape=shape, stage=stage)
            for stage in ("none", "imperfect")
        )
        yield Comparison(
            f"microseconds for the truth of predicates | a walk from the bottom, {shape}: none and imperfect",
            "–",
            join(times),
            "the first in Python; the second is shorter where little matches",
        )
        yield Comparison(
            f"publications where diagrams and the scan differ, {shape}",
            "–",
            number(results.total("differ", shape=shape)),
            "must be 0",
        )


def _ratio(value: float | None, of: float | None) -> str | None:
    found = ratio(value, of)
    return None if found is None else f"{found:.3f}"


TABLE2 = Experiment(
    name="li2005/table2",
    title="publication routing time",
    statement="Diagrams are quicker than a naive scan, by four to five times; covering and merging make both quicker, those of "
    "set A by 85.5 % (section 6 prints 85.7 % once).",
    setting=SETTING
    + "Compiled code and processor time; 200 of the paper's 50,000 publications, the fastest of three rounds. "
    "Diagrams: one pass over all nodes, after the truth of predicates, which is measured separately. Naive: one subscription after "
    "the other, up to the first predicate that does not hold. One seed.",
    simulation=SIMULATION,
    full=grid(1, shape=_SHAPES, count=(COUNT,), scale=(1,), publications=(200,)),
    quick=grid(1, shape=("A", "B, tails of ="), count=(SMALL,), scale=(SCALE,), publications=(20,)),
    compare=_compare,
)
