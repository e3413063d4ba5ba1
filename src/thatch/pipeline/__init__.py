"""Spark: load, match and profile logs at any size, with the filters and kernels of the embedded engine."""

from __future__ import annotations

from thatch.pipeline.session import session
from thatch.pipeline.transforms.matching import match
from thatch.pipeline.transforms.profiling.profile import profile

__all__ = ["match", "profile", "session"]
