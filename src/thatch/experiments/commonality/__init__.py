"""The paper on commonalities of subscriptions: expected and measured costs of matching, and defence against a flood."""

from __future__ import annotations

from thatch.experiments.commonality.defence import FIG4, FIG5, FIG6
from thatch.experiments.commonality.expected import FIG3A, FIG3C
from thatch.experiments.commonality.measured import FIG3B

__all__ = ["EXPERIMENTS"]

EXPERIMENTS = (FIG3A, FIG3B, FIG3C, FIG4, FIG5, FIG6)
