"""SLP1 and SLP (paper 003, section 4): sampling, a linear program, rounding, and a flow."""

from __future__ import annotations

from thatch.placement.slp.literal import slp1_literal
from thatch.placement.slp.outcome import Outcome
from thatch.placement.slp.slp import slp
from thatch.placement.slp.slp1 import slp1

__all__ = ["Outcome", "slp", "slp1", "slp1_literal"]
