"""Paper Y: Yu, Agarwal and Yang, TKDE 2012. One file a figure or table, one a simulation that they share."""

from __future__ import annotations

from thatch.experiments.yu2012.fig6 import FIG6
from thatch.experiments.yu2012.fig7 import FIG7
from thatch.experiments.yu2012.fig8 import FIG8
from thatch.experiments.yu2012.fig9 import FIG9
from thatch.experiments.yu2012.fig10 import FIG10A, FIG10B
from thatch.experiments.yu2012.fig11 import FIG11A, FIG11B
from thatch.experiments.yu2012.fig12 import FIG12
from thatch.experiments.yu2012.fig13 import FIG13
from thatch.experiments.yu2012.fig14 import FIG14
from thatch.experiments.yu2012.fig15 import FIG15
from thatch.experiments.yu2012.table1 import TABLE1
from thatch.experiments.yu2012.table2 import TABLE2
from thatch.experiments.yu2012.table3 import TABLE3

__all__ = ["EXPERIMENTS"]

EXPERIMENTS = (
    FIG6,
    TABLE1,
    TABLE2,
    FIG7,
    FIG8,
    FIG9,
    FIG10A,
    FIG10B,
    FIG11A,
    FIG11B,
    FIG12,
    TABLE3,
    FIG13,
    FIG14,
    FIG15,
)
