"""Long lists of values, and intervals of texts, as one literal each: sorted and packed, so that a kernel finds a value by halving."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from thatch.compiled.records import Doubles, Int64s, Uint8s
from thatch.matching.arrays import starts_of
from thatch.model.lines import NUMBERS, TEXTS, TOP, Constraint, Cut, intersect, intervals, is_single

__all__ = [
    "BACKWARD_CUTS",
    "CUTS",
    "VALUES",
    "has_long_list",
    "is_listed",
    "is_long_list",
    "pack_cuts",
    "pack_numbers",
    "pack_texts",
    "unpacked_numbers",
    "unpacked_texts",
]

VALUES, CUTS, BACKWARD_CUTS = range(3)  # what a list of texts says, see `pack_texts` and `pack_cuts`

_LONG = 1_000  # values from which on a list is one literal


def is_long_list(constraint: Constraint) -> bool:
    """Whether a constraint says nothing but many single values."""
    return len(constraint) > 2 * _LONG and all(is_single(low, high) for low, high in intervals(constraint))


def has_long_list(constraint: Constraint) -> bool:
    """Whether a constraint has many single texts or numbers, and no others of that type."""
    return len(constraint) > 2 * _LONG and any(
        is_long_list(intersect(constraint, segment)) for segment in (NUMBERS, TEXTS)
    )


def pack_texts(texts: Sequence[str], form: int = VALUES) -> bytes:
    """Sorted texts: what they say, how many, where each begins and the last one ends, and all of them in UTF-8."""
    encoded = [text.encode() for text in texts]
    header = np.array([form, len(encoded), *starts_of([*map(len, encoded)])], np.int64)
    return header.tobytes() + b"".join(encoded)


def pack_cuts(cuts: Sequence[Cut], *, is_back: bool) -> bytes:
    """The ends of intervals of texts: a text lies in one of them if it is not below an odd number of these texts.

    A cut just behind a text is one just before the next text in order, which has one character more. With `is_back`,
    texts are read backwards, and the ends are kept backwards too.
    """
    texts = ["" if len(cut) == 1 else cut[1] + "\0" * cut[2] for cut in cuts if cut != TOP]
    return pack_texts(
        [text[::-1] for text in texts] if is_back else texts, BACKWARD_CUTS if is_back else CUTS
    )


def unpacked_texts(packed: bytes) -> tuple[int, Int64s, Uint8s]:
    """What the texts say, where each begins and the last one ends, and all texts."""
    form, count = np.frombuffer(packed, np.int64, 2).tolist()
    offsets = np.frombuffer(packed, np.int64, count + 1, 16)
    return form, offsets, np.frombuffer(packed, np.uint8, offset=8 * (count + 3))


def is_listed(packed: bytes, text: str) -> bool:
    """Whether a list has a text, or one of its intervals does: the definition of what kernels find by halving."""
    form, offsets, blob = unpacked_texts(packed)
    texts = [blob[start:end].tobytes().decode() for start, end in pairwise(offsets.tolist())]
    if form == VALUES:
        return text in texts
    if form == BACKWARD_CUTS:
        texts, text = [each[::-1] for each in texts], text[::-1]
    return sum(each <= text for each in texts) % 2 == 1


def pack_numbers(numbers: Sequence[float]) -> bytes | None:
    """Sorted numbers as doubles; None if one is none."""
    doubles = [*map(float, numbers)]
    if any(double != number for double, number in zip(doubles, numbers, strict=True)):
        return None
    return (np.array(doubles, np.float64) + 0.0).tobytes()  # there is one zero


def unpacked_numbers(packed: bytes) -> Doubles:
    """The numbers."""
    return np.frombuffer(packed, np.float64)
