"""Coordinates: filters as boxes of whole numbers, and back from a number to a place on an attribute's line."""

from __future__ import annotations

from thatch.reduction.coordinates.coordinates import Coordinates, OnRelabel

__all__ = ["Coordinates", "OnRelabel"]
