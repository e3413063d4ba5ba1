"""The workloads of yu2012, section 6: networks, broker trees, and three sets of subscribers.

The latencies of PlanetLab and the statistics of Google Groups that the paper used are not available. These are stand-ins
with the numbers that the paper gives, and assumptions where it gives none.
"""

from __future__ import annotations

from thatch.workloads.yu2012.network import REGIONS, NetworkSpace, Tree, network, one_level, two_levels
from thatch.workloads.yu2012.population import LEVELS, LOAD_FACTORS, SETS, Population, population

__all__ = [
    "LEVELS",
    "LOAD_FACTORS",
    "REGIONS",
    "SETS",
    "NetworkSpace",
    "Population",
    "Tree",
    "network",
    "one_level",
    "population",
    "two_levels",
]
