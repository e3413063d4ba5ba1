"""Paper J: Jafarpour and others, Middleware 2008. One file a figure or table, one a simulation that they share."""

from __future__ import annotations

from thatch.experiments.jafarpour2008.fig10 import FIG10
from thatch.experiments.jafarpour2008.fig11 import FIG11
from thatch.experiments.jafarpour2008.fig12 import FIG12
from thatch.experiments.jafarpour2008.fig13 import FIG13
from thatch.experiments.jafarpour2008.fig14 import FIG14
from thatch.experiments.jafarpour2008.fig15 import FIG15
from thatch.experiments.jafarpour2008.rebuild import REBUILD
from thatch.experiments.jafarpour2008.table1 import TABLE1
from thatch.experiments.jafarpour2008.table2 import TABLE2

__all__ = ["EXPERIMENTS"]

EXPERIMENTS = (FIG10, FIG11, TABLE1, TABLE2, FIG12, FIG13, FIG14, FIG15, REBUILD)
