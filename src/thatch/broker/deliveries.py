"""Deliveries for durable subscriptions: kept until the client acknowledges them, and made again when it comes back.

The deliveries of a client have numbers without gaps, which belong to a session: the time during which the broker knows
of them. They are persisted in the step that makes them, at most so many are
under way at a time, and the others wait. A delivery that waits too long, is one too many, or was made too often becomes
a dead letter: it is handed to the driver and forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from thatch.broker.effects import DeadLetter, Deliver
from thatch.broker.event_frames import EventFrame
from thatch.broker.settings import Keeping
from thatch.broker.step import BrokerStep

__all__ = ["AGE_TIMER", "KeptDeliveries", "KeptDelivery", "Wanting"]

AGE_TIMER = "age"

Wanting = tuple[tuple[str, ...], ...]  # for each event of a frame the ids of subscriptions that want it


class KeptDelivery(NamedTuple):
    """A delivery that was not acknowledged."""

    frame: EventFrame
    subscriptions: Wanting
    since: float
    attempts: int  # how often it was made


@dataclass(slots=True, eq=False, repr=False)
class KeptDeliveries:
    """What is kept for one client.

    Parameters
    ----------
    client : its name
    keeping : how much is kept, and for how long
    session : to which the numbers belong; a broker that has forgotten them begins a new one
    """

    client: str
    keeping: Keeping
    session: str
    acknowledged: int = 0  # the number of the last delivery that was
    waiting: dict[int, KeptDelivery] = field(default_factory=dict)  # the others, without gaps
    last: int = 0  # the number of the last delivery
    sent: int = 0  # all up to this number were made since the client connected
    dropped: int = 0  # events of dead letters
    _events: int = 0
    _bytes: int = 0
    _timer_is_set: bool = False

    @property
    def first(self) -> int:
        """The number of the first delivery that waits, or of the next if none does."""
        return self.last - len(self.waiting) + 1

    def put(self, step: BrokerStep, frame: EventFrame, subscriptions: Wanting, *, is_connected: bool) -> None:
        """Add a delivery, and make it if the client is there and has room for it."""
        self.last += 1
        self._add(self.last, KeptDelivery(frame, subscriptions, step.now, 0))
        if is_connected:
            self._fill(step)
        if self.sent < self.last:
            self._persist(step, self.last)
        while self._events > self.keeping.events or self._bytes > self.keeping.bytes:
            self._drop_first(step, "more events than are kept for a client")
        if is_connected:
            self._fill(step)
        self.watch(step)

    def connect(self, step: BrokerStep) -> None:
        """Make all deliveries again that were not acknowledged, as many as may be under way."""
        self._drop_while(
            step,
            lambda each: each.attempts >= self.keeping.attempts,
            "made too often, and never acknowledged",
        )
        self.sent = self.first - 1
        self.watch(step)
        self._fill(step)

    def open(self, step: BrokerStep) -> None:
        """Persist that there is something to keep."""
        self._note(step, 0)

    def acknowledge(self, step: BrokerStep, session: Any, through: Any) -> bool:
        """Forget deliveries that the client has; False if it cannot have them."""
        if session != self.session or type(through) is not int or not through <= self.sent:
            return False
        if through > self.acknowledged:
            for number in range(self.first, through + 1):
                self._remove(step, number)
            self._note(step, through)
        self._fill(step)
        return True

    def watch(self, step: BrokerStep) -> None:
        """Ask to be called back when the first of them is too old."""
        if self.waiting and not self._timer_is_set:
            self._timer_is_set = True
            step.set_timer(f"{AGE_TIMER} {self.client}", self.waiting[self.first].since + self.keeping.age)

    def on_timer(self, step: BrokerStep, *, is_connected: bool) -> None:
        """Drop what is too old."""
        self._timer_is_set = False
        oldest = step.now - self.keeping.age
        self._drop_while(step, lambda each: each.since <= oldest, "kept for too long")
        if is_connected:
            self._fill(step)
        self.watch(step)

    def forget(self, step: BrokerStep) -> None:
        """Delete all that was persisted: the client has left for good."""
        for number in list(self.waiting):
            self._remove(step, number)
        step.persist(("acknowledged", self.client), None)
        if self._timer_is_set:
            step.cancel_timer(f"{AGE_TIMER} {self.client}")

    def load(self, acknowledged: int, kept: Mapping[int, Sequence[Any]]) -> None:
        """Restore what was persisted."""
        self.acknowledged = self.last = self.sent = acknowledged
        for number, value in sorted(kept.items()):
            self.last = number
            self._add(number, KeptDelivery(*value))

    # --- deliveries ----------------------------------------------------------------------------------------------

    def _fill(self, step: BrokerStep) -> None:
        """Make as many deliveries as may be under way."""
        while self.sent < self.last and self.sent - self.first + 1 < self.keeping.window:
            self._deliver(step)

    def _deliver(self, step: BrokerStep) -> None:
        """Make the next delivery."""
        self.sent += 1
        kept = self.waiting[self.sent]
        self.waiting[self.sent] = kept._replace(attempts=kept.attempts + 1)
        self._persist(step, self.sent)
        step.effects.append(
            Deliver(
                cause=step.cause,
                client=self.client,
                frame=kept.frame,
                subscriptions=kept.subscriptions,
                session=self.session,
                number=self.sent,
            )
        )

    def _drop_while(self, step: BrokerStep, is_dead: Callable[[KeptDelivery], bool], reason: str) -> None:
        while self.waiting and is_dead(self.waiting[self.first]):
            self._drop_first(step, reason)

    def _drop_first(self, step: BrokerStep, reason: str) -> None:
        number = self.first
        dead = self._remove(step, number)
        self._note(step, number)
        self.sent = max(self.sent, number)
        self.dropped += len(dead.frame)
        step.effects.append(
            DeadLetter(
                cause=step.cause,
                client=self.client,
                frame=dead.frame,
                subscriptions=dead.subscriptions,
                reason=reason,
            )
        )

    def _add(self, number: int, kept: KeptDelivery) -> None:
        self.waiting[number] = kept
        self._events += len(kept.frame)
        self._bytes += kept.frame.size

    def _remove(self, step: BrokerStep, number: int) -> KeptDelivery:
        kept = self.waiting.pop(number)
        self._events -= len(kept.frame)
        self._bytes -= kept.frame.size
        step.persist(("kept", self.client, str(number)), None)
        return kept

    def _note(self, step: BrokerStep, through: int) -> None:
        """Keep the number, so that those of later deliveries are above it."""
        self.acknowledged = through
        step.persist(("acknowledged", self.client), (self.session, through))

    def _persist(self, step: BrokerStep, number: int) -> None:
        step.persist(("kept", self.client, str(number)), tuple(self.waiting[number]))
