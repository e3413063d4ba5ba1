"""Paper C: commonalities of subscriptions, and what matching is expected to cost with them. One file a figure."""

from __future__ import annotations

from thatch.experiments.commonality.fig3a import FIG3A
from thatch.experiments.commonality.fig3b import FIG3B
from thatch.experiments.commonality.fig3c import FIG3C
from thatch.experiments.commonality.fig4 import FIG4
from thatch.experiments.commonality.fig5 import FIG5
from thatch.experiments.commonality.fig6 import FIG6

__all__ = ["EXPERIMENTS"]

EXPERIMENTS = (FIG3A, FIG3B, FIG3C, FIG4, FIG5, FIG6)
