"""Which broker should serve which subscriber: assignments and filters of low bandwidth, within limits (yu2012)."""

from __future__ import annotations

from thatch.placement.broken import BrokenLimit, Relaxation, Shortage
from thatch.placement.certificate import Certificate, verify
from thatch.placement.placement import BandwidthBounds, Delays, Placement, Status
from thatch.placement.placing import PlacementOptions, place
from thatch.placement.plan import PlacementPlan
from thatch.placement.problem import PlacementProblem
from thatch.placement.relaxation import find_shortage, least_relaxations
from thatch.placement.sites import Homes, Sites
from thatch.placement.solving import ALGORITHMS, PORTFOLIO, best, solve
from thatch.placement.subscriptions import SubscriptionList
from thatch.placement.tree import BrokerTree

__all__ = [
    "ALGORITHMS",
    "PORTFOLIO",
    "BandwidthBounds",
    "BrokenLimit",
    "BrokerTree",
    "Certificate",
    "Delays",
    "Homes",
    "Placement",
    "PlacementOptions",
    "PlacementPlan",
    "PlacementProblem",
    "Relaxation",
    "Shortage",
    "Sites",
    "Status",
    "SubscriptionList",
    "best",
    "find_shortage",
    "least_relaxations",
    "place",
    "solve",
    "verify",
]
