"""What moves a simulated network: each stimulus of a broker is one step, and its effects become deeds.

A step is on disk, all of it, before anything of it is sent, as in `thatch.broker.effects`; so a broker that crashes
and comes back has done all of a step or nothing.
"""

from __future__ import annotations

from typing import assert_never

import numpy as np

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
from thatch.broker.messages import Publish
from thatch.broker.stimuli import Frame, FrameReceived, LinkDown, LinkUp, Stimulus, TimerFired
from thatch.errors import ParameterError, shown
from thatch.model.schema import Schema
from thatch.model.topology import Link
from thatch.runtime.simulated.agenda import Agenda
from thatch.runtime.simulated.clients import Received
from thatch.runtime.simulated.needs import Needs
from thatch.runtime.simulated.records import Delivery, Records
from thatch.runtime.simulated.site import Site
from thatch.runtime.simulated.sizes import Sizes
from thatch.runtime.simulated.wires import Faults, Wire

__all__ = ["Driver"]


class Driver:
    """Sites, the wires between them, and what is under way.

    Parameters
    ----------
    schema : declared types of attributes, as brokers have them
    faults : how often frames are lost or doubled
    seed : of those
    """

    def __init__(self, schema: Schema | None, faults: Faults, seed: int) -> None:
        self.faults = faults
        self.agenda = Agenda()
        self.records = Records()
        self.needs = Needs(schema)
        self.sizes = Sizes()
        self.sites: dict[str, Site] = {}
        self.published: dict[str, float] = {}  # when what may be under way was published
        self._rng = np.random.default_rng(seed)

    @property
    def now(self) -> float:
        """The time, in seconds."""
        return self.agenda.now

    def forget_publications(self) -> None:
        """Nothing is under way: forget what is known of events that were."""
        self.published.clear()
        self.needs.forget_publications()
        self.sizes.forget_events()

    # --- steps --------------------------------------------------------------------------------------------------

    def handle(self, site: Site, stimulus: Stimulus) -> None:
        """One step of a broker; nothing if it does not run."""
        if site.broker is None:
            return
        effects = site.broker.handle(stimulus)
        site.keep(effects)
        if site.stumbles:
            self.crash(site)
            return
        for effect in effects:
            if type(effect) is SendFrame:
                self._send(site, effect)
            elif type(effect) is not Persist:
                self._do(site, effect)

    def _do(self, site: Site, effect: Effect) -> None:
        match effect:
            case SetTimer():
                self.agenda.set_timer(site.timers, effect.timer, effect.at)
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
        frame, records, now = effect.frame, self.records, self.agenda.now
        size = self.sizes.frame(frame)
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
        self.agenda.put(arrival, self._arrive, wire, wire.cuts, frame)
        if faults.duplication and self._rng.random() < faults.duplication:
            records.doubled += 1
            self.agenda.put(arrival, self._arrive, wire, wire.cuts, frame)

    def _arrive(self, wire: Wire, cuts: int, frame: Frame) -> None:
        if wire.cuts == cuts:
            stimulus = FrameReceived(now=self.agenda.now, neighbour=wire.source, frame=frame)
            self.handle(self.sites[wire.target], stimulus)

    def _deliver(self, site: Site, effect: Deliver) -> None:
        client = site.clients.get(effect.client)
        if client is None or not client.is_connected:
            return
        now = self.now
        client.received.append(Received(effect.publication, effect.event, effect.subscriptions, now))
        delay = now - self.published.get(effect.publication, now)
        self.records.deliveries.append(Delivery(effect.publication, client.name, now, delay))

    def _close(self, site: Site, effect: CloseLink) -> None:
        """Take away a link that a broker will not have; the other end hears of it."""
        self.records.closed[site.name, effect.neighbour, effect.reason] += 1
        if effect.neighbour in site.wires:
            self.remove_wires(site.name, effect.neighbour)
            other = self.sites[effect.neighbour]
            self.handle(other, LinkDown(now=self.now, neighbour=site.name, for_good=True))

    def fire(self, site: Site, timer: str) -> None:
        """A timer of a broker ran out."""
        self.handle(site, TimerFired(now=self.now, timer=timer))

    def crash(self, site: Site) -> None:
        """End a broker; what is under way from it and to it is lost, as when connections break."""
        site.broker = None
        site.stumbles = False
        site.timers.clear()
        for client in site.clients.values():
            client.is_connected = False
        for neighbour, wire in site.wires.items():
            wire.cuts += 1
            self.sites[neighbour].wires[site.name].cuts += 1
            if not wire.is_cut:
                self.handle(self.sites[neighbour], LinkDown(now=self.now, neighbour=site.name))

    # --- sites and wires ---------------------------------------------------------------------------------------

    def add_wires(self, link: Link) -> None:
        """Lay a link."""
        one, other = (self.site(name) for name in link.ends)
        if other.name in one.wires:
            raise ParameterError(
                "two brokers that are not linked", f"{shown(link.one)} and {shown(link.other)}"
            )
        one.wires[other.name] = Wire(one.name, other.name, link)
        other.wires[one.name] = Wire(other.name, one.name, link)
        self.records.wires += (one.wires[other.name], other.wires[one.name])

    def remove_wires(self, one: str, other: str) -> None:
        """Take a link away."""
        for wire in (self.wire(one, other), self.wire(other, one)):
            wire.cut()
            del self.sites[wire.source].wires[wire.target]
        self.connect_needs()

    def connect_needs(self) -> None:
        """Links have changed: so have the ways that events need."""
        self.needs.connect({name: site.wires for name, site in self.sites.items()})

    def tell_up(self, one: str, other: str) -> None:
        """Tell both ends of a link that it can be used, if both run."""
        if self.site(one).broker is not None and self.site(other).broker is not None:
            self.handle(self.sites[one], LinkUp(now=self.now, neighbour=other))
            self.handle(self.sites[other], LinkUp(now=self.now, neighbour=one))

    def tell_down(self, one: str, other: str) -> None:
        """Tell both ends of a link that it cannot be used."""
        self.handle(self.sites[one], LinkDown(now=self.now, neighbour=other))
        self.handle(self.sites[other], LinkDown(now=self.now, neighbour=one))

    def site(self, name: str) -> Site:
        """The site of a broker, which must be there."""
        if name not in self.sites:
            raise ParameterError("the name of a broker", shown(name))
        return self.sites[name]

    def wire(self, one: str, other: str) -> Wire:
        """The wire from one neighbour to another, which must be there."""
        wire = self.site(one).wires.get(other)
        if wire is None:
            raise ParameterError("two brokers that are linked", f"{shown(one)} and {shown(other)}")
        return wire
