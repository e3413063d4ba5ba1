"""Where a broker runs: its disk, its timers, its wires and clients, which outlive the broker itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thatch.broker.broker import Broker
from thatch.broker.effects import Effect, Persist
from thatch.runtime.simulated.agenda import Timers
from thatch.runtime.simulated.clients import SimulatedClient
from thatch.runtime.simulated.wires import Wire

__all__ = ["Site"]


class Site:
    """One machine of the network.

    Parameters
    ----------
    fire : called with the site and the name of a timer that ran out
    """

    __slots__ = ("broker", "clients", "disk", "name", "routing", "stumbles", "timers", "wires")

    def __init__(self, name: str, broker: Broker, fire: Callable[[Site, str], None]) -> None:
        self.name = name
        self.routing = broker.routing  # as it was last told: that is no part of what a broker leaves on disk
        self.broker: Broker | None = broker
        self.disk: dict[tuple[str, ...], Any] = {}
        self.timers = Timers(lambda timer: fire(self, timer))
        self.wires: dict[str, Wire] = {}  # to neighbours
        self.clients: dict[str, SimulatedClient] = {}
        self.stumbles = False  # whether the next step ends in a crash, when it is on disk and nothing is sent

    def keep(self, effects: list[Effect]) -> None:
        """Write all that one step leaves behind."""
        disk = self.disk
        for effect in effects:
            if type(effect) is Persist:
                if effect.value is None:
                    disk.pop(effect.key, None)
                else:
                    disk[effect.key] = effect.value
