"""How often literals hold in events: assumed from their form, counted by searches, carried from segment to segment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from thatch.compiled.records import Doubles, Int64s
from thatch.matching.segments.rules.draft import RuleTable
from thatch.matching.segments.rules.joining import same_literals
from thatch.matching.segments.rules.literals import (
    CONTAINS,
    EQUAL,
    NUMBER,
    NUMBER_LIST,
    PATTERN,
    PREFIX,
    SUFFIX,
    TEXT_LIST,
)

__all__ = ["Counted", "LiteralShares"]

_ASSUMED = {
    EQUAL: 0.002,
    PREFIX: 0.01,
    SUFFIX: 0.005,
    NUMBER: 0.02,
    TEXT_LIST: 0.1,
    NUMBER_LIST: 0.1,
}  # shares of events, before any was seen
_IN_TEXT = {1: 0.5, 2: 0.2, 3: 0.06, 4: 0.02}  # by length; of longer needles `_LONG`
_LONG = 0.005


Counted = tuple[RuleTable, "LiteralShares", int]  # what searches of so many events counted of a table


@dataclass(frozen=True, slots=True)
class LiteralShares:
    """The share of events in which each literal held and each attribute had each class, if any were counted."""

    atoms: Doubles
    classes: Doubles
    text_bytes: Doubles  # of each attribute, an event

    @classmethod
    def assumed(cls, table: RuleTable) -> LiteralShares:
        """LiteralShares for events of which nothing is known."""
        sizes = np.diff(table.atom_text.offsets).tolist()
        kinds = (table.atom_kind & 7).tolist()
        atoms = [
            _IN_TEXT.get(size, _LONG) if kind in (CONTAINS, PATTERN) else _ASSUMED[kind]
            for kind, size in zip(kinds, sizes, strict=True)
        ]
        attributes = len(table.attributes)
        classes = np.tile(np.array([0.5, 0.05, 0.2, 0.2, 0.01, 0.3, 0.5, 0.0]), attributes)
        return cls(np.array(atoms, np.float64), classes, np.zeros(attributes))

    @classmethod
    def carried(cls, table: RuleTable, sources: Iterable[Counted]) -> LiteralShares:
        """The shares of a table whose rules come from others, as far as searches counted there; else as assumed."""
        shares = cls.assumed(table)
        known = [*sources]
        places = same_literals(table, [source for source, _, _ in known])
        local = {number: own for own, number in enumerate(table.attributes.tolist())}
        weights, class_weights = np.zeros(len(table.atom_kind), np.int64), np.zeros(len(local), np.int64)
        for own, (source, counted, events) in zip(places, known, strict=True):
            _blend(shares.atoms, weights, own, counted.atoms, events)
            attributes = np.array([local.get(each, -1) for each in source.attributes.tolist()], np.int64)
            for into, given in ((shares.classes, counted.classes), (shares.text_bytes, counted.text_bytes)):
                width = len(into) // max(len(local), 1)
                for part in range(width):
                    _blend(into[part::width], class_weights.copy(), attributes, given[part::width], events)
            np.add.at(class_weights, attributes[attributes >= 0], events)
        return shares


def _blend(into: Doubles, weights: Int64s, places: Int64s, shares: Doubles, events: int) -> None:
    """Average shares into those at some places, by how many events each was counted in; places below 0 are left out."""
    known = np.flatnonzero(places >= 0)
    at, before = places[known], weights[places[known]]
    into[at] = (into[at] * before + shares[known] * events) / (before + events)
    weights[at] += events
