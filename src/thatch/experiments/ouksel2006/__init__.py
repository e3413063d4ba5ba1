"""Paper O: Ouksel and others, Middleware 2006. One file a figure, one a scenario that figures share."""

from __future__ import annotations

from thatch.experiments.ouksel2006.fig5 import FIG5
from thatch.experiments.ouksel2006.fig6 import FIG6
from thatch.experiments.ouksel2006.fig7 import FIG7
from thatch.experiments.ouksel2006.fig8 import FIG8
from thatch.experiments.ouksel2006.fig9 import FIG9
from thatch.experiments.ouksel2006.fig10 import FIG10
from thatch.experiments.ouksel2006.fig11 import FIG11
from thatch.experiments.ouksel2006.fig12 import FIG12

__all__ = ["EXPERIMENTS"]

EXPERIMENTS = (FIG5, FIG6, FIG7, FIG8, FIG9, FIG10, FIG11, FIG12)
