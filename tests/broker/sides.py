"""The two sides of a channel, without brokers: what each has kept, sent and taken."""

from __future__ import annotations

from typing import Any

from thatch.broker.channel import Channel, session_name
from thatch.broker.effects import Effect, Persist, SendPacket, SetTimer
from thatch.broker.messages import Message, Unadvertise
from thatch.broker.settings import Timing
from thatch.broker.step import BrokerStep
from thatch.broker.stimuli import Packet

TIMING = Timing(resend=1, failure=10)


class Side:
    """One end of a channel, with what it has kept and what has arrived."""

    def __init__(self, other: str) -> None:
        self.other = other
        self.now = 0.0
        self.sessions = 0
        self.items: dict[tuple[str, ...], Any] = {}
        self.packets: list[Packet] = []
        self.timers: dict[str, float] = {}
        self.told: list[Effect] = []
        self.arrived: list[str] = []
        self.restarts = 0
        self.begin()

    def session(self) -> str:
        self.sessions += 1
        return session_name(self.now, self.sessions)

    def begin(self) -> None:
        self.channel = Channel(self.other, TIMING, self.session())
        step = self.step()
        self.channel.open(step)
        self.channel.up(step)
        self.done(step)

    def step(self) -> BrokerStep:
        return BrokerStep(0, self.now)

    def done(self, step: BrokerStep) -> None:
        for effect in step.effects:
            match effect:
                case Persist(key=key, value=None):
                    self.items.pop(key, None)
                case Persist(key=key, value=value):
                    self.items[key] = value
                case SendPacket():
                    self.packets.append(effect.packet)
                case SetTimer():
                    self.timers[effect.timer.split()[0]] = effect.at
                case _:
                    self.told.append(effect)

    def send(self, text: str) -> None:
        step = self.step()
        self.channel.send(step, Unadvertise(text))
        self.done(step)

    def receive(self, packet: Packet) -> str:
        """As a broker does it: sessions first, then messages, then acknowledgements."""
        step = self.step()
        verdict = self.channel.judge(packet)
        if verdict == "new":
            if self.channel.is_paired:
                self.channel.restart(step, self.session())
                self.restarts += 1
                self.channel.send(step, Unadvertise("anew"))  # a broker says who is there
            self.channel.adopt(step, packet.session)
        elif verdict not in ("same", "again"):
            return verdict
        for message in self.channel.take(step, packet):
            assert isinstance(message, Unadvertise)
            self.arrived.append(message.advertisement)
        self.channel.settle(step)
        self.done(step)
        return verdict

    def fire(self, timer: str) -> None:
        at = self.timers.pop(timer, None)
        if at is not None:
            self.now = max(self.now, at)
            step = self.step()
            if timer == "resend":
                self.channel.on_resend_timer(step)
            else:
                self.channel.on_acknowledge_timer(step)
            self.done(step)

    def crash(self) -> None:
        """Lose all but what was kept."""
        outbox: dict[int, Message] = {
            int(key[2]): value for key, value in self.items.items() if key[0] == "out"
        }
        self.timers.clear()
        self.channel = Channel(self.other, TIMING, "")
        self.channel.load(self.items, outbox)
        step = self.step()
        self.channel.up(step)
        self.done(step)

    def forget(self) -> None:
        self.items.clear()
        self.timers.clear()
        self.arrived.clear()
        self.begin()


class Pair:
    def __init__(self) -> None:
        self.left, self.right = Side("right"), Side("left")

    def exchange(self) -> None:
        """Deliver all packets, and let timers run out until there is nothing left to be said."""
        for _ in range(40):
            while self.left.packets or self.right.packets:
                for one, other in ((self.left, self.right), (self.right, self.left)):
                    packets, one.packets = one.packets, []
                    for packet in packets:
                        other.receive(packet)
            for side in (self.left, self.right):
                side.fire("acknowledge")
                side.fire("resend")
