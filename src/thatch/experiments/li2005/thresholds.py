"""Table sizes and false positives over the threshold of imperfect merging."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from thatch.experiments.li2005.advertised import advertisements
from thatch.experiments.li2005.covering import uncovered
from thatch.experiments.li2005.merging import Diagram, Merger, diagrams_of, merged, mergers_in
from thatch.experiments.li2005.setting import subscriptions_of
from thatch.experiments.trials import Parameters, Row, Simulation, random_of
from thatch.workloads.li2005 import AT_LEAST, AT_MOST, EQUAL, UNEQUAL, Ints, publications

__all__ = ["FALSE_POSITIVES", "SIZES", "THRESHOLDS"]

THRESHOLDS = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0)

Bools = npt.NDArray[np.bool_]


def _sizes(parameters: Parameters, seed: int) -> Sequence[Row]:
    table = uncovered(subscriptions_of(parameters, seed))
    expected = advertisements(table.values, float(parameters["advertised"]))
    return [
        {"threshold": threshold, "size": len(merged(table, threshold, expected))} for threshold in THRESHOLDS
    ]


def _false_positives(parameters: Parameters, seed: int) -> Sequence[Row]:
    """What publications match before merging and after, for each diagram and at all."""
    table = uncovered(subscriptions_of(parameters, seed))
    events = publications(random_of(seed, "publications"), int(parameters["publications"]), table.values)
    kinds = len(THRESHOLDS) + 1  # what subscriptions hold, then what mergers hold
    pairs, is_matched = np.zeros(kinds, np.int64), np.zeros((kinds, len(events)), bool)
    for diagram, reached in _reached(diagrams_of(table), events):
        held, value = _held(diagram, table.values), events[:, diagram.attribute]
        pairs += held @ np.bincount(value[reached], minlength=table.values)
        undecided = reached[~is_matched[0, reached]]  # what subscriptions hold, mergers hold too
        is_matched[:, undecided] |= held[:, value[undecided]]
    return [
        {
            "threshold": threshold,
            "wanted": int(pairs[0]),
            "let_through": int(pairs[place]),
            "wanted_events": int(is_matched[0].sum()),
            "events_let_through": int(is_matched[place].sum()),
        }
        for place, threshold in enumerate(THRESHOLDS, 1)
    ]


def _reached(diagrams: Sequence[Diagram], events: Ints) -> Iterator[tuple[Diagram, Ints]]:
    """Every diagram with the publications that satisfy its tail."""
    known: dict[object, Ints] = {}
    for diagram in diagrams:
        if diagram.tail not in known:
            is_reached = np.ones(len(events), bool)
            for key, low, high in diagram.tail:
                is_reached &= (low <= events[:, key]) & (events[:, key] <= high)
            known[diagram.tail] = np.flatnonzero(is_reached)
        yield diagram, known[diagram.tail]


def _held(diagram: Diagram, values: int) -> Bools:
    """Which values of the topmost attribute the outputs hold, and what mergers of each threshold do."""
    value = np.arange(values)
    rows = np.zeros((len(THRESHOLDS) + 1, values), bool)
    for low, high, _ in diagram.outputs:
        rows[:, low : high + 1] = True
    if len(diagram.outputs) > 1:
        expected = advertisements(values, 1.0)
        for place, threshold in enumerate(THRESHOLDS, 1):
            for merger in mergers_in(diagram, threshold, expected):
                rows[place] |= _holds(merger, value)
    return rows


def _holds(merger: Merger, value: Ints) -> Bools:
    compare = {AT_MOST: np.less_equal, AT_LEAST: np.greater_equal, EQUAL: np.equal, UNEQUAL: np.not_equal}
    return np.asarray(compare[merger.operator](value, merger.value))


SIZES = Simulation(
    name="li2005/thresholds",
    trial=_sizes,
    parameters={"shape": str, "count": int, "scale": int, "advertised": float},
    results={"threshold": float, "size": int},
)

FALSE_POSITIVES = Simulation(
    name="li2005/false_positives",
    trial=_false_positives,
    parameters={"shape": str, "count": int, "scale": int, "publications": int},
    results={
        "threshold": float,
        "wanted": int,
        "let_through": int,
        "wanted_events": int,
        "events_let_through": int,
    },
)
