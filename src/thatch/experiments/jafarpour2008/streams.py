"""Subscriptions one after the other, and what is found redundant: by pairs, exactly, or with at most k new boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.experiments.redundancy import is_redundant
from thatch.experiments.trials import Grid, Parameters, Row, Simulation, Value, grid, random_of
from thatch.workloads.jafarpour2008 import TOP, zipf_boxes

__all__ = ["COUNT", "MARKS", "SETTING", "SIMULATION", "SMALL", "streams"]

COUNT, SMALL = 10_000, 300  # subscriptions; in the quick size
MARKS = 5  # moments that are looked at: the columns of tables 1 and 2

SETTING = (
    "the paper says that low ends are Zipfian and gives no exponent. `scattered`: Zipf(0.5) over the whole numbers of "
    "[0, 1000], the popular ones anywhere, real high ends, the reading that fits table 1 best; `grid`: low ends alike, "
    "whole ends; `power law`: real ends, a density with exponent 0.5. "
)

Ints = npt.NDArray[np.int64]


def streams(seeds: int, **choices: Sequence[Value]) -> Grid:
    """Trials of the simulation; what is not told is the paper's, or does not matter to the method.

    `literal` is how the paper prints the approximate form: the boxes made for a subscription may pass k by one split.
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


def _trial(parameters: Parameters, seed: int) -> Sequence[Row]:
    dimensions, form, count = int(parameters["dimensions"]), str(parameters["form"]), int(parameters["count"])
    lows, highs = zipf_boxes(random_of(seed, dimensions, form), count, dimensions, form)
    marks = np.linspace(0, count, int(parameters["marks"]) + 1, dtype=np.int64)[1:]
    boxes: Ints | None = None
    found: Ints
    match parameters["method"]:
        case "pairwise" | "checker" as method:
            each = is_redundant(lows, highs, pairwise_only=method == "pairwise")
            found = np.cumsum(each, dtype=np.int64)[marks - 1]
        case "exact":
            boxes, found = _subtracted(lows, highs, marks)
        case _:
            options = {"k": int(parameters["k"]), "metric": parameters["metric"]}
            boxes, found = _subtracted(lows, highs, marks, **options, literal=bool(parameters["literal"]))
    return [
        {
            "arrived": int(mark),
            "redundant": int(found[place]),
            "boxes": None if boxes is None else int(boxes[place]),
        }
        for place, mark in enumerate(marks)
    ]


def _subtracted(lows: Ints, highs: Ints, marks: Ints, **options: Any) -> tuple[Ints, Ints]:
    from thatch.reduction.negative_space import stream

    domain = np.zeros(lows.shape[1], np.int64), np.full(lows.shape[1], TOP, np.int64)
    grown = stream(lows, highs, domain, marks, **options)
    return grown.boxes, grown.subsumed


SIMULATION = Simulation(
    name="jafarpour2008/streams",
    trial=_trial,
    parameters={
        "dimensions": int,
        "form": str,
        "count": int,
        "marks": int,
        "method": str,
        "k": int,
        "metric": str,
        "literal": bool,
    },
    results={"arrived": int, "redundant": int, "boxes": int},
)
