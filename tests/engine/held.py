"""An engine beside a plain dictionary of what it holds, in order of subscription, for tests of histories."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

import thatch
from tests.strategies import expressions
from thatch.model.expressions import Expression

__all__ = ["IDS", "MOMENTS", "Held", "HeldSubscriptions"]

Held = dict[str, tuple[Expression, str | None, int | None]]  # expression, subscriber, expiry

IDS = st.sampled_from([f"s{number}" for number in range(8)])
MOMENTS = st.none() | st.integers(0, 5)
_SUBSCRIBERS = st.none() | st.sampled_from(["ann", "bob"])


class HeldSubscriptions(RuleBasedStateMachine):
    """The changes that every history has."""

    def __init__(self) -> None:
        super().__init__()
        self.engine = thatch.Engine()
        self.held: Held = {}

    @rule(name=IDS, expression=expressions, subscriber=_SUBSCRIBERS, expires=MOMENTS)
    def subscribe(
        self, name: str, expression: Expression, subscriber: str | None, expires: int | None
    ) -> None:
        try:
            self.engine.subscribe(name, expression, subscriber=subscriber, expires=expires)
        except thatch.FilterError:
            return
        self.held[name] = (expression, subscriber, expires)

    @rule(name=IDS)
    def unsubscribe(self, name: str) -> None:
        try:
            self.engine.unsubscribe(name)
        except thatch.errors.UnknownSubscriptionError:
            assert name not in self.held
        else:
            del self.held[name]

    @rule(now=st.integers(0, 5))
    def expire(self, now: int) -> None:
        gone = [name for name, (_, _, expires) in self.held.items() if expires is not None and expires <= now]
        assert self.engine.expire(now) == gone
        for name in gone:
            del self.held[name]
