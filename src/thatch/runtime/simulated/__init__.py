"""A network of brokers in virtual time: the same seed gives the same run, with the same faults."""

from __future__ import annotations

from thatch.runtime.simulated.clients import Received, SimulatedClient
from thatch.runtime.simulated.network import SimulatedNetwork
from thatch.runtime.simulated.records import Records
from thatch.runtime.simulated.wires import Faults

__all__ = ["Faults", "Received", "Records", "SimulatedClient", "SimulatedNetwork"]
