"""Figures 14 and 15: table sizes and false positives over the threshold of imperfect merging."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import numpy.typing as npt

from thatch.experiments.experiment import Comparison, Comparisons, Experiment, Plot
from thatch.experiments.li2005.covering import remove_covered
from thatch.experiments.li2005.merging import (
    Diagram,
    DiagramMerger,
    advertisements,
    diagrams_of,
    merge_table,
    mergers_in,
)
from thatch.experiments.li2005.setting import SCALE, SETTING, SMALL, subscriptions_of
from thatch.experiments.results import Results, join, number, percent
from thatch.experiments.trials import Row, Simulation, columns, grid, random_of
from thatch.workloads.li2005 import AT_LEAST, AT_MOST, EQUAL, UNEQUAL, Ints, draw_publications

__all__ = ["FIG14", "FIG15", "THRESHOLDS"]

THRESHOLDS = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0)

Bools = npt.NDArray[np.bool_]


def _sizes(seed: int, *, shape: str, count: int, scale: int, advertised: float) -> Iterator[Row]:
    table = remove_covered(subscriptions_of(seed, shape, count, scale))
    expected = advertisements(table.values, advertised)
    for threshold in THRESHOLDS:
        yield {"threshold": threshold, "size": len(merge_table(table, threshold, expected))}


def _false_positives(seed: int, *, shape: str, count: int, scale: int, publications: int) -> Iterator[Row]:
    """Matches before and after merging: of publications with diagrams, and of publications at all."""
    table = remove_covered(subscriptions_of(seed, shape, count, scale))
    events = draw_publications(random_of(seed, "publications"), publications, table.values)
    kinds = len(THRESHOLDS) + 1  # the subscriptions, then the mergers of each threshold
    pairs, is_matched = np.zeros(kinds, np.int64), np.zeros((kinds, len(events)), bool)
    for diagram, reached in _reached(diagrams_of(table), events):
        held, value = _held(diagram, table.values), events[:, diagram.attribute]
        pairs += held @ np.bincount(value[reached], minlength=table.values)
        undecided = reached[~is_matched[0, reached]]  # mergers match whatever subscriptions match
        is_matched[:, undecided] |= held[:, value[undecided]]
    for row, threshold in enumerate(THRESHOLDS, 1):
        yield {
            "threshold": threshold,
            "wanted": int(pairs[0]),
            "let_through": int(pairs[row]),
            "wanted_events": int(is_matched[0].sum()),
            "events_let_through": int(is_matched[row].sum()),
        }


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
    """Which values of the topmost attribute the outputs hold, and which the mergers of each threshold hold."""
    value = np.arange(values)
    rows = np.zeros((len(THRESHOLDS) + 1, values), bool)
    for low, high, _ in diagram.outputs:
        rows[:, low : high + 1] = True
    if len(diagram.outputs) > 1:
        expected = advertisements(values, 1.0)
        for number, threshold in enumerate(THRESHOLDS, 1):
            for merger in mergers_in(diagram, threshold, expected):
                rows[number] |= _holds(merger, value)
    return rows


def _holds(merger: DiagramMerger, value: Ints) -> Bools:
    compare = {AT_MOST: np.less_equal, AT_LEAST: np.greater_equal, EQUAL: np.equal, UNEQUAL: np.not_equal}
    return np.asarray(compare[merger.operator](value, merger.value))


SIZES = Simulation(name="li2005/thresholds", trial=_sizes, results=columns(int="size", float="threshold"))

FALSE_POSITIVES = Simulation(
    name="li2005/false_positives",
    trial=_false_positives,
    results=columns(int="wanted let_through wanted_events events_let_through", float="threshold"),
)


_COUNT = 100_000
_SHAPES_OF_SIZES = ("A", "A, tails of =")
_SHOWN = " / ".join(f"{threshold:g}" for threshold in THRESHOLDS)
_WHY = {  # by share of the values that are advertised
    1.0: "",
    0.5: "smaller up to IMT 0.1; beyond that the remaining events are denser, and mergers cost more",
    0.25: "smaller at every IMT",
}


def _compare_sizes(results: Results) -> Comparisons:
    for shape in _SHAPES_OF_SIZES:
        sizes = [results.mean("size", shape=shape, threshold=each, advertised=1.0) for each in THRESHOLDS]
        first, last, at = sizes[0], sizes[-1], sizes[THRESHOLDS.index(0.15)]
        gain = None if first is None or last is None or at is None else (first - at) / max(first - last, 1)
        yield Comparison(f"table at IMT 0, {shape}", "about 32,852 of 100,000", number(first))
        yield Comparison(f"of the gain up to IMT 1, by 0.15, {shape}", "most", percent(gain))
    for advertised, why in _WHY.items():
        what = "all values" if advertised == 1 else f"{advertised:.0%} of the values"
        yield Comparison(
            f"table at IMT {_SHOWN}, A, {what} advertised",
            "falls, slightly beyond 0.15; with advertisements a smaller table at the same IMT",
            results.show_means("size", shape="A", advertised=advertised, threshold=THRESHOLDS),
            why,
        )


FIG14 = Experiment(
    name="li2005/fig14",
    title="imperfect merging and advertisements",
    statement="At IMT 0, after covering and perfect merging, 32,852 of 100,000 subscriptions are left; most mergers are made "
    "with IMT up to 0.15. With advertisements some mergers cost nothing, and tables are smaller.",
    setting=SETTING
    + "Two publishers share the values of one attribute, and advertise all, a half or a quarter of the values "
    "of nine others, which topmost predicates are on; the paper does not give its own. IMT is a share of the publications, "
    "which are those that are advertised. One seed.",
    simulation=SIZES,
    full=grid(1, shape=("A",), count=(_COUNT,), scale=(1,), advertised=tuple(_WHY))
    + grid(1, shape=_SHAPES_OF_SIZES, count=(_COUNT,), scale=(1,), advertised=(1.0,)),
    quick=grid(1, shape=("A",), count=(SMALL,), scale=(SCALE,), advertised=(1.0, 0.25)),
    compare=_compare_sizes,
    plots=(Plot("Subscriptions in the table", "threshold", "size", by=("shape", "advertised")),),
)


_SHAPES = ("A", "B", "A, tails of =")
_PUBLICATIONS = 10_000
_MATCHES = (
    ("of pairs of publication and diagram", "wanted", "let_through", ""),
    (
        "of publications",
        "wanted_events",
        "events_let_through",
        "almost every publication is wanted by some subscription",
    ),
)


def _compare_false_positives(results: Results) -> Comparisons:
    for shape, (what, wanted, found, why) in product(_SHAPES, _MATCHES):
        yield Comparison(
            f"let through in vain at IMT {_SHOWN}, {shape}, {what}",
            "at most 2.5 % below IMT 0.1, growing",
            join(percent(_share(results, wanted, found, shape, threshold)) for threshold in THRESHOLDS),
            why,
        )


def _share(results: Results, wanted: str, found: str, shape: str, threshold: float) -> float | None:
    """The false positives as a share of the wanted matches."""
    first, second = (results.total(name, shape=shape, threshold=threshold) for name in (wanted, found))
    return None if first is None or second is None else (second - first) / max(first, 1)


FIG15 = Experiment(
    name="li2005/fig15",
    title="false positives of imperfect merging",
    statement="More publications match as IMT grows, some of them in vain; up to IMT 0.1 not more than 2.5 %.",
    setting=SETTING
    + "100,000 subscriptions, 10,000 of the paper's 50,000 publications. A match is a pair of a publication and a diagram, whichever of "
    "its subscriptions match; publications that match anything are counted too. One seed.",
    simulation=FALSE_POSITIVES,
    full=grid(1, shape=_SHAPES, count=(100_000,), scale=(1,), publications=(_PUBLICATIONS,)),
    quick=grid(1, shape=_SHAPES, count=(SMALL,), scale=(SCALE,), publications=(300,)),
    compare=_compare_false_positives,
    plots=(Plot("Matches of publications and diagrams", "threshold", "let_through", by=("shape",)),),
)
