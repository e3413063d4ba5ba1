"""A network of brokers in virtual time: one seed gives the same run again, with all that went wrong in it."""

from __future__ import annotations

from thatch.runtime.simulated.clients import Received, SimulatedClient
from thatch.runtime.simulated.network import SimulatedNetwork
from thatch.runtime.simulated.records import Records
from thatch.runtime.simulated.wires import Faults

__all__ = ["Faults", "Received", "Records", "SimulatedClient", "SimulatedNetwork"]
