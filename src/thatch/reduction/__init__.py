"""Which subscriptions need not be known elsewhere: covering, group subsumption, and sets that keep up with changes."""

from __future__ import annotations

from thatch.reduction.covering import Sureness, covered_by, sureness
from thatch.reduction.event_boxes import EventBox
from thatch.reduction.forwarding.forwarding_set import Changes, ForwardingSet
from thatch.reduction.forwarding.policies import (
    ApproximateNegativeSpace,
    Diagrams,
    Exact,
    Flooding,
    Merging,
    NegativeSpace,
    Pairwise,
    Policy,
    Probabilistic,
)
from thatch.reduction.problem import Verdict, Work

__all__ = [
    "ApproximateNegativeSpace",
    "Changes",
    "Diagrams",
    "EventBox",
    "Exact",
    "Flooding",
    "ForwardingSet",
    "Merging",
    "NegativeSpace",
    "Pairwise",
    "Policy",
    "Probabilistic",
    "Sureness",
    "Verdict",
    "Work",
    "covered_by",
    "sureness",
]
