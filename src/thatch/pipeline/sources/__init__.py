"""Read event logs and tables of subscriptions on Spark, as the embedded readers of `thatch.formats` read them."""

from __future__ import annotations

from thatch.pipeline.sources.events import EventSource, read_events
from thatch.pipeline.sources.subscriptions import read_subscriptions

__all__ = ["EventSource", "read_events", "read_subscriptions"]
