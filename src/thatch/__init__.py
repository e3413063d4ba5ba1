"""Thatch: content-based publish/subscribe for Python.

Keep many standing queries and find, for every event, those that match:

>>> import thatch
>>> engine = thatch.Engine()
>>> engine.subscribe("cheap-ibm", "symbol = 'IBM' and price < 150")
>>> engine.match({"symbol": "IBM", "price": 120})
['cheap-ibm']

Each name is loaded when it is first used. All errors are in `thatch.errors`.
"""

from __future__ import annotations

from thatch.errors import (
    EventError,
    FilterError,
    StoreError,
    SubscriptionError,
    TableError,
    ThatchError,
)

TYPE_CHECKING = False  # as in `typing`, which takes longer to import than the rest of this file
if TYPE_CHECKING:
    from thatch.broker.settings import Routing, Timing
    from thatch.engine import Engine
    from thatch.engine.warming import warm
    from thatch.model.filters import Filter
    from thatch.model.language import parse
    from thatch.model.language.python import anywhere, attr, circle, polygon, within
    from thatch.model.profile import Profile
    from thatch.model.schema import Schema
    from thatch.model.topology import Topology
    from thatch.model.types import Decimal, Enum, Integer, Number, Text
    from thatch.reduction import (
        ApproximateNegativeSpace,
        Diagrams,
        Exact,
        Flooding,
        ForwardingSet,
        Merging,
        NegativeSpace,
        Pairwise,
        Probabilistic,
        covered_by,
    )
    from thatch.runtime.blocking import BlockingNetwork
    from thatch.runtime.network import Network
    from thatch.stores import PostgresStore, SqliteStore
    from thatch.tiering import TieredEngine
    from thatch.windows import Window

__version__ = "0.1.0"

__all__ = [
    "ApproximateNegativeSpace",
    "BlockingNetwork",
    "Decimal",
    "Diagrams",
    "Engine",
    "Enum",
    "EventError",
    "Exact",
    "Filter",
    "FilterError",
    "Flooding",
    "ForwardingSet",
    "Integer",
    "Merging",
    "NegativeSpace",
    "Network",
    "Number",
    "Pairwise",
    "PostgresStore",
    "Probabilistic",
    "Profile",
    "Routing",
    "Schema",
    "SqliteStore",
    "StoreError",
    "SubscriptionError",
    "TableError",
    "Text",
    "ThatchError",
    "TieredEngine",
    "Timing",
    "Topology",
    "Window",
    "anywhere",
    "attr",
    "circle",
    "covered_by",
    "parse",
    "polygon",
    "warm",
    "within",
]

_MODULES = {
    "thatch.broker.settings": ("Routing", "Timing"),
    "thatch.engine": ("Engine",),
    "thatch.engine.warming": ("warm",),
    "thatch.model.filters": ("Filter",),
    "thatch.model.language": ("parse",),
    "thatch.model.language.python": ("anywhere", "attr", "circle", "polygon", "within"),
    "thatch.model.profile": ("Profile",),
    "thatch.model.schema": ("Schema",),
    "thatch.model.types": ("Decimal", "Enum", "Integer", "Number", "Text"),
    "thatch.model.topology": ("Topology",),
    "thatch.reduction": (
        *("ApproximateNegativeSpace", "Diagrams", "Exact", "Flooding", "ForwardingSet", "Merging"),
        *("NegativeSpace", "Pairwise", "Probabilistic", "covered_by"),
    ),
    "thatch.runtime.blocking": ("BlockingNetwork",),
    "thatch.runtime.network": ("Network",),
    "thatch.stores": ("PostgresStore", "SqliteStore"),
    "thatch.tiering": ("TieredEngine",),
    "thatch.windows": ("Window",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        module = _MODULE_OF.get(name)
        if module is None:
            raise AttributeError(f"module 'thatch' has no attribute {name!r}")
        from importlib import import_module

        value = globals()[name] = getattr(import_module(module), name)
        return value


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]


del TYPE_CHECKING, annotations
