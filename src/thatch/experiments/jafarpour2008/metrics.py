"""Figures 14 and 15: three ways to choose the boxes that are split, in 3-D."""

from __future__ import annotations

from thatch.experiments.jafarpour2008.streams import SETTING, SMALL, streams

__all__ = ["FULL", "METRICS", "METRICS_SETTING", "QUICK"]

METRICS = ("ratio", "benefit", "cost")  # benefit / cost, benefit, 1 / cost
METRICS_SETTING = (
    SETTING
    + "3-D, scattered, k = 10 and 50; `ratio` is benefit / cost, `cost` its inverse alone. Five seeds, means."
)

FULL = streams(5, dimensions=(3,), method=("approximate",), k=(10, 50), metric=METRICS)
QUICK = streams(1, dimensions=(3,), method=("approximate",), k=(10, 50), metric=METRICS, count=(SMALL,))
