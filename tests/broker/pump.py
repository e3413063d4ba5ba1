"""A tiny network: packets go straight to the other side, until all is quiet; what brokers keep is kept."""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

from thatch import parse
from thatch.broker.broker import Broker
from thatch.broker.effects import (
    CloseLink,
    Confirm,
    Deliver,
    Effect,
    Ignored,
    NeighbourFailed,
    Persist,
    Refuse,
    SendPacket,
    SetTimer,
)
from thatch.broker.event_frames import encode_frame
from thatch.broker.invariants import check
from thatch.broker.messages import Advertise, Message, Publish, Subscribe, Unadvertise, Unsubscribe
from thatch.broker.settings import Routing, Timing
from thatch.broker.stimuli import (
    ClientConnected,
    ClientDisconnected,
    LinkDown,
    LinkUp,
    MessageReceived,
    PacketReceived,
    RoutingSwitched,
    Stimulus,
    TimerFired,
)


class Pump:
    """Brokers in one place. Time stands still unless `tick` moves it."""

    def __init__(self, links: str = "", routing: Routing | None = None, timing: Timing | None = None) -> None:
        self.routing = routing
        self.timing = timing
        self.now = 0.0
        self.brokers: dict[str, Broker] = {}
        self.items: dict[str, dict[tuple[str, ...], Any]] = {}
        self.up: set[frozenset[str]] = set()
        self.packets: deque[tuple[str, SendPacket]] = deque()
        self.timers: dict[tuple[str, str], float] = {}
        self.delivered: list[tuple[str, str]] = []  # client and event
        self.told: list[tuple[str, Effect]] = []  # what brokers said to clients and drivers
        self.sent: list[tuple[str, str, Message]] = []  # from, to, and what, each time it was sent
        self.numbers: Counter[str] = Counter()  # of the last event of each client
        self.published = ""  # the last event
        self.is_eager = True  # whether packets are delivered as soon as they are sent
        for pair in links.split():
            self.link(*pair.split("-"))

    # --- the network -------------------------------------------------------------------------------------------------

    def add(self, name: str, **settings: Any) -> Broker:
        broker = self.brokers.get(name)
        if broker is None:
            broker = self.brokers[name] = Broker(
                name, settings.pop("routing", self.routing), self.timing, **settings
            )
            self.items[name] = {}
        return broker

    def link(self, one: str, other: str) -> None:
        self.add(one)
        self.add(other)
        self.up.add(frozenset((one, other)))
        self.do(one, LinkUp(now=self.now, neighbour=other))
        self.do(other, LinkUp(now=self.now, neighbour=one))
        self._settle()

    def cut(self, one: str, other: str, *, for_good: bool = False) -> None:
        self.up.discard(frozenset((one, other)))
        self.packets = deque(each for each in self.packets if {each[0], each[1].neighbour} != {one, other})
        for broker, neighbour in ((one, other), (other, one)):
            self.do(broker, LinkDown(now=self.now, neighbour=neighbour, for_good=for_good))
        self._settle()

    def crash(self, name: str, *, forgets: bool = False) -> None:
        """Let a broker lose all but what it has kept, or that too; links go down and up again."""
        neighbours = [other for pair in self.up if name in pair for other in pair if other != name]
        self.packets = deque(each for each in self.packets if name not in (each[0], each[1].neighbour))
        self.timers = {key: at for key, at in self.timers.items() if key[0] != name}
        if forgets:
            self.items[name] = {}
        self.brokers[name] = Broker(name, self.brokers[name].routing, self.timing, items=self.items[name])
        self.now += 1
        for other in neighbours:
            self.do(other, LinkDown(now=self.now, neighbour=name))
            self.do(name, LinkUp(now=self.now, neighbour=other))
            self.do(other, LinkUp(now=self.now, neighbour=name))

    def do(self, name: str, stimulus: Stimulus) -> list[Effect]:
        effects = self.brokers[name].handle(stimulus)
        for effect in effects:
            if isinstance(effect, Persist):
                if effect.value is None:
                    self.items[name].pop(effect.key, None)
                else:
                    self.items[name][effect.key] = effect.value
        for effect in effects:
            match effect:
                case SendPacket():
                    if frozenset((name, effect.neighbour)) in self.up:
                        self.packets.append((name, effect))
                        if effect.packet.message is not None:
                            self.sent.append((name, effect.neighbour, effect.packet.message))
                case Deliver():
                    assert len(effect.frame) == len(effect.subscriptions) > 0
                    self.delivered += ((effect.client, each) for each in effect.frame.ids())
                case SetTimer():
                    self.timers[name, effect.timer] = effect.at
                case Refuse() | Ignored() | Confirm() | NeighbourFailed() | CloseLink():
                    self.told.append((name, effect))
                case _:
                    pass
        return effects

    def _settle(self) -> None:
        if self.is_eager:
            self.run()

    def run(self) -> None:
        """Deliver packets until there are none."""
        while self.packets:
            self.deliver()

    def deliver(self) -> tuple[str, SendPacket]:
        """Deliver the first packet."""
        sender, effect = self.packets.popleft()
        self.do(effect.neighbour, PacketReceived(now=self.now, neighbour=sender, packet=effect.packet))
        return sender, effect

    def tick(self, seconds: float) -> None:
        """Let time pass: timers run out in their order, and packets are delivered."""
        until = self.now + seconds
        while True:
            self.run()
            due = [(at, key) for key, at in self.timers.items() if at <= until]
            if not due:
                break
            at, (name, timer) = min(due)
            del self.timers[name, timer]
            self.now = max(self.now, at)
            self.do(name, TimerFired(now=self.now, timer=timer))
        self.now = until

    def check(self) -> None:
        for broker in self.brokers.values():
            check(broker)

    # --- clients -----------------------------------------------------------------------------------------------------

    def say(self, name: str, client: str, message: Message) -> list[Effect]:
        if client not in self.brokers[name].tables.clients:
            self.do(name, ClientConnected(now=self.now, client=client))
        self.brokers[name].tables.clients[client].is_connected = True
        effects = self.do(name, MessageReceived(now=self.now, client=client, message=message))
        self._settle()
        return effects

    def subscribe(self, name: str, about: str, filter: str, *, expires: float | None = None) -> list[Effect]:
        message = Subscribe(subscription=about, filter=parse(filter), expires=expires)
        return self.say(name, f"client of {about}", message)

    def unsubscribe(self, name: str, about: str) -> list[Effect]:
        return self.say(name, f"client of {about}", Unsubscribe(about, f"end of {about}"))

    def advertise(
        self, name: str, about: str, filter: str, *, closed: bool = False, expires: float | None = None
    ) -> list[Effect]:
        message = Advertise(advertisement=about, filter=parse(filter), closed=closed, expires=expires)
        return self.say(name, f"client of {about}", message)

    def unadvertise(self, name: str, about: str) -> list[Effect]:
        return self.say(name, f"client of {about}", Unadvertise(about))

    def publish(
        self, name: str, advertisement: str, event: dict[str, Any], *, checks: bool = True
    ) -> list[str]:
        """Publish as the client of an advertisement; the subscriptions' clients that it was delivered to."""
        before = len(self.delivered)
        self.publish_all(name, f"client of {advertisement}", event)
        got = self.delivered[before:]
        assert not checks or all(each == self.published for _, each in got)
        return sorted(client.removeprefix("client of ") for client, _ in got)

    def publish_all(self, name: str, client: str, *events: Any, first: int | None = None) -> list[Effect]:
        """Publish events as a client, as one frame."""
        start = self.numbers[client] + 1 if first is None else first
        frame, refused = encode_frame(client, start, events)
        assert not refused
        self.numbers[client] = max(self.numbers[client], frame.numbers[-1])
        self.published = frame.ids()[-1]
        return self.say(name, client, Publish(frame))

    def leave(self, name: str, client: str, *, for_good: bool = True) -> None:
        self.do(name, ClientDisconnected(now=self.now, client=client, for_good=for_good))
        self._settle()

    def switch(self, routing: Routing, *names: str) -> None:
        for name in names or self.brokers:
            self.do(name, RoutingSwitched(now=self.now, routing=routing))
        self._settle()

    # --- what is known where -----------------------------------------------------------------------------------------

    def known(self, name: str) -> set[str]:
        """The subscriptions in a broker's table."""
        return set(self.brokers[name].tables.subscriptions)

    def forwarded(self, one: str, other: str) -> set[str]:
        """The subscriptions that one broker has told another."""
        return set(self.brokers[one].tables.links[other].sent_subscriptions.told)

    def announced(self, one: str, other: str) -> set[str]:
        """The advertisements that one broker has told another."""
        return set(self.brokers[one].tables.links[other].sent_advertisements.told)
