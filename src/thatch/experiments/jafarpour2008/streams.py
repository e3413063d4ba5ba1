"""Simulates a stream of subscriptions and counts the redundant ones: by pairs, exactly, or with at most k new boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.experiments.redundancy import is_redundant
from thatch.experiments.trials import Grid, Row, Simulation, Value, columns, grid, random_of
from thatch.workloads.jafarpour2008 import TOP, zipf_boxes

__all__ = ["COUNT", "MARKS", "SETTING", "SIMULATION", "SMALL", "streams"]

COUNT, SMALL = 10_000, 300  # subscriptions; in the quick size
MARKS = 5  # how often results are counted: the columns of tables 1 and 2

SETTING = (
    "the paper says that low ends are Zipfian but gives no exponent. `scattered`: Zipf(0.5) over the whole numbers of "
    "[0, 1000], the popular ones anywhere, real high ends, the reading that fits table 1 best; `grid`: low ends alike, "
    "whole ends; `power law`: real ends, a density with exponent 0.5. "
)

Ints = npt.NDArray[np.int64]


def streams(seeds: int, **choices: Sequence[Value]) -> Grid:
    """Trials of the simulation; defaults are the paper's, or do not matter to the method.

    `literal` is the approximate form as the paper prints it: a subscription's new boxes may exceed k by one split.
    """
    usual: dict[str, Sequence[Value]] = {
        "form": ("scattered",),
        "count": (COUNT,),
        "marks": (MARKS,),
        "k": (0,),
        "metric": ("ratio",),
        "literal": (choices["method"] == ("approximate",),),
    }
    return grid(seeds, **{**usual, **choices})


def _trial(  # noqa: PLR0913 - the parameters of a trial
    seed: int,
    *,
    dimensions: int,
    form: str,
    count: int,
    marks: int,
    method: str,
    k: int,
    metric: str,
    literal: bool,
) -> Sequence[Row]:
    lows, highs = zipf_boxes(random_of(seed, dimensions, form), count, dimensions, form)
    at = np.linspace(0, count, marks + 1, dtype=np.int64)[1:]
    boxes: Ints | None = None
    found: Ints
    match method:
        case "pairwise" | "checker":
            each = is_redundant(lows, highs, pairwise_only=method == "pairwise")
            found = np.cumsum(each, dtype=np.int64)[at - 1]
        case "exact":
            boxes, found = _negative_space(lows, highs, at)
        case _:
            boxes, found = _negative_space(lows, highs, at, k=k, metric=metric, literal=literal)
    return [
        {
            "arrived": int(mark),
            "redundant": int(found[number]),
            "boxes": None if boxes is None else int(boxes[number]),
        }
        for number, mark in enumerate(at)
    ]


def _negative_space(lows: Ints, highs: Ints, marks: Ints, **options: Any) -> tuple[Ints, Ints]:
    from thatch.reduction.negative_space import stream

    domain = np.zeros(lows.shape[1], np.int64), np.full(lows.shape[1], TOP, np.int64)
    grown = stream(lows, highs, domain, marks, **options)
    return grown.boxes, grown.subsumed


SIMULATION = Simulation(
    name="jafarpour2008/streams", trial=_trial, results=columns(int="arrived redundant boxes")
)
