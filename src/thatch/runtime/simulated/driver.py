"""What moves a simulated network: each stimulus of a broker is one step, whose effects are carried out.

All of a step is on disk before anything of it is sent, as `thatch.broker.effects` asks; so a broker that crashes and is
restarted has done all of a step or nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_never

import numpy as np

from thatch.broker import Broker, effects
from thatch.broker.effects import Effect, Persist, SendPacket
from thatch.broker.messages import Message, Publish
from thatch.broker.stimuli import (
    ClientConnected,
    ClientDisconnected,
    LinkDown,
    LinkUp,
    MessageReceived,
    Packet,
    PacketReceived,
    Stimulus,
    TimerFired,
)
from thatch.errors import ParameterError, shown
from thatch.model.schema import Schema
from thatch.model.topology import Link
from thatch.runtime.simulated.clients import Received, SimulatedClient
from thatch.runtime.simulated.oracle import DeliveryOracle
from thatch.runtime.simulated.records import Delivery, Records
from thatch.runtime.simulated.schedule import Schedule, VirtualTimers
from thatch.runtime.simulated.wires import Faults, PacketSizes, Wire

__all__ = ["BrokerSite", "Driver"]


class BrokerSite:
    """Where a broker runs: its disk, timers, wires and clients, which outlive the broker itself."""

    __slots__ = ("broker", "clients", "crashes_in_step", "disk", "name", "routing", "timers", "wires")

    def __init__(self, name: str, broker: Broker, fire: Callable[[BrokerSite, str], None]) -> None:
        self.name = name
        self.routing = broker.routing  # the last one; a broker does not leave it on disk
        self.broker: Broker | None = broker
        self.disk: dict[tuple[str, ...], Any] = {}
        self.timers = VirtualTimers(lambda timer: fire(self, timer))
        self.wires: dict[str, Wire] = {}  # to neighbours
        self.clients: dict[str, SimulatedClient] = {}
        self.crashes_in_step = False  # whether the next step ends in a crash, after it is on disk

    def persist(self, effects: list[Effect]) -> None:
        """Write all that one step leaves behind."""
        disk = self.disk
        for effect in effects:
            if type(effect) is Persist:
                if effect.value is None:
                    disk.pop(effect.key, None)
                else:
                    disk[effect.key] = effect.value


class Driver:
    """Sites, the wires between them, and what is under way; parameters as for `SimulatedNetwork`."""

    def __init__(self, schema: Schema | None, faults: Faults, seed: int) -> None:
        self.schema = schema
        self.faults = faults
        self.schedule = Schedule()
        self.records = Records()
        self.oracle = DeliveryOracle(schema)
        self.sizes = PacketSizes()
        self.sites: dict[str, BrokerSite] = {}
        self.client_names: set[str] = set()
        self.published: dict[
            str, float
        ] = {}  # when events that may be under way were published, by their ids
        self._rng = np.random.default_rng(seed)

    @property
    def now(self) -> float:
        """The time, in seconds."""
        return self.schedule.now

    def forget_publications(self) -> None:
        """Forget events that were under way, since nothing is any more."""
        self.published.clear()
        self.oracle.forget_publications()

    # --- steps --------------------------------------------------------------------------------------------------

    def handle(self, site: BrokerSite, stimulus: Stimulus) -> None:
        """Run one step of a broker; nothing if it does not run."""
        if site.broker is None:
            return
        step = site.broker.handle(stimulus)
        site.persist(step)
        if site.crashes_in_step:
            self.crash(site)
            return
        for effect in step:
            if type(effect) is SendPacket:
                self._send(site, effect)
            elif type(effect) is not Persist:
                self._do(site, effect)

    def _do(self, site: BrokerSite, effect: Effect) -> None:
        match effect:
            case effects.SetTimer():
                self.schedule.set_timer(site.timers, effect.timer, effect.at)
            case effects.CancelTimer():
                site.timers.due.pop(effect.timer, None)
            case (
                effects.Deliver()
                | effects.DeadLetter()
                | effects.Published()
                | effects.Refuse()
                | effects.Confirm()
            ):
                if effect.client in site.clients:
                    self._tell(site.clients[effect.client], effect)
            case effects.Ignored():
                self.records.ignored[effect.reason] += effect.count
            case effects.NeighbourFailed():
                self.records.failures[site.name, effect.neighbour] += 1
            case effects.CloseLink():
                self._close(site, effect)
            case SendPacket() | Persist():  # done already
                pass
            case _:
                assert_never(effect)

    def _send(self, site: BrokerSite, effect: SendPacket) -> None:
        wire = site.wires.get(effect.neighbour)
        if wire is None:  # the link was removed
            self.records.lost += 1
            return
        packet, records, now = effect.packet, self.records, self.schedule.now
        size = self.sizes.packet(packet)
        wire.count(type(packet.message), size)
        if type(packet.message) is Publish:
            for each in packet.message.frame.ids():
                if self.oracle.is_needed(each, wire.source, wire.target):
                    records.needed += 1
                else:
                    records.superfluous += 1
        arrival = wire.arrival(now, size)
        faults = self.faults
        if wire.is_cut or (faults.loss and self._rng.random() < faults.loss):
            records.lost += 1
            return
        self.schedule.put(arrival, self._arrive, wire, wire.cuts, packet)
        if faults.duplication and self._rng.random() < faults.duplication:
            records.duplicated += 1
            self.schedule.put(arrival, self._arrive, wire, wire.cuts, packet)

    def _arrive(self, wire: Wire, cuts: int, packet: Packet) -> None:
        if wire.cuts == cuts:
            stimulus = PacketReceived(now=self.schedule.now, neighbour=wire.source, packet=packet)
            self.handle(self.sites[wire.target], stimulus)

    def _tell(
        self,
        client: SimulatedClient,
        effect: effects.Deliver | effects.DeadLetter | effects.Published | effects.Refuse | effects.Confirm,
    ) -> None:
        match effect:
            case effects.Deliver():
                if client.is_connected and client.is_new(effect):
                    self._deliver(client, effect)
            case effects.DeadLetter():
                client.dead.append(effect)
            case effects.Published():
                client.refused_events += effect.refused
            case effects.Refuse():
                client.refused.append(effect)
            case effects.Confirm():
                client.confirmed.append(effect.request)

    def _deliver(self, client: SimulatedClient, effect: effects.Deliver) -> None:
        now, frame = self.now, effect.frame
        for about, event, ids in zip(frame.ids(), frame.events(), effect.subscriptions, strict=True):
            client.received.append(Received(about, event, ids, now))
            delay = now - self.published.get(about, now)
            self.records.deliveries.append(Delivery(about, client.name, now, delay))

    def _close(self, site: BrokerSite, effect: effects.CloseLink) -> None:
        """Remove a link that a broker has closed, and tell the other end."""
        self.records.closed[site.name, effect.neighbour, effect.reason] += 1
        if effect.neighbour in site.wires:
            self.remove_wires(site.name, effect.neighbour)
            other = self.sites[effect.neighbour]
            self.handle(other, LinkDown(now=self.now, neighbour=site.name, for_good=True))

    def fire(self, site: BrokerSite, timer: str) -> None:
        """Tell a broker that its timer expired."""
        self.handle(site, TimerFired(now=self.now, timer=timer))

    def crash(self, site: BrokerSite) -> None:
        """Stop a broker; packets from it and to it are lost, as when connections break."""
        site.broker = None
        site.crashes_in_step = False
        site.timers.clear()
        for client in site.clients.values():
            client.is_connected = False
        for neighbour, wire in site.wires.items():
            wire.cuts += 1
            self.sites[neighbour].wires[site.name].cuts += 1
            if not wire.is_cut:
                self.handle(self.sites[neighbour], LinkDown(now=self.now, neighbour=site.name))

    # --- clients -------------------------------------------------------------------------------------------------

    def send(self, client: SimulatedClient, message: Message) -> None:
        """Send a message of a client to its broker."""
        site = self.site(client.broker)
        if isinstance(message, Publish):
            fresh = message.frame.after(client.published)
            for about, event in zip(fresh.ids(), fresh.events(), strict=True):
                self.published[about] = self.now
                self.records.published += 1
                self.records.wanted += self.oracle.publish(about, event, site.name, self.now)
        self.handle(site, MessageReceived(now=self.now, client=client.name, message=message))

    def disconnect(self, client: SimulatedClient, *, for_good: bool) -> None:
        """Disconnect a client."""
        site = self.site(client.broker)
        client.is_connected = False
        if for_good:
            del site.clients[client.name]
            self.client_names.discard(client.name)
            for subscription in client.subscriptions:
                self.oracle.remove(subscription)
        self.handle(site, ClientDisconnected(now=self.now, client=client.name, for_good=for_good))

    def reconnect(self, client: SimulatedClient) -> None:
        """Connect a client to its broker again."""
        self.broker(client.broker)
        client.is_connected = True
        self.handle(self.site(client.broker), ClientConnected(now=self.now, client=client.name))

    # --- sites and wires ---------------------------------------------------------------------------------------

    def add_wires(self, link: Link) -> None:
        """Add a link."""
        one, other = (self.site(name) for name in link.ends)
        if other.name in one.wires:
            raise ParameterError(f"{shown(link.one)} and {shown(link.other)} are linked already")
        one.wires[other.name] = Wire(one.name, other.name, link)
        other.wires[one.name] = Wire(other.name, one.name, link)
        self.records.wires += (one.wires[other.name], other.wires[one.name])

    def remove_wires(self, one: str, other: str) -> None:
        """Remove a link."""
        for wire in (self.wire(one, other), self.wire(other, one)):
            wire.cut()
            del self.sites[wire.source].wires[wire.target]
        self.update_oracle()

    def update_oracle(self) -> None:
        """Tell the oracle that links have changed."""
        self.oracle.connect({name: site.wires for name, site in self.sites.items()})

    def tell_up(self, one: str, other: str) -> None:
        """Tell both ends of a link that it is up, if both run."""
        if self.site(one).broker is not None and self.site(other).broker is not None:
            self.handle(self.sites[one], LinkUp(now=self.now, neighbour=other))
            self.handle(self.sites[other], LinkUp(now=self.now, neighbour=one))

    def tell_down(self, one: str, other: str, *, for_good: bool = False) -> None:
        """Tell both ends of a link that it is down."""
        self.handle(self.sites[one], LinkDown(now=self.now, neighbour=other, for_good=for_good))
        self.handle(self.sites[other], LinkDown(now=self.now, neighbour=one, for_good=for_good))

    def broker(self, name: str) -> Broker:
        """The core of a broker that runs."""
        broker = self.site(name).broker
        if broker is None:
            raise ParameterError(f"The broker {shown(name)} has crashed: restart it first")
        return broker

    def site(self, name: str) -> BrokerSite:
        """The site of a broker that exists."""
        if name not in self.sites:
            raise ParameterError("the name of a broker", shown(name))
        return self.sites[name]

    def wire(self, one: str, other: str) -> Wire:
        """The wire from one neighbour to another."""
        wire = self.site(one).wires.get(other)
        if wire is None:
            raise ParameterError(f"There is no link between {shown(one)} and {shown(other)}")
        return wire
