"""Figures 12 and 13: the approximate form with different k, in 3-D."""

from __future__ import annotations

from thatch.experiments.jafarpour2008.streams import SETTING, SMALL, streams

__all__ = ["FULL", "KS", "QUICK", "THRESHOLDS_SETTING"]

KS = (10, 50, 100)
THRESHOLDS_SETTING = (
    SETTING + "3-D, scattered; exact negative space and covering of pairs beside it. Five seeds, means."
)

FULL = streams(5, dimensions=(3,), method=("approximate",), k=KS) + streams(
    5, dimensions=(3,), method=("pairwise", "exact")
)
QUICK = streams(1, dimensions=(3,), method=("approximate",), k=KS, count=(SMALL,)) + streams(
    1, dimensions=(3,), method=("pairwise", "exact"), count=(SMALL,)
)
