"""Thatch: content-based publish/subscribe for Python.

Keep many standing queries and find, for every event, who wants it:

>>> import thatch
>>> engine = thatch.Engine()
>>> engine.subscribe("cheap-ibm", "symbol = 'IBM' and price < 150")
>>> engine.match({"symbol": "IBM", "price": 120})
['cheap-ibm']
"""

from __future__ import annotations

import importlib
import typing

from thatch.broker.settings import Routing
from thatch.engine import Engine
from thatch.errors import (
    BoxError,
    EventError,
    FilterError,
    FilterSyntaxError,
    FilterTooLargeError,
    IndexFileError,
    MissingPackageError,
    NeverMatchesError,
    ParameterError,
    PatternError,
    ReadOnlyError,
    SchemaError,
    SparkError,
    StoreError,
    SubscriptionError,
    TableError,
    ThatchError,
    UnknownSubscriptionError,
)
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.language.python import attr, circle, polygon, within
from thatch.model.profile import Profile
from thatch.model.schema import Decimal, Enum, Integer, Number, Schema, Text
from thatch.model.topology import Topology
from thatch.reduction import Changes, EventBox, ForwardingSet, Sureness, Verdict, covered_by, sureness
from thatch.runtime.blocking import BlockingNetwork
from thatch.runtime.network import Network

if typing.TYPE_CHECKING:
    from thatch.stores import PostgresStore, SqliteStore
    from thatch.tiering import TieredEngine

__version__ = "0.1.0"

__all__ = [
    "BlockingNetwork",
    "BoxError",
    "Changes",
    "Decimal",
    "Engine",
    "Enum",
    "EventBox",
    "EventError",
    "Filter",
    "FilterError",
    "FilterSyntaxError",
    "FilterTooLargeError",
    "ForwardingSet",
    "IndexFileError",
    "Integer",
    "MissingPackageError",
    "Network",
    "NeverMatchesError",
    "Number",
    "ParameterError",
    "PatternError",
    "PostgresStore",
    "Profile",
    "ReadOnlyError",
    "Routing",
    "Schema",
    "SchemaError",
    "SparkError",
    "SqliteStore",
    "StoreError",
    "SubscriptionError",
    "Sureness",
    "TableError",
    "Text",
    "ThatchError",
    "TieredEngine",
    "Topology",
    "UnknownSubscriptionError",
    "Verdict",
    "attr",
    "circle",
    "covered_by",
    "parse",
    "polygon",
    "sureness",
    "within",
]

# What only some people need is loaded when it is asked for.
_LATE = {"PostgresStore": "thatch.stores", "SqliteStore": "thatch.stores", "TieredEngine": "thatch.tiering"}


def __getattr__(name: str) -> object:
    if name not in _LATE:
        raise AttributeError(f"module 'thatch' has no attribute {name!r}")
    return getattr(importlib.import_module(_LATE[name]), name)
