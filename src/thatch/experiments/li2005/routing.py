"""Time of a publication: diagrams and a naive scan, against tables of every size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf
from time import process_time
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from thatch.experiments.li2005.advertised import Advertised
from thatch.experiments.li2005.covering import ends_of, uncovered
from thatch.experiments.li2005.merging import merged
from thatch.experiments.li2005.setting import THRESHOLD, subscriptions_of
from thatch.experiments.trials import Parameters, Row, Simulation, random_of
from thatch.model.events import Record, read_event
from thatch.model.language import parse
from thatch.workloads.li2005 import NAMES, OPERATORS, UNEQUAL, Ints, Predicates, publications

__all__ = ["SIMULATION"]

_ROUNDS = 3  # of which the quickest counts

Variables = npt.NDArray[np.int32]
Given = TypeVar("Given")
Told = TypeVar("Told")


def _trial(parameters: Parameters, seed: int) -> Sequence[Row]:
    table = subscriptions_of(parameters, seed)
    covered = uncovered(table)
    expected = Advertised(table.values)
    tables = {
        "none": _Routed(table),
        "covering": _Routed(covered),
        "perfect": _Routed(merged(covered, 0.0, expected)),
        "imperfect": _Routed(merged(covered, THRESHOLD, expected)),
    }
    events = publications(random_of(seed, "publications"), int(parameters["publications"]), table.values)
    records = [read_event(dict(zip(NAMES, event, strict=True))) for event in events.tolist()]
    return [{"stage": stage, **routed.measured(events, records)} for stage, routed in tables.items()]


class _Routed:
    """A table as diagrams, and as rows to be scanned."""

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
        from thatch.matching.diagrams.passes import FullPass  # takes a while to load

        self._full_pass = FullPass()
        self._truth = np.zeros(self._predicates.size, np.uint8)
        self._value, self._stack = np.zeros(nodes, np.uint8), np.zeros(nodes, np.int32)
        self._found = np.zeros(max(nodes, len(table)), np.int32)
        self._size = len(table)

    def _variable(self, attribute: int, operator: int, value: int) -> int:
        predicate = parse(f"{NAMES[attribute]} {OPERATORS[operator]} {value}")
        return self._predicates.acquire(*predicate.conjunctions[0].constraints[0])

    def measured(self, events: Ints, records: Sequence[Record]) -> Row:
        """Microseconds for a publication, by step; and how many subscriptions match one."""
        assigned, true = _timed(self._predicates.true_variables, records)
        evaluated, _ = _timed(self._evaluated, true)
        walked, _ = _timed(self._top_down, true)
        scanned, matches = _timed(self._scan, events)
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


def _timed(ask: Callable[[Given], Told], each: Iterable[Given]) -> tuple[float, list[Told]]:
    """Microseconds for one question, in the quickest of some rounds, and all answers."""
    asked = list(each)
    ask(asked[0])  # compiled now, if it never was
    quickest = inf
    for _ in range(_ROUNDS):
        moment = process_time()
        told = [ask(one) for one in asked]
        quickest = min(quickest, process_time() - moment)
    return 1e6 * quickest / len(asked), told


SIMULATION = Simulation(
    name="li2005/routing",
    trial=_trial,
    parameters={"shape": str, "count": int, "scale": int, "publications": int},
    results={
        "stage": str,
        "size": int,
        "nodes": int,
        "predicates": int,
        "assigned_us": float,
        "evaluated_us": float,
        "walked_us": float,
        "scanned_us": float,
        "matches": float,
        "differ": int,
    },
)
