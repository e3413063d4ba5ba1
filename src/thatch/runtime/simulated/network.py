"""The network in virtual time, as who simulates sees it. Clients are at their broker: what they say takes no time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import inf
from typing import Any

from thatch.broker.broker import Broker
from thatch.broker.messages import Message, Publish
from thatch.broker.settings import Routing, Timing
from thatch.broker.stimuli import (
    ClientConnected,
    ClientDisconnected,
    LinkDown,
    MessageReceived,
    RoutingSwitched,
)
from thatch.errors import ParameterError, shown
from thatch.model.schema import Schema
from thatch.model.topology import Link, Topology
from thatch.runtime.simulated.clients import SimulatedClient
from thatch.runtime.simulated.driver import Driver
from thatch.runtime.simulated.records import Sample
from thatch.runtime.simulated.site import Site
from thatch.runtime.simulated.wires import NO_FAULTS, Faults

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
        self.trusts_topology = trusts_topology
        self._driver = Driver(schema, faults, seed)
        self.records = self._driver.records
        self.needs = self._driver.needs
        self._clients: set[str] = set()
        for name in topology.brokers:
            self._add_site(name)
        for link in topology.links:
            self._driver.add_wires(link)
        self._driver.connect_needs()
        for link in topology.links:
            self._driver.tell_up(*link.ends)

    # --- what is there ------------------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """The time, in seconds."""
        return self._driver.agenda.now

    @property
    def faults(self) -> Faults:
        """How often frames are lost or doubled; may be set at any time."""
        return self._driver.faults

    @faults.setter
    def faults(self, faults: Faults) -> None:
        self._driver.faults = faults

    @property
    def brokers(self) -> tuple[str, ...]:
        """The names of all brokers, running or not."""
        return tuple(self._driver.sites)

    def broker(self, name: str) -> Broker:
        """The core of a broker that runs."""
        broker = self._driver.site(name).broker
        if broker is None:
            raise ParameterError("a broker that runs", f"{shown(name)}, which crashed")
        return broker

    def is_running(self, name: str) -> bool:
        """Whether a broker runs."""
        return self._driver.site(name).broker is not None

    def is_cut(self, one: str, other: str) -> bool:
        """Whether the link of two neighbours is cut."""
        return self._driver.wire(one, other).is_cut

    def links(self) -> Iterator[Link]:
        """The links, cut or not."""
        for site in self._driver.sites.values():
            for wire in site.wires.values():
                if wire.link.one == site.name:
                    yield wire.link

    # --- time ---------------------------------------------------------------------------------------------------

    def run(self, until: float) -> None:
        """Let time pass until a moment."""
        while self._driver.agenda.step(until):
            pass
        self._driver.agenda.now = max(self._driver.agenda.now, until)

    def run_until_quiet(self, most: float = 100_000.0) -> None:
        """Let time pass until no frame is under way and no timer runs out within `Timing.failure`.

        A lease that ends sooner than that ends here; later ones are left alone.

        Raises
        ------
        ParameterError
            If there is no end to it within `most` seconds.
        """
        agenda = self._driver.agenda
        end = agenda.now + most
        while agenda.next_work < inf or agenda.next_timer() <= agenda.now + self.timing.failure:
            if not agenda.step(end):
                raise ParameterError(f"a network that is quiet within {most:,g} seconds", "one that is not")
        self._driver.forget_publications()

    def at(self, moment: float, deed: Callable[[], Any]) -> None:
        """Do something at a moment: a client's work, a fault."""
        if not moment >= self.now:
            raise ParameterError(f"a moment from now ({self.now:g}) on", shown(moment))
        self._driver.agenda.put(moment, lambda: deed() and None)

    def sample(self) -> None:
        """Record how large all tables are now."""
        for site in self._driver.sites.values():
            if site.broker is not None:
                self.records.samples.append(Sample(self.now, site.name, *_sizes_of(site.broker)))

    # --- brokers and links -----------------------------------------------------------------------------------------

    def add_broker(self, name: str) -> None:
        """A broker that has no link yet."""
        if name in self._driver.sites:
            raise ParameterError("a name that is free", shown(name))
        self._add_site(name)
        self._driver.connect_needs()

    def add_link(self, link: Link) -> None:
        """Link two brokers; whether that would be a cycle is for them to find out."""
        self._driver.add_wires(link)
        self._driver.connect_needs()
        self._driver.tell_up(*link.ends)

    def remove_link(self, one: str, other: str) -> None:
        """End a link for good."""
        self._driver.remove_wires(one, other)
        for name, neighbour in ((one, other), (other, one)):
            self._driver.handle(
                self._driver.sites[name], LinkDown(now=self.now, neighbour=neighbour, for_good=True)
            )

    def cut(self, one: str, other: str, *, silently: bool = False) -> None:
        """Let a link lose everything.

        Parameters
        ----------
        silently : without telling the brokers, which find out when nothing is acknowledged
        """
        for wire in (self._driver.wire(one, other), self._driver.wire(other, one)):
            wire.cut()
        if not silently:
            self._driver.tell_down(one, other)

    def heal(self, one: str, other: str) -> None:
        """Mend a link."""
        for wire in (self._driver.wire(one, other), self._driver.wire(other, one)):
            wire.is_cut = False
        self._driver.tell_up(one, other)

    def crash(self, name: str, *, in_step: bool = False) -> None:
        """Stop a broker, which loses all but what is on its disk.

        Parameters
        ----------
        in_step : not now, but in the middle of its next step: that is on disk then, and nothing of it is sent
        """
        site = self._driver.site(name)
        self.broker(name)
        if in_step:
            site.stumbles = True
        else:
            self._driver.crash(site)

    def restart(self, name: str, *, forget: bool = False) -> None:
        """Start a broker that crashed, with what is on its disk; its clients come back.

        Parameters
        ----------
        forget : with an empty disk; its clients say again what they want
        """
        site = self._driver.site(name)
        if site.broker is not None:
            raise ParameterError("a broker that crashed", f"{shown(name)}, which runs")
        if forget:
            site.disk.clear()
        site.broker = self._new_broker(name, site.disk, site.routing)
        for neighbour, wire in site.wires.items():
            if not wire.is_cut:
                self._driver.tell_up(name, neighbour)
        for client in [each for each in site.clients.values() if not each.is_connected]:
            self.reconnect(client)
            if forget:
                client.say_all_again()

    def switch(self, routing: Routing, *brokers: str) -> None:
        """Let all brokers, or some, route in another way."""
        if not brokers:
            self.routing = routing
        for site in [self._driver.site(name) for name in brokers or tuple(self._driver.sites)]:
            site.routing = routing
            self._driver.handle(site, RoutingSwitched(now=self.now, routing=routing))

    # --- clients ------------------------------------------------------------------------------------------------

    def connect(self, broker: str, name: str) -> SimulatedClient:
        """A new client at a broker."""
        site = self._driver.site(broker)
        self.broker(broker)
        if name in self._clients:
            raise ParameterError("a client's name that is free", shown(name))
        self._clients.add(name)
        client = site.clients[name] = SimulatedClient(self, broker, name)
        self._driver.handle(site, ClientConnected(now=self.now, client=name))
        return client

    def disconnect(self, client: SimulatedClient, *, for_good: bool) -> None:
        """A client goes away."""
        site = self._driver.site(client.broker)
        client.is_connected = False
        if for_good:
            del site.clients[client.name]
            self._clients.discard(client.name)
            for subscription in client.subscriptions:
                self.needs.remove(subscription)
        self._driver.handle(site, ClientDisconnected(now=self.now, client=client.name, for_good=for_good))

    def reconnect(self, client: SimulatedClient) -> None:
        """A client comes back to its broker."""
        self.broker(client.broker)
        client.is_connected = True
        self._driver.handle(
            self._driver.site(client.broker), ClientConnected(now=self.now, client=client.name)
        )

    def hear(self, client: SimulatedClient, message: Message) -> None:
        """A client says something to its broker."""
        site = self._driver.site(client.broker)
        if isinstance(message, Publish):
            self._driver.published[message.publication] = self.now
            self.records.published += 1
            self.records.wanted += self.needs.publish(message.publication, message.event, site.name, self.now)
        self._driver.handle(site, MessageReceived(now=self.now, client=client.name, message=message))

    def _add_site(self, name: str) -> None:
        broker = self._new_broker(name, {}, self.routing)
        self._driver.sites[name] = Site(name, broker, self._driver.fire)

    def _new_broker(self, name: str, disk: Mapping[tuple[str, ...], Any], routing: Routing) -> Broker:
        return Broker.restored(
            name,
            dict(disk),
            routing=routing,
            timing=self.timing,
            schema=self.schema,
            trusts_topology=self.trusts_topology,
        )


def _sizes_of(broker: Broker) -> tuple[int, int, int]:
    """How many subscriptions and advertisements a broker knows, and how many subscriptions it has forwarded."""
    stats = broker.stats()
    return stats["subscriptions"], stats["advertisements"], stats["forwarded"]
