"""Exact questions about the texts that one attribute may have: is there one that passes these tests?"""

from __future__ import annotations

from thatch.model.texts.deciding import MOST_STEPS, FoundValue, are_apart, find_value, passes
from thatch.model.texts.search import Steps
from thatch.model.texts.sets import lies_inside, opposite

__all__ = [
    "MOST_STEPS",
    "FoundValue",
    "Steps",
    "are_apart",
    "find_value",
    "lies_inside",
    "opposite",
    "passes",
]
