"""A network of brokers in virtual time. Clients are beside their broker: their messages take no time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import inf
from typing import Any

from thatch.broker.broker import Broker
from thatch.broker.settings import Limits, Routing, Timing
from thatch.broker.stimuli import ClientConnected, RoutingSwitched
from thatch.errors import ParameterError, shown
from thatch.model.schema import Schema
from thatch.model.topology import Link, Topology
from thatch.runtime.simulated.clients import SimulatedClient
from thatch.runtime.simulated.driver import BrokerSite, Driver
from thatch.runtime.simulated.records import TableSizes
from thatch.runtime.simulated.wires import NO_FAULTS, Faults

__all__ = ["SimulatedNetwork"]


class SimulatedNetwork:
    """Brokers, links and clients in virtual time.

    Parameters
    ----------
    topology : at the start; brokers and links may come and go
    routing, timing, schema, limits : the same for all brokers
    faults : how likely packets are lost or duplicated
    seed : of the faults; the same calls with the same seed give the same run
    trusts_topology : let brokers believe that links form trees, which saves telling each other who is there

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
        limits: Limits | None = None,
        faults: Faults = NO_FAULTS,
        seed: int = 0,
        trusts_topology: bool = False,
    ) -> None:
        self.routing = Routing() if routing is None else routing
        self.timing = Timing() if timing is None else timing
        self.schema = schema
        self.limits = limits
        self.trusts_topology = trusts_topology
        self._driver = Driver(schema, faults, seed)
        self.records = self._driver.records
        self.oracle = self._driver.oracle
        for name in topology.brokers:
            self._add_site(name)
        for link in topology.links:
            self._driver.add_wires(link)
        self._driver.update_oracle()
        for link in topology.links:
            self._driver.tell_up(*link.ends)

    # --- state ------------------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """The time, in seconds."""
        return self._driver.schedule.now

    @property
    def faults(self) -> Faults:
        """How likely packets are lost or duplicated; may be set at any time."""
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
        return self._driver.broker(name)

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
        """Run until a time."""
        while self._driver.schedule.step(until):
            pass
        self._driver.schedule.now = max(self._driver.schedule.now, until)

    def run_until_quiet(self, most: float = 100_000.0) -> None:
        """Run until no packet is under way and no timer expires within `Timing.failure`, for `most` seconds at most.

        Subscriptions that expire sooner than that end here; later ones stay.
        """
        schedule = self._driver.schedule
        end = schedule.now + most
        while schedule.next_work < inf or schedule.next_timer() <= schedule.now + self.timing.failure:
            if not schedule.step(end):
                raise ParameterError(f"The network is not quiet after {most:,g} seconds")
        self._driver.forget_publications()

    def at(self, time: float, action: Callable[[], Any]) -> None:
        """Schedule an action: a client's work, a fault."""
        if not time >= self.now:
            raise ParameterError(f"a time from now ({self.now:g}) on", shown(time))
        self._driver.schedule.put(time, lambda: action() and None)

    def sample(self) -> None:
        """Record the sizes of all tables."""
        for site in self._driver.sites.values():
            if site.broker is not None:
                stats = site.broker.stats()
                sizes = (stats[name] for name in ("subscriptions", "advertisements", "forwarded"))
                self.records.samples.append(TableSizes(self.now, site.name, *sizes))

    # --- brokers and links -----------------------------------------------------------------------------------------

    def add_broker(self, name: str) -> None:
        """Add a broker without links."""
        if name in self._driver.sites:
            raise ParameterError(f"There is a broker {shown(name)} already: choose another name")
        self._add_site(name)
        self._driver.update_oracle()

    def add_link(self, link: Link) -> None:
        """Link two brokers; they find out by themselves if that closes a cycle."""
        self._driver.add_wires(link)
        self._driver.update_oracle()
        self._driver.tell_up(*link.ends)

    def remove_link(self, one: str, other: str) -> None:
        """End a link for good."""
        self._driver.remove_wires(one, other)
        self._driver.tell_down(one, other, for_good=True)

    def cut(self, one: str, other: str, *, silently: bool = False) -> None:
        """Cut a link: it loses everything. If `silently`, brokers notice only when nothing is acknowledged."""
        for wire in (self._driver.wire(one, other), self._driver.wire(other, one)):
            wire.cut()
        if not silently:
            self._driver.tell_down(one, other)

    def heal(self, one: str, other: str) -> None:
        """Repair a link."""
        for wire in (self._driver.wire(one, other), self._driver.wire(other, one)):
            wire.is_cut = False
        self._driver.tell_up(one, other)

    def crash(self, name: str, *, in_step: bool = False) -> None:
        """Stop a broker; it loses everything that is not on its disk.

        If `in_step`, in the middle of its next step, which is then on disk while nothing of it is sent.
        """
        site = self._driver.site(name)
        self.broker(name)
        if in_step:
            site.crashes_in_step = True
        else:
            self._driver.crash(site)

    def restart(self, name: str, *, forget: bool = False) -> None:
        """Start a broker that crashed, with what is on its disk; its clients connect again.

        If `forget`, with an empty disk, and clients repeat their subscriptions and advertisements.
        """
        site = self._driver.site(name)
        if site.broker is not None:
            raise ParameterError(f"The broker {shown(name)} runs: only one that crashed can be restarted")
        if forget:
            site.disk.clear()
        site.broker = self._new_broker(name, site.disk, site.routing)
        for neighbour, wire in site.wires.items():
            if not wire.is_cut:
                self._driver.tell_up(name, neighbour)
        for client in [each for each in site.clients.values() if not each.is_connected]:
            client.reconnect()
            if forget:
                client.repeat_all()

    def switch(self, routing: Routing, *brokers: str) -> None:
        """Change the routing of all brokers, or of some."""
        if not brokers:
            self.routing = routing
        for site in [self._driver.site(name) for name in brokers or tuple(self._driver.sites)]:
            site.routing = routing
            self._driver.handle(site, RoutingSwitched(now=self.now, routing=routing))

    # --- clients ------------------------------------------------------------------------------------------------

    def connect(self, broker: str, name: str) -> SimulatedClient:
        """Connect a new client to a broker."""
        site = self._driver.site(broker)
        self.broker(broker)
        if name in self._driver.client_names:
            raise ParameterError(f"There is a client {shown(name)} already: choose another name")
        self._driver.client_names.add(name)
        client = site.clients[name] = SimulatedClient(self._driver, broker, name)
        self._driver.handle(site, ClientConnected(now=self.now, client=name))
        return client

    def _add_site(self, name: str) -> None:
        broker = self._new_broker(name, {}, self.routing)
        self._driver.sites[name] = BrokerSite(name, broker, self._driver.fire)

    def _new_broker(self, name: str, disk: Mapping[tuple[str, ...], Any], routing: Routing) -> Broker:
        return Broker(
            name,
            routing,
            self.timing,
            self.schema,
            self.limits,
            trusts_topology=self.trusts_topology,
            items=dict(disk),
        )
