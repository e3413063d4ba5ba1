"""The routing core of a broker: pure, without clock, files or network. Stimuli go in, effects come out."""

from __future__ import annotations

from thatch.broker.broker import Broker
from thatch.broker.settings import Limits, Routing, Timing

__all__ = ["Broker", "Limits", "Routing", "Timing"]
