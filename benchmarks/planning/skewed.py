"""Subscriptions that do not ask for what comes: a value that some of them ask for, and nearly every event has."""

from __future__ import annotations

import numpy as np

import thatch

__all__ = ["skewed"]

_REGIONS, _DEVICES, _LOADS = 1_000, 20, 30


def skewed(
    rng: np.random.Generator, subscriptions: int, events: int
) -> tuple[list[thatch.Filter], list[dict[str, object]]]:
    """Filters of which a twentieth asks for one of a thousand regions, and events of which one in fifty is from another."""
    region = np.where(
        rng.random(subscriptions) < 0.05, 7, rng.integers(_REGIONS, size=subscriptions)
    ).tolist()
    device, load = (rng.integers(most, size=subscriptions).tolist() for most in (_DEVICES, _LOADS))
    filters = [
        thatch.parse(f"region = 'r{where}' and device = 'd{which}' and load{what} > {60 + number % 100}")
        for number, (where, which, what) in enumerate(zip(region, device, load, strict=True))
    ]
    came = np.where(rng.random(events) < 0.02, rng.integers(_REGIONS, size=events), 7).tolist()
    loads = rng.exponential(20, (events, _LOADS)).tolist()
    return filters, [
        {"region": f"r{where}", "device": f"d{rng.integers(_DEVICES)}"}
        | {f"load{number}": value for number, value in enumerate(values)}
        for where, values in zip(came, loads, strict=True)
    ]
