"""Thatch: content-based publish/subscribe for Python.

Keep many standing queries and find, for every event, who wants it:

>>> import thatch
>>> engine = thatch.Engine()
>>> engine.subscribe("cheap-ibm", "symbol = 'IBM' and price < 150")
>>> engine.match({"symbol": "IBM", "price": 120})
['cheap-ibm']
"""

from __future__ import annotations

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
    SubscriptionError,
    TableError,
    ThatchError,
    UnknownSubscriptionError,
)
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.language.pattern_printing import pattern_of
from thatch.model.language.python import attr, circle, polygon, within
from thatch.model.profile import Profile
from thatch.model.schema import Decimal, Enum, Integer, Number, Schema, Text

__version__ = "0.1.0"

__all__ = [
    "BoxError",
    "Decimal",
    "Engine",
    "Enum",
    "EventError",
    "Filter",
    "FilterError",
    "FilterSyntaxError",
    "FilterTooLargeError",
    "IndexFileError",
    "Integer",
    "MissingPackageError",
    "NeverMatchesError",
    "Number",
    "ParameterError",
    "PatternError",
    "Profile",
    "ReadOnlyError",
    "Schema",
    "SchemaError",
    "SparkError",
    "SubscriptionError",
    "TableError",
    "Text",
    "ThatchError",
    "UnknownSubscriptionError",
    "attr",
    "circle",
    "parse",
    "pattern_of",
    "polygon",
    "within",
]
