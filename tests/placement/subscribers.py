"""Subscribers of made-up quotes, the brokers around them, and events."""

from __future__ import annotations

import numpy as np

from thatch import parse
from thatch.placement import BrokerTree, Homes, Sites

SYMBOLS = ("AA", "IBM", "SAP", "T")


def sites(inner: int = 0, leaves: int = 4, complexity: int = 3) -> Sites:
    """A hub at 0, brokers in a row to both sides, perhaps below inner ones."""
    parents = [-1] + [0] * inner + ([1 + each % inner for each in range(leaves)] if inner else [0] * leaves)
    across = np.concatenate([[0.0], np.linspace(-1, 1, inner), np.linspace(-3, 3, leaves)])
    names = ["hub", *(f"inner-{each}" for each in range(inner)), *(f"b{each}" for each in range(leaves))]
    tree = BrokerTree.of(np.array(parents), across[:, None], names)
    return Sites(tree=tree, capacities=np.ones(leaves), complexities=np.full(len(parents), complexity))


def homes(names, points, limits=None) -> Homes:
    return Homes(
        row_of={name: number for number, name in enumerate(names)},
        points=np.asarray(points, np.float64).reshape(len(names), -1),
        limits=limits,
    )


def people(seed: int, subscribers: int, each: int = 2):
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(subscribers):
        for _ in range(int(rng.integers(1, each + 1))):
            low = int(rng.integers(0, 80))
            parts = [f"price between {low} and {low + int(rng.integers(1, 20))}"]
            if rng.random() < 0.7:
                parts.append(f"symbol = '{SYMBOLS[int(rng.integers(4))]}'")
            if rng.random() < 0.2:
                parts = ["lower(symbol) like 'i%'"]
            rows.append((f"s{number}", parse(" and ".join(parts))))
    names = [f"s{number}" for number in range(subscribers)]
    return rows, homes(names, rng.uniform(-3, 3, subscribers))


def log(seed: int, count: int = 60):
    rng = np.random.default_rng(seed)
    return [
        {"price": int(rng.integers(0, 100)), "symbol": SYMBOLS[int(rng.integers(4))]} for _ in range(count)
    ]
