"""Coordinates turn filters into boxes of whole numbers, and numbers back into values of attributes."""

from __future__ import annotations

from thatch.reduction.coordinates.coordinates import Coordinates, OnRelabel

__all__ = ["Coordinates", "OnRelabel"]
