"""Yu, Agarwal and Yang, TKDE 2012: figures and tables by what they vary."""

from __future__ import annotations

from thatch.experiments.yu2012.details import FIG8, FIG10B
from thatch.experiments.yu2012.one_level import FIG6, TABLE1, TABLE2, TABLE3
from thatch.experiments.yu2012.sweeps import FIG11A, FIG11B, FIG12, FIG13, FIG14
from thatch.experiments.yu2012.two_levels import FIG9, FIG10A
from thatch.experiments.yu2012.workload import FIG7, FIG15

__all__ = ["EXPERIMENTS"]

_EARLY = (FIG6, TABLE1, TABLE2, FIG7, FIG8, FIG9, FIG10A, FIG10B)  # in the order of the paper
EXPERIMENTS = (*_EARLY, FIG11A, FIG11B, FIG12, TABLE3, FIG13, FIG14, FIG15)
