"""A network of brokers in one process: an asyncio task each. The embedded default."""

from __future__ import annotations

from thatch.runtime.inprocess.network import Network, network

__all__ = ["Network", "network"]
