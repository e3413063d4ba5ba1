"""Spark: load, match, profile, reduce and place at any size, with the filters and kernels of the embedded engine."""

from __future__ import annotations

from thatch.pipeline.indexes import SharedIndex, build_box_index, build_index
from thatch.pipeline.session import session
from thatch.pipeline.sources import read_events, read_subscriptions
from thatch.pipeline.transforms.loading import Loaded, load
from thatch.pipeline.transforms.matching import match
from thatch.pipeline.transforms.merging.merge import MergedTable, merge
from thatch.pipeline.transforms.placing import place
from thatch.pipeline.transforms.profiling.profile import profile
from thatch.pipeline.transforms.reducing.reduce import reduce

__all__ = [
    "Loaded",
    "MergedTable",
    "SharedIndex",
    "build_box_index",
    "build_index",
    "load",
    "match",
    "merge",
    "place",
    "profile",
    "read_events",
    "read_subscriptions",
    "reduce",
    "session",
]
