"""Paper L: Li, Hou, Jacobsen, ICDCS 2005. One file a figure or table, one a simulation that they share."""

from __future__ import annotations

from thatch.experiments.li2005.cache import CACHE
from thatch.experiments.li2005.fig12 import FIG12
from thatch.experiments.li2005.fig13 import FIG13
from thatch.experiments.li2005.fig14 import FIG14
from thatch.experiments.li2005.fig15 import FIG15
from thatch.experiments.li2005.policies import POLICIES
from thatch.experiments.li2005.random_order import RANDOM_ORDER
from thatch.experiments.li2005.table2 import TABLE2

__all__ = ["EXPERIMENTS"]

EXPERIMENTS = (FIG12, RANDOM_ORDER, TABLE2, FIG13, CACHE, FIG14, FIG15, POLICIES)
