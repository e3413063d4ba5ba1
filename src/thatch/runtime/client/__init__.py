"""The client of a broker, for asyncio: publish, advertise, and subscribe to streams of events."""

from __future__ import annotations

from thatch.runtime.client.client import Client
from thatch.runtime.client.connection import Connection
from thatch.runtime.client.subscription import Subscription

__all__ = ["Client", "Connection", "Subscription"]
