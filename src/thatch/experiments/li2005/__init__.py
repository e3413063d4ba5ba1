"""Li, Hou and Jacobsen, ICDCS 2005: one file for each simulation, with its figures and tables."""

from __future__ import annotations

from thatch.experiments.li2005.cache import CACHE
from thatch.experiments.li2005.insertion import FIG13
from thatch.experiments.li2005.policies import POLICIES
from thatch.experiments.li2005.routing import TABLE2
from thatch.experiments.li2005.tables import FIG12, RANDOM_ORDER
from thatch.experiments.li2005.thresholds import FIG14, FIG15

__all__ = ["EXPERIMENTS"]

EXPERIMENTS = (FIG12, RANDOM_ORDER, TABLE2, FIG13, CACHE, FIG14, FIG15, POLICIES)
