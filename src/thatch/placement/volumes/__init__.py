"""How much of event space a set of boxes takes: the volume of their union, exactly."""

from __future__ import annotations

from thatch.placement.volumes.union import box_volumes, union_volume

__all__ = ["box_volumes", "union_volume"]
