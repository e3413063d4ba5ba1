"""The network: sites, wires and an agenda. Every stimulus is one step of one broker, at one moment of virtual time.

A step is on disk, all of it, before anything of it is sent, as in `thatch.broker.effects`; so a broker that crashes
and comes back has done all of a step or nothing. Clients are at their broker: what they say takes no time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import inf
from typing import Any, assert_never

import numpy as np

from thatch.broker.broker import Broker
from thatch.broker.effects import (
    CancelTimer,
    CloseLink,
    Confirm,
    Deliver,
    Effect,
    Ignored,
    NeighbourFailed,
    Persist,
    Refuse,
    SendFrame,
    SetTimer,
)
from thatch.broker.messages import Message, Publish
from thatch.broker.settings import Routing, Timing
from thatch.broker.stimuli import (
    ClientConnected,
    ClientDisconnected,
    Frame,
    FrameReceived,
    LinkDown,
    LinkUp,
    MessageReceived,
    RoutingSwitched,
    Stimulus,
    TimerFired,
)
from thatch.errors import ParameterError, shown
from thatch.model.schema import Schema
from thatch.model.topology import Link, Topology
from thatch.runtime.simulated.agenda import Agenda
from thatch.runtime.simulated.clients import Received, SimulatedClient
from thatch.runtime.simulated.needs import Needs
from thatch.runtime.simulated.records import Delivery, Records, Sample
from thatch.runtime.simulated.site import Site
from thatch.runtime.simulated.sizes import Sizes
from thatch.runtime.simulated.wires import NO_FAULTS, Faults, Wire

__all__ = ["SimulatedNetwork"]


class SimulatedNetwork:
    """Brokers, links and clients in virtual time.

    Parameters
    ----------
    topology : where it begins; brokers and links may come and go
    routing, timing, schema : as every broker has them
    faults : how often frames are lost or doubled
    seed : of those; the same calls with the same seed give the same run
    trusts_topology : let brokers believe that links form trees, which saves telling each who else is there

    Examples
    --------
    >>> network = SimulatedNetwork(Topology.line(3))
    >>> feed, desk = network.connect("b1", "feed"), network.connect("b3", "desk")
    >>> _ = feed.advertise("price > 0"), desk.subscribe("price < 150")
    >>> network.run_until_quiet()
    >>> _ = feed.publish({"price": 120}), feed.publish({"price": 180})
    >>> network.run_until_quiet()
    >>> [each.event for each in desk.received]
    [{'price': 120}]
    """

    def __init__(
        self,
        topology: Topology,
        *,
        routing: Routing | None = None,
        timing: Timing | None = None,
        schema: Schema | None = None,
        faults: Faults = NO_FAULTS,
        seed: int = 0,
        trusts_topology: bool = False,
    ) -> None:
        self.routing = Routing() if routing is None else routing
        self.timing = Timing() if timing is None else timing
        self.schema = schema
        self.faults = faults
        self.trusts_topology = trusts_topology
        self.records = Records()
        self.needs = Needs(schema)
        self._rng = np.random.default_rng(seed)
        self._agenda = Agenda()
        self._sizes = Sizes()
        self._sites: dict[str, Site] = {}
        self._clients: set[str] = set()
        self._published: dict[str, float] = {}  # when what may be under way was published
        for name in topology.brokers:
            self.add_broker(name)
        for link in topology.links:
            self._add_wires(link)
        self._connect_needs()
        for link in topology.links:
            self._tell_up(*link.ends)

    # --- what is there ------------------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """The time, in seconds."""
        return self._agenda.now

    @property
    def brokers(self) -> tuple[str, ...]:
        """The names of all brokers, running or not."""
        return tuple(self._sites)

    def broker(self, name: str) -> Broker:
        """The core of a broker that runs."""
        broker = self._site(name).broker
        if broker is None:
            raise ParameterError("a broker that runs", f"{shown(name)}, which crashed")
        return broker

    def is_running(self, name: str) -> bool:
        """Whether a broker runs."""
        return self._site(name).broker is not None

    def is_cut(self, one: str, other: str) -> bool:
        """Whether the link of two neighbours is cut."""
        return self._wire(one, other).is_cut

    def links(self) -> Iterator[Link]:
        """The links, cut or not."""
        for site in self._sites.values():
            for wire in site.wires.values():
                if wire.link.one == site.name:
                    yield wire.link

    # --- time ---------------------------------------------------------------------------------------------------

    def run(self, until: float) -> None:
        """Let time pass until a moment."""
        while self._agenda.step(until):
            pass
        self._agenda.now = max(self._agenda.now, until)

    def run_until_quiet(self, most: float = 100_000.0) -> None:
        """Let time pass until no frame is under way and no timer runs out within `Timing.failure`.

        A lease that ends sooner than that ends here; later ones are left alone.

        Raises
        ------
        ParameterError
            If there is no end to it within `most` seconds.
        """
        agenda = self._agenda
        end = agenda.now + most
        while agenda.next_work < inf or agenda.next_timer() <= agenda.now + self.timing.failure:
            if not agenda.step(end):
                raise ParameterError(f"a network that is quiet within {most:,g} seconds", "one that is not")
        self._published.clear()
        self.needs.forget_publications()
        self._sizes.forget_events()

    def at(self, moment: float, deed: Callable[[], Any]) -> None:
        """Do something at a moment: a client's work, a fault."""
        if not moment >= self.now:
            raise ParameterError(f"a moment from now ({self.now:g}) on", shown(moment))
        self._agenda.put(moment, lambda: deed() and None)

    def sample(self) -> None:
        """Record how large all tables are now."""
        for site in self._sites.values():
            if site.broker is not None:
                self.records.samples.append(Sample(self.now, site.name, *_sizes_of(site.broker)))

    # --- brokers and links -----------------------------------------------------------------------------------------

    def add_broker(self, name: str) -> None:
        """A broker that has no link yet."""
        if name in self._sites:
            raise ParameterError("a name that is free", shown(name))
        self._sites[name] = Site(name, self._new_broker(name, {}), self._fire)
        self._connect_needs()

    def add_link(self, link: Link) -> None:
        """Link two brokers; whether that would be a cycle is for them to find out."""
        self._add_wires(link)
        self._connect_needs()
        self._tell_up(*link.ends)

    def remove_link(self, one: str, other: str) -> None:
        """End a link for good."""
        self._remove_wires(one, other)
        for name, neighbour in ((one, other), (other, one)):
            self._handle(self._sites[name], LinkDown(now=self.now, neighbour=neighbour, for_good=True))

    def cut(self, one: str, other: str, *, silently: bool = False) -> None:
        """Let a link lose everything.

        Parameters
        ----------
        silently : without telling the brokers, which find out when nothing is acknowledged
        """
        for wire in (self._wire(one, other), self._wire(other, one)):
            wire.cut()
        if not silently:
            self._tell_down(one, other)

    def heal(self, one: str, other: str) -> None:
        """Mend a link."""
        for wire in (self._wire(one, other), self._wire(other, one)):
            wire.is_cut = False
        self._tell_up(one, other)

    def crash(self, name: str, *, in_step: bool = False) -> None:
        """Stop a broker, which loses all but what is on its disk.

        Parameters
        ----------
        in_step : not now, but in the middle of its next step: that is on disk then, and nothing of it is sent
        """
        site = self._site(name)
        self.broker(name)
        if in_step:
            site.stumbles = True
        else:
            self._crash(site)

    def restart(self, name: str, *, forget: bool = False) -> None:
        """Start a broker that crashed, with what is on its disk; its clients come back.

        Parameters
        ----------
        forget : with an empty disk; its clients say again what they want
        """
        site = self._site(name)
        if site.broker is not None:
            raise ParameterError("a broker that crashed", f"{shown(name)}, which runs")
        if forget:
            site.disk.clear()
        site.broker = self._new_broker(name, site.disk)
        for neighbour, wire in site.wires.items():
            if not wire.is_cut:
                self._tell_up(name, neighbour)
        for client in [each for each in site.clients.values() if not each.is_connected]:
            self.reconnect(client)
            if forget:
                client.say_all_again()

    def switch(self, routing: Routing, *brokers: str) -> None:
        """Let all brokers, or some, route in another way."""
        if not brokers:
            self.routing = routing
        for name in brokers or tuple(self._sites):
            self._handle(self._site(name), RoutingSwitched(now=self.now, routing=routing))

    # --- clients ------------------------------------------------------------------------------------------------

    def connect(self, broker: str, name: str) -> SimulatedClient:
        """A new client at a broker."""
        site = self._site(broker)
        self.broker(broker)
        if name in self._clients:
            raise ParameterError("a client's name that is free", shown(name))
        self._clients.add(name)
        client = site.clients[name] = SimulatedClient(self, broker, name)
        self._handle(site, ClientConnected(now=self.now, client=name))
        return client

    def disconnect(self, client: SimulatedClient, *, for_good: bool) -> None:
        """A client goes away."""
        site = self._site(client.broker)
        client.is_connected = False
        if for_good:
            del site.clients[client.name]
            self._clients.discard(client.name)
            for subscription in client.subscriptions:
                self.needs.remove(subscription)
        self._handle(site, ClientDisconnected(now=self.now, client=client.name, for_good=for_good))

    def reconnect(self, client: SimulatedClient) -> None:
        """A client comes back to its broker."""
        self.broker(client.broker)
        client.is_connected = True
        self._handle(self._site(client.broker), ClientConnected(now=self.now, client=client.name))

    def hear(self, client: SimulatedClient, message: Message) -> None:
        """A client says something to its broker."""
        site = self._site(client.broker)
        if isinstance(message, Publish):
            self._published[message.publication] = self.now
            self.records.published += 1
            self.records.wanted += self.needs.publish(message.publication, message.event, site.name, self.now)
        self._handle(site, MessageReceived(now=self.now, client=client.name, message=message))

    # --- steps --------------------------------------------------------------------------------------------------

    def _handle(self, site: Site, stimulus: Stimulus) -> None:
        """One step of a broker; nothing if it does not run."""
        if site.broker is None:
            return
        effects = site.broker.handle(stimulus)
        site.keep(effects)
        if site.stumbles:
            self._crash(site)
            return
        for effect in effects:
            if type(effect) is SendFrame:
                self._send(site, effect)
            elif type(effect) is not Persist:
                self._do(site, effect)

    def _do(self, site: Site, effect: Effect) -> None:
        match effect:
            case SetTimer():
                self._agenda.set_timer(site.timers, effect.timer, effect.at)
            case CancelTimer():
                site.timers.due.pop(effect.timer, None)
            case Deliver():
                self._deliver(site, effect)
            case Refuse():
                if effect.client in site.clients:
                    site.clients[effect.client].refused.append(effect)
            case Ignored():
                self.records.ignored[effect.reason] += 1
            case NeighbourFailed():
                self.records.failures[site.name, effect.neighbour] += 1
            case Confirm():
                if effect.client in site.clients:
                    site.clients[effect.client].confirmed.append(effect.request)
            case CloseLink():
                self._close(site, effect)
            case SendFrame() | Persist():  # done before
                pass
            case _:
                assert_never(effect)

    def _send(self, site: Site, effect: SendFrame) -> None:
        wire = site.wires.get(effect.neighbour)
        if wire is None:  # the link is no more
            self.records.lost += 1
            return
        frame, records, now = effect.frame, self.records, self._agenda.now
        size = self._sizes.frame(frame)
        wire.count(type(frame.message), size)
        if type(frame.message) is Publish:
            if self.needs.is_needed(frame.message.publication, wire.source, wire.target):
                records.needed += 1
            else:
                records.superfluous += 1
        arrival = wire.arrival(now, size)
        faults = self.faults
        if wire.is_cut or (faults.loss and self._rng.random() < faults.loss):
            records.lost += 1
            return
        self._agenda.put(arrival, self._arrive, wire, wire.cuts, frame)
        if faults.duplication and self._rng.random() < faults.duplication:
            records.doubled += 1
            self._agenda.put(arrival, self._arrive, wire, wire.cuts, frame)

    def _arrive(self, wire: Wire, cuts: int, frame: Frame) -> None:
        if wire.cuts == cuts:
            stimulus = FrameReceived(now=self._agenda.now, neighbour=wire.source, frame=frame)
            self._handle(self._sites[wire.target], stimulus)

    def _deliver(self, site: Site, effect: Deliver) -> None:
        client = site.clients.get(effect.client)
        if client is None or not client.is_connected:
            return
        now = self.now
        client.received.append(Received(effect.publication, effect.event, effect.subscriptions, now))
        delay = now - self._published.get(effect.publication, now)
        self.records.deliveries.append(Delivery(effect.publication, client.name, now, delay))

    def _close(self, site: Site, effect: CloseLink) -> None:
        """Take away a link that a broker will not have; the other end hears of it."""
        self.records.closed[site.name, effect.neighbour, effect.reason] += 1
        if effect.neighbour in site.wires:
            self._remove_wires(site.name, effect.neighbour)
            other = self._sites[effect.neighbour]
            self._handle(other, LinkDown(now=self.now, neighbour=site.name, for_good=True))

    def _fire(self, site: Site, timer: str) -> None:
        self._handle(site, TimerFired(now=self.now, timer=timer))

    def _crash(self, site: Site) -> None:
        """End a broker; what is under way from it and to it is lost, as when connections break."""
        site.broker = None
        site.stumbles = False
        site.timers.clear()
        for client in site.clients.values():
            client.is_connected = False
        for neighbour, wire in site.wires.items():
            wire.cuts += 1
            self._sites[neighbour].wires[site.name].cuts += 1
            if not wire.is_cut:
                self._handle(self._sites[neighbour], LinkDown(now=self.now, neighbour=site.name))

    # --- sites and wires ---------------------------------------------------------------------------------------

    def _new_broker(self, name: str, disk: Mapping[tuple[str, ...], Any]) -> Broker:
        return Broker.restored(
            name,
            dict(disk),
            routing=self.routing,
            timing=self.timing,
            schema=self.schema,
            trusts_topology=self.trusts_topology,
        )

    def _add_wires(self, link: Link) -> None:
        one, other = (self._site(name) for name in link.ends)
        if other.name in one.wires:
            raise ParameterError(
                "two brokers that are not linked", f"{shown(link.one)} and {shown(link.other)}"
            )
        one.wires[other.name] = Wire(one.name, other.name, link)
        other.wires[one.name] = Wire(other.name, one.name, link)
        self.records.wires += (one.wires[other.name], other.wires[one.name])

    def _remove_wires(self, one: str, other: str) -> None:
        for wire in (self._wire(one, other), self._wire(other, one)):
            wire.cut()
            del self._sites[wire.source].wires[wire.target]
        self._connect_needs()

    def _connect_needs(self) -> None:
        self.needs.connect({name: site.wires for name, site in self._sites.items()})

    def _tell_up(self, one: str, other: str) -> None:
        if self.is_running(one) and self.is_running(other):
            self._handle(self._sites[one], LinkUp(now=self.now, neighbour=other))
            self._handle(self._sites[other], LinkUp(now=self.now, neighbour=one))

    def _tell_down(self, one: str, other: str) -> None:
        self._handle(self._sites[one], LinkDown(now=self.now, neighbour=other))
        self._handle(self._sites[other], LinkDown(now=self.now, neighbour=one))

    def _site(self, name: str) -> Site:
        if name not in self._sites:
            raise ParameterError("the name of a broker", shown(name))
        return self._sites[name]

    def _wire(self, one: str, other: str) -> Wire:
        wire = self._site(one).wires.get(other)
        if wire is None:
            raise ParameterError("two brokers that are linked", f"{shown(one)} and {shown(other)}")
        return wire


def _sizes_of(broker: Broker) -> tuple[int, int, int]:
    """How many subscriptions and advertisements a broker knows, and how many subscriptions it has forwarded."""
    stats = broker.stats()
    return stats["subscriptions"], stats["advertisements"], stats["forwarded"]
