"""The strategy `partitioned`: subscriptions are partitioned too, and an event visits only the shards that may want it.

In reading order: `splitting` (which subscription belongs to which shard, and a summary of each shard in a few boxes),
`shards` (indexes as rows), `routing` (events to shards), `visiting` (matching there).
"""

from __future__ import annotations

from thatch.pipeline.transforms.partitioned.shards import Shards, build_shards
from thatch.pipeline.transforms.partitioned.visiting import match_counts, match_hours, match_pairs

__all__ = ["Shards", "build_shards", "match_counts", "match_hours", "match_pairs"]
