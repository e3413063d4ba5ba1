"""Which broker should serve which subscriber: assignments and filters of little bandwidth, within limits (paper 003)."""

from __future__ import annotations

from thatch.placement.certificate import Certificate, verify
from thatch.placement.demand import Subscriptions
from thatch.placement.placement import Bounds, Delays, Placement, Status
from thatch.placement.placing import Wanted, place
from thatch.placement.plan import Plan
from thatch.placement.portfolio import PORTFOLIO, best
from thatch.placement.problem import Problem
from thatch.placement.sites import Homes, Sites
from thatch.placement.solving import ALGORITHMS, solve
from thatch.placement.tree import BrokerTree

__all__ = [
    "ALGORITHMS",
    "PORTFOLIO",
    "Bounds",
    "BrokerTree",
    "Certificate",
    "Delays",
    "Homes",
    "Placement",
    "Plan",
    "Problem",
    "Sites",
    "Status",
    "Subscriptions",
    "Wanted",
    "best",
    "place",
    "solve",
    "verify",
]
