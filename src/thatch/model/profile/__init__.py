"""What traffic looks like, as values: how often attributes come, what they hold, which predicates select how much."""

from __future__ import annotations

from thatch.model.profile.counting import Predicates, predicates_of
from thatch.model.profile.profile import Profile
from thatch.model.profile.records import (
    STEPS,
    AttributePair,
    AttributeProfile,
    AttributeSet,
    ErrorBounds,
    MatchCounts,
    Predicate,
    PredicatePair,
)

__all__ = [
    "STEPS",
    "AttributePair",
    "AttributeProfile",
    "AttributeSet",
    "ErrorBounds",
    "MatchCounts",
    "Predicate",
    "PredicatePair",
    "Predicates",
    "Profile",
    "predicates_of",
]
