"""SLP1 and SLP (yu2012, section 4): sampling, a linear program, rounding, and a flow."""

from __future__ import annotations

from thatch.placement.slp.slp import slp, slp1
from thatch.placement.slp.split import SlpResult

__all__ = ["SlpResult", "slp", "slp1"]
