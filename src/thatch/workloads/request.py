"""What is asked of a generator: which workload, how large, from which seed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from operator import index

import numpy as np

from thatch.errors import SubscriptionError, shown

__all__ = ["MAX_COUNT", "MAX_SEED", "Request", "Stream", "read_request"]

MAX_COUNT = 100_000_000  # of subscriptions or events; more would not fit into memory
MAX_SEED = 2**64 - 1


class Stream(IntEnum):
    """Parts of a workload with random numbers of their own: the size of one leaves the others as they are."""

    WORLD = 0  # what both sides know, as which values are popular
    SUBSCRIPTIONS = 1
    EVENTS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A checked call of `generate`."""

    name: str
    subscriptions: int
    events: int
    seed: int

    def rng(self, stream: Stream) -> np.random.Generator:
        """The random numbers of one part, from their start."""
        return np.random.default_rng([stream, self.seed])


def read_request(name: str, subscriptions: int, events: int, seed: int) -> Request:
    """The request, or a refusal of a count or seed that is out of range."""
    return Request(
        name=name,
        subscriptions=_whole(subscriptions, "subscriptions", MAX_COUNT),
        events=_whole(events, "events", MAX_COUNT),
        seed=_whole(seed, "seed", MAX_SEED),
    )


def _whole(value: int, what: str, limit: int) -> int:
    """A plain integer from 0 to a limit; NumPy's integers are taken too, booleans are not."""
    try:
        number = -1 if isinstance(value, bool) else index(value)
    except TypeError:
        number = -1
    if not 0 <= number <= limit:
        raise SubscriptionError(f"a whole number from 0 to {limit:,}", shown(value), what)
    return number
