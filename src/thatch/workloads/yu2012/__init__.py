"""The workloads of paper 003 (Yu, Agarwal and Yang 2012), section 6: networks, broker trees, and three sets of subscribers.

What the paper took its sets from, the latencies of PlanetLab and statistics of Google Groups, is not available. What is
built here are stand-ins with the figures that the paper gives, and readings where it gives none.
"""

from __future__ import annotations

from thatch.workloads.yu2012.network import REGIONS, Network, Tree, network, one_level, two_levels
from thatch.workloads.yu2012.population import LEVELS, LOAD_FACTORS, SETS, Population, population

__all__ = [
    "LEVELS",
    "LOAD_FACTORS",
    "REGIONS",
    "SETS",
    "Network",
    "Population",
    "Tree",
    "network",
    "one_level",
    "population",
    "two_levels",
]
