"""Overlays: what reduction on each link saves in a whole network of brokers (ouksel2006, sections 1, 2 and 5)."""

from __future__ import annotations

from thatch.experiments.overlay.hops import HOPS
from thatch.experiments.overlay.losses import LOSSES
from thatch.experiments.overlay.network import MESSAGES, PUBLICATIONS, TABLES

__all__ = ["EXPERIMENTS"]

EXPERIMENTS = (MESSAGES, HOPS, TABLES, PUBLICATIONS, LOSSES)
