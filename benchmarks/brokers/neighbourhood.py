"""One broker that is measured, with real brokers around it that are not."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable

from thatch.broker.broker import Broker
from thatch.broker.effects import Effect, SendPacket
from thatch.broker.messages import Message
from thatch.broker.settings import Routing
from thatch.broker.stimuli import ClientConnected, LinkUp, MessageReceived, Packet, PacketReceived, Stimulus

__all__ = ["Neighbourhood"]

_NAME = "middle"


class Neighbourhood:
    """A broker and its neighbours. Packets take no time and no timer runs out: every eighth message is acknowledged.

    `seconds` is the processor time that the broker in the middle has used, acknowledgements included.
    """

    def __init__(self, routing: Routing, neighbours: int = 0) -> None:
        self.routing = routing
        self.broker = Broker(_NAME, routing, trusts_topology=True)
        self.around: dict[str, Broker] = {}
        self.seconds = 0.0
        for number in range(neighbours):
            self.add(f"n{number}")

    def add(self, name: str) -> None:
        """A neighbour comes."""
        neighbour = self.around[name] = Broker(name, self.routing, trusts_topology=True)
        greeting = neighbour.handle(LinkUp(now=0, neighbour=_NAME))
        self.tell(LinkUp(now=0, neighbour=name))
        self._carry(name, greeting)

    def forget(self, name: str) -> None:
        """Drop a neighbour from memory; the broker in the middle is not told."""
        del self.around[name]

    def connect(self, client: str, at: str | None = None) -> None:
        """A client comes to a neighbour, or to the broker in the middle."""
        stimulus = ClientConnected(now=0, client=client)
        if at is None:
            self.tell(stimulus)
        else:
            self.around[at].handle(stimulus)

    def say(self, client: str, message: Message, at: str | None = None) -> None:
        """A client says something to a neighbour, or to the broker in the middle."""
        stimulus = MessageReceived(now=0, client=client, message=message)
        if at is None:
            self.tell(stimulus)
        else:
            self._carry(at, self.around[at].handle(stimulus))

    def tell(self, stimulus: Stimulus) -> None:
        """Let the broker in the middle handle something, and its neighbours what follows."""
        for neighbour, packet in self._measured(stimulus):
            self._carry(neighbour, self._answers(neighbour, packet))

    def _carry(self, source: str, effects: Iterable[Effect]) -> None:
        """Bring what a neighbour sends to the middle, and so on until all is quiet."""
        pending = deque((source, each.packet) for each in effects if isinstance(each, SendPacket))
        while pending:
            name, packet = pending.popleft()
            for other, answer in self._measured(PacketReceived(now=0, neighbour=name, packet=packet)):
                answers = self._answers(other, answer)
                pending += ((other, each.packet) for each in answers if isinstance(each, SendPacket))

    def _answers(self, neighbour: str, packet: Packet) -> list[Effect]:
        broker = self.around.get(neighbour)
        return [] if broker is None else broker.handle(PacketReceived(now=0, neighbour=_NAME, packet=packet))

    def _measured(self, stimulus: Stimulus) -> list[tuple[str, Packet]]:
        start = time.process_time()
        effects = self.broker.handle(stimulus)
        self.seconds += time.process_time() - start
        return [(each.neighbour, each.packet) for each in effects if isinstance(each, SendPacket)]
