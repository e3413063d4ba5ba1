"""A reliable channel over packets that may be lost, duplicated, late or replayed: each message once, in order.

Every message has a number and is kept until it is acknowledged; messages that are not acknowledged are sent again when a
timer expires and when the link comes up. A message that arrives too early waits for those before it. Numbers belong to a
**session**: the time during which one side keeps its memory. Numbers, messages and sessions are persisted, so that a
side that crashes and is restarted continues as if nothing had happened.

A side that has lost its memory begins a new session. Its neighbour then knows that all it sent before is lost, and begins
a new session too, unless nobody has answered its own yet: a session is **paired** once a packet of the other side names
it. So both sides soon have sessions that are paired with each other, whichever side forgot what and when. The name of a
session says when it began, by the clock of its side, so that packets of an earlier session are recognised.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from thatch.broker.effects import NeighbourFailed, SendPacket
from thatch.broker.messages import Message
from thatch.broker.settings import Timing
from thatch.broker.step import BrokerStep
from thatch.broker.stimuli import Packet

__all__ = ["Channel", "began", "is_session", "session_name"]

_SESSION = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?(e[+-]?[0-9]{1,3})?#[0-9]{1,18}", re.ASCII)
_EARLY = 1_024  # messages that may wait for one that is missing
_PATIENCE = 8  # messages that may arrive before a packet is sent only to acknowledge them


def session_name(now: float, number: int) -> str:
    """The name of a session that begins now; `number` is above that of all earlier sessions that began now."""
    return f"{float(now)!r}#{number}"


@dataclass(slots=True, eq=False, repr=False)
class Channel:
    """One side of a channel to a neighbour."""

    neighbour: str
    timing: Timing
    session: str  # as `session_name` makes it
    number: int = 0  # of the last message sent
    acknowledged: int = 0  # the last message of ours that is known to have arrived
    outbox: dict[int, Message] = field(default_factory=dict)  # messages that are not acknowledged
    is_paired: bool = False
    peer: str = ""  # the other side's session
    received: int = 0  # all its messages up to this number have arrived
    is_up: bool = False
    has_failed: bool = False
    _early: dict[int, Message] | None = None
    _is_changed: bool = False  # whether numbers must be persisted
    _owed: int = 0  # messages that arrived since the last packet was sent
    _since: float = 0.0  # when a message was last acknowledged, or the first was put into the outbox
    _interval: float = 0.0
    _mark: int = 0  # the messages up to this one were sent when the timer was set
    _resend_is_set: bool = False
    _ack_is_set: bool = False

    # --- sending -----------------------------------------------------------------------------------------------------

    def open(self, step: BrokerStep) -> None:
        """Persist a new channel."""
        self._persist_session(step)
        self._persist_numbers(step)

    def send(self, step: BrokerStep, message: Message) -> None:
        """Send a message, now or when the link is up."""
        if not self.outbox:
            self._since = step.now
            self._interval = self.timing.resend
        self.number += 1
        self.outbox[self.number] = message
        step.persist(("out", self.neighbour, str(self.number)), message)
        if self.is_up:
            self._send_packet(step, self.number, message)
            self._set_resend(step)

    def next_request(self, broker: str) -> str:
        """A unique name for the message that is sent next."""
        return f"{broker}/{self.session}/{self.number + 1}"

    def up(self, step: BrokerStep) -> None:
        """Use the link: send all messages that are not acknowledged."""
        self.is_up = True
        self.has_failed = False
        self._since = step.now
        self._interval = self.timing.resend
        self._resend_is_set = self._ack_is_set = False  # timers may have been set before a restart
        self._resend(step, self.number)
        self._set_resend(step)

    def down(self) -> None:
        """Stop using the link."""
        self.is_up = False

    def close(self, step: BrokerStep) -> None:
        """Delete all that was persisted."""
        for number in self.outbox:
            step.persist(("out", self.neighbour, str(number)), None)
        step.persist(("session", self.neighbour), None)
        step.persist(("numbers", self.neighbour), None)
        if self._resend_is_set:
            step.cancel_timer(f"resend {self.neighbour}")
        if self._ack_is_set:
            step.cancel_timer(f"acknowledge {self.neighbour}")

    # --- receiving ---------------------------------------------------------------------------------------------------

    def judge(self, packet: Packet) -> str:
        """Classify a packet.

        Returns
        -------
        "same": it belongs to the current session. "again": the same, but its message has arrived before. "new": the
        neighbour has begun a new session. Otherwise the reason why it cannot be used.
        """
        if not _is_well_formed(packet):
            return "a malformed packet"
        if packet.received_session == self.session and packet.received > self.number:
            return "an acknowledgement of what was not sent"
        if packet.session == self.peer:
            return "again" if 0 < packet.number <= self.received else "same"
        if self.peer and began(packet.session) <= began(self.peer):
            return "a packet of a session that ended"
        return "new"

    def adopt(self, step: BrokerStep, peer: str) -> None:
        """Accept a new session of the neighbour."""
        self.peer = peer
        self.received = 0
        self._early = None
        self._is_changed = True
        self._persist_session(step)

    def restart(self, step: BrokerStep, session: str) -> None:
        """Begin a new session; messages that are not acknowledged are dropped, since all must be sent anew."""
        for number in self.outbox:
            step.persist(("out", self.neighbour, str(number)), None)
        self.session = session
        self.number = self.acknowledged = self._mark = 0
        self.outbox.clear()
        self.is_paired = self.has_failed = False
        self._is_changed = True
        self._persist_session(step)

    def replace(self, step: BrokerStep, number: int, message: Message) -> None:
        """Replace a message that is not acknowledged."""
        self.outbox[number] = message
        step.persist(("out", self.neighbour, str(number)), message)

    def take(self, step: BrokerStep, packet: Packet) -> Iterator[Message]:
        """The messages that have arrived with a packet of the current session, in order."""
        if packet.received_session == self.session:
            self._acknowledge(step, packet.received)
        elif packet.received_session:
            return  # meant for an earlier session of this side, which may have handled it
        if not packet.number or packet.message is None:
            return
        if packet.number <= self.received:  # the other side does not know that it arrived
            self._owed = _PATIENCE
            return
        early = self._early = {} if self._early is None else self._early
        if packet.number == self.received + 1 or len(early) < _EARLY:
            early[packet.number] = packet.message
        while self.received + 1 in early:
            self.received += 1
            self._owed += 1
            self._is_changed = True
            yield early.pop(self.received)

    def settle(self, step: BrokerStep) -> None:
        """At the end of a step: persist the numbers, and acknowledge what has arrived, now or soon."""
        if self._is_changed:
            self._is_changed = False
            self._persist_numbers(step)
        if not self._owed or not self.is_up:
            return
        if self._owed >= _PATIENCE:
            self._send_packet(step, 0, None)
        elif not self._ack_is_set:
            self._ack_is_set = True
            step.set_timer(f"acknowledge {self.neighbour}", step.now + self.timing.resend / 4)

    # --- timers ------------------------------------------------------------------------------------------------------

    def on_acknowledge_timer(self, step: BrokerStep) -> None:
        """Acknowledge messages that no other packet has acknowledged."""
        self._ack_is_set = False
        if self._owed and self.is_up:
            self._send_packet(step, 0, None)

    def on_resend_timer(self, step: BrokerStep) -> None:
        """Send again what has waited too long; report a failure once if that was far too long."""
        self._resend_is_set = False
        if not self.outbox or not self.is_up:
            return
        if step.now - self._since >= self.timing.failure and not self.has_failed:
            self.has_failed = True
            step.effects.append(NeighbourFailed(cause=step.cause, neighbour=self.neighbour))
        if next(iter(self.outbox)) <= self._mark:
            self._resend(step, self._mark)
            # Resend less and less often on a link that is slow or dead.
            self._interval = min(2 * self._interval, self.timing.failure)
        self._set_resend(step)

    # --- persistence ------------------------------------------------------------------------------------------------

    def load(self, items: Mapping[tuple[str, ...], Any], outbox: dict[int, Message]) -> None:
        """Restore what was persisted."""
        self.session, self.peer, is_paired = items["session", self.neighbour]
        self.is_paired = bool(is_paired)
        self.received, self.acknowledged = items["numbers", self.neighbour]
        self.outbox = dict(sorted(outbox.items()))
        self.number = max(self.outbox, default=self.acknowledged)

    def _persist_session(self, step: BrokerStep) -> None:
        step.persist(("session", self.neighbour), (self.session, self.peer, int(self.is_paired)))

    def _persist_numbers(self, step: BrokerStep) -> None:
        step.persist(("numbers", self.neighbour), (self.received, self.acknowledged))

    # --- packets ------------------------------------------------------------------------------------------------------

    def _acknowledge(self, step: BrokerStep, number: int) -> None:
        if not self.is_paired:
            self.is_paired = True
            self._persist_session(step)
        if number <= self.acknowledged:
            return
        for each in range(self.acknowledged + 1, number + 1):
            del self.outbox[each]
            step.persist(("out", self.neighbour, str(each)), None)
        self.acknowledged = number
        self._since = step.now
        self._interval = self.timing.resend
        self.has_failed = False
        self._is_changed = True

    def _send_packet(self, step: BrokerStep, number: int, message: Message | None) -> None:
        packet = Packet(
            session=self.session,
            number=number,
            received_session=self.peer,
            received=self.received,
            message=message,
        )
        step.effects.append(SendPacket(cause=step.cause, neighbour=self.neighbour, packet=packet))
        self._owed = 0

    def _resend(self, step: BrokerStep, last: int) -> None:
        for number, message in self.outbox.items():
            if number > last:
                break
            self._send_packet(step, number, message)

    def _set_resend(self, step: BrokerStep) -> None:
        if self.outbox and not self._resend_is_set:
            self._resend_is_set = True
            self._mark = self.number
            step.set_timer(f"resend {self.neighbour}", step.now + self._interval)


def is_session(name: object) -> bool:
    """Whether something is the name of a session."""
    return isinstance(name, str) and _SESSION.fullmatch(name) is not None


def began(session: str) -> tuple[float, int]:
    """When a session began."""
    now, _, number = session.partition("#")
    return float(now), int(number)


def _is_well_formed(packet: Packet) -> bool:
    return (
        isinstance(packet, Packet)
        and is_session(packet.session)
        and isinstance(packet.received_session, str)
        and type(packet.number) is int
        and type(packet.received) is int
        and packet.number >= 0
        and packet.received >= 0
        and (packet.number == 0 or packet.message is not None)
    )
