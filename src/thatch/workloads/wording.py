"""W5: like W1, but over text, with every kind of condition on text, null, and lists.

As in W1 there are 20 attributes, popular ones first, 3 to 6 conditions for each subscription, 10 to 20 attributes for each
event and 1,000 values for each attribute, in its own order of popularity. All values are words of three syllables, for odd
attributes too: `in`, `!=`, prefix, suffix and contains replace the ranges of W1.

5 % of the conditions are `contains`, 5 % of the event values are lists and 5 % null. The shares are such that about as few
subscriptions match an event as in W1. Words of conditions are drawn like those of events. `in` has 2 to 5 words of adjacent
popularity; prefix, suffix and contains have one or two syllables; a list has 2 to 4 words, which may be equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from thatch.workloads.columns import NULL_WORD, WORDS, Integers, Kind, TextConditions, TextEvents
from thatch.workloads.sampling import draws, popularity, ragged_choices, zipf_weights
from thatch.workloads.workload import RandomStream, Request, Workload, WorkloadShape, workload_of

__all__ = ["KIND_SHARES", "Wording", "make_wording"]

KIND_SHARES = {
    Kind.EQUAL: 0.50,
    Kind.IN: 0.15,
    Kind.UNEQUAL: 0.08,
    Kind.PREFIX: 0.12,
    Kind.SUFFIX: 0.06,
    Kind.CONTAINS: 0.05,
    Kind.NULL: 0.04,
}

# Fewest and most words or syllables of a condition, by kind.
_SIZES = {Kind.IN: (2, 5), Kind.PREFIX: (1, 2), Kind.SUFFIX: (1, 2), Kind.CONTAINS: (1, 2)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording(WorkloadShape):
    """The shape of W5."""

    attribute_zipf: float = 0.8  # popularity of attributes in subscriptions
    value_zipf: float = 0.9  # popularity of words
    conditions: tuple[int, int] = (3, 6)  # fewest and most of a subscription
    kinds: Mapping[str, float] = field(default_factory=lambda: {k.name: v for k, v in KIND_SHARES.items()})
    event_attributes: tuple[int, int] = (10, 20)
    null_share: float = 0.05  # of event values
    list_share: float = 0.05  # of event values
    list_sizes: tuple[int, int] = (2, 4)


def make_wording(request: Request, shape: Wording) -> Workload:
    """W5."""
    orders = popularity(request.rng(RandomStream.WORLD), shape.attributes, len(WORDS))
    subscriptions = _subscriptions(request, shape, orders)
    return workload_of(request, shape, subscriptions, _events(request, shape, orders))


def _subscriptions(request: Request, shape: Wording, orders: Integers) -> TextConditions:
    rng = request.rng(RandomStream.SUBSCRIPTIONS)
    weights = zipf_weights(shape.attributes, shape.attribute_zipf)
    offsets, attribute = ragged_choices(rng, weights, request.subscriptions, shape.conditions)
    kind = draws(rng, np.array([shape.kinds[kind.name] for kind in Kind]), len(attribute))
    fewest, most = np.array([_SIZES.get(kind, (1, 1)) for kind in Kind]).T
    return TextConditions(
        offsets=offsets,
        attribute=attribute,
        kind=kind.astype(np.uint8),
        rank=draws(rng, zipf_weights(len(WORDS), shape.value_zipf), len(attribute)),
        size=rng.integers(fewest[kind], most[kind] + 1).astype(np.uint8),
        orders=orders,
    )


def _events(request: Request, shape: Wording, orders: Integers) -> TextEvents:
    rng = request.rng(RandomStream.EVENTS)
    size = (request.events, shape.attributes)
    counts = rng.integers(shape.event_attributes[0], shape.event_attributes[1] + 1, request.events)
    is_present = rng.permuted(np.arange(shape.attributes) < counts[:, None], axis=1)
    chance = rng.random(size)  # below: null, then lists, then single words
    is_null = chance < shape.null_share
    is_list = (chance < shape.null_share + shape.list_share) & ~is_null
    list_sizes = rng.integers(shape.list_sizes[0], shape.list_sizes[1] + 1, size)
    words = _words(rng, shape, orders, request.events)
    words[is_null] = NULL_WORD
    sizes = is_present * np.where(is_list, list_sizes, 1)
    return TextEvents(sizes=sizes.astype(np.uint8), words=words)


def _words(rng: np.random.Generator, shape: Wording, orders: Integers, events: int) -> Integers:
    """Random word numbers for every event, attribute and possible list element."""
    size = (events, shape.attributes, shape.list_sizes[1])
    ranks = draws(rng, zipf_weights(len(WORDS), shape.value_zipf), int(np.prod(size))).reshape(size)
    return orders[np.arange(shape.attributes)[:, None], ranks].astype(np.int16)
