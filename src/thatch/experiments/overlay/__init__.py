"""The overlay: what reduction on each link does to a whole network of brokers (paper O, sections 1, 2 and 5)."""

from __future__ import annotations

from thatch.experiments.overlay.hops import HOPS
from thatch.experiments.overlay.losses import LOSSES
from thatch.experiments.overlay.messages import MESSAGES
from thatch.experiments.overlay.publications import PUBLICATIONS
from thatch.experiments.overlay.tables import TABLES

__all__ = ["EXPERIMENTS"]

EXPERIMENTS = (MESSAGES, HOPS, TABLES, PUBLICATIONS, LOSSES)
