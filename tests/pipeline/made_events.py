"""Events with values of every kind, for the tests of profiles."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np


def made_events(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """Events with all that can be in one: missing, null, NaN, mixed types, wide integers, lists, nested objects."""
    rng = np.random.default_rng(seed)
    mixed = [
        None,
        True,
        False,
        nan,
        0,
        -0.0,
        5,
        5.0,
        2.5,
        "5",
        "",
        "é",
        2**60 + 1,
        2**63 - 1,
        -(2**63),
        1e300,
    ]
    events: list[dict[str, Any]] = []
    for number in range(count):
        event: dict[str, Any] = {"id": number, "price": round(float(rng.lognormal(3, 1)), 2)}
        if rng.random() < 0.7:
            event["symbol"] = f"S{int(rng.zipf(1.5)) % 500}"
        if rng.random() < 0.3:
            event["mixed"] = mixed[int(rng.integers(len(mixed)))]
        if rng.random() < 0.4:
            event["detail-type"] = {"kind": ["a", "b"][number % 2], "size": int(rng.integers(10))}
        if rng.random() < 0.3:
            event["tags"] = [f"t{each}" for each in rng.integers(0, 20, int(rng.integers(0, 4)))]
        if rng.random() < 0.2:
            event["lines"] = [{"qty": int(each), "sku": f"k{each}"} for each in rng.integers(0, 9, 2)] + [
                {"qty": None}
            ]
        events.append(event)
    return events


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value
