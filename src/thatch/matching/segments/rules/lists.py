"""Long lists of values as one literal each: sorted and packed, so that a kernel finds a value by halving."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thatch.compiled.records import Doubles, Int64s, Uint8s
from thatch.matching.arrays import starts_of
from thatch.model.lines import NUMBERS, TEXTS, Constraint, intersect, intervals, is_single

__all__ = [
    "has_long_list",
    "is_long_list",
    "pack_numbers",
    "pack_texts",
    "unpacked_numbers",
    "unpacked_texts",
]

_LONG = 1_000  # values from which on a list is one literal


def is_long_list(constraint: Constraint) -> bool:
    """Whether a constraint says nothing but many single values."""
    return len(constraint) > 2 * _LONG and all(is_single(low, high) for low, high in intervals(constraint))


def has_long_list(constraint: Constraint) -> bool:
    """Whether a constraint has many single texts or numbers, and no others of that type."""
    return len(constraint) > 2 * _LONG and any(
        is_long_list(intersect(constraint, segment)) for segment in (NUMBERS, TEXTS)
    )


def pack_texts(texts: Sequence[str]) -> bytes:
    """Sorted texts: how many, where each begins and the last one ends, and all of them in UTF-8."""
    encoded = [text.encode() for text in texts]
    header = np.array([len(encoded), *starts_of([*map(len, encoded)])], np.int64)
    return header.tobytes() + b"".join(encoded)


def unpacked_texts(packed: bytes) -> tuple[Int64s, Uint8s]:
    """Where each text begins and the last one ends, and all texts."""
    count = int.from_bytes(packed[:8], "little")
    offsets = np.frombuffer(packed, np.int64, count + 1, 8)
    return offsets, np.frombuffer(packed, np.uint8, offset=8 * (count + 2))


def pack_numbers(numbers: Sequence[float]) -> bytes | None:
    """Sorted numbers as doubles; None if one is none."""
    doubles = [*map(float, numbers)]
    if any(double != number for double, number in zip(doubles, numbers, strict=True)):
        return None
    return (np.array(doubles, np.float64) + 0.0).tobytes()  # there is one zero


def unpacked_numbers(packed: bytes) -> Doubles:
    """The numbers."""
    return np.frombuffer(packed, np.float64)
