"""SLP1 (paper 003, section 4): sampling, a linear program, rounding, and a flow."""

from __future__ import annotations

from thatch.placement.slp.slp1 import Outcome, slp1

__all__ = ["Outcome", "slp1"]
