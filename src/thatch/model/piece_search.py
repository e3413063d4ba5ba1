"""Find a piece of a wildcard pattern in a text, in time that grows with the text and not with text × piece.

Literal pieces are left to `str.find`, which is linear. A piece with `_` in it is left to `re` while that is cheap; in
the worst case `re` compares the whole piece at every place. Beyond, all places are decided at once: the sum

    Σ wanted[j] · (piece[j] − text[i + j])²

is zero exactly where the piece stands at `i`. Multiplied out it is two correlations, which the Fourier transform gives in
O(n log n). All its terms are whole numbers, so rounding to the nearest makes the answer exact.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Finder", "Piece", "finder", "first_by_transform"]

_CHEAP = 1 << 20  # comparisons that `re` may take
_SHORT = 1 << 12  # characters that `re` may compile
_NARROWEST = 1 << 14

Piece = tuple[str | None, ...]


class Finder:
    """Looks for one piece; `None` in it stands for any one character."""

    __slots__ = ("_form", "_literal", "_piece", "_runs")

    def __init__(self, piece: Piece) -> None:
        self._piece = piece
        self._runs = _runs(piece)
        self._literal = "".join(filter(None, piece)) if None not in piece else None
        self._form: re.Pattern[str] | None = None

    def stands_at(self, text: str, place: int) -> bool:
        """Whether the piece stands there; the text is long enough for it."""
        return all(text.startswith(run, place + at) for at, run in self._runs)

    def end_of_first(self, text: str, place: int) -> int:
        """Where the first one ends that begins at `place` or later, -1 if there is none."""
        at = self._first(text, place) if len(text) - place >= len(self._piece) else -1
        return at if at < 0 else at + len(self._piece)

    def _first(self, text: str, place: int) -> int:
        if self._literal is not None:
            return text.find(self._literal, place)
        size = len(self._piece)
        if size <= _SHORT and size * (len(text) - place) <= _CHEAP:
            if self._form is None:
                self._form = _form(self._piece)
            found = self._form.search(text, place)
            return -1 if found is None else found.start()
        if any(text.find(run, place) < 0 for _, run in self._runs[:1]):
            return -1
        return first_by_transform(self._piece, text, place)


@lru_cache(maxsize=4_096)
def finder(piece: Piece) -> Finder:
    """What looks for a piece."""
    return Finder(piece)


def _runs(piece: Piece) -> list[tuple[int, str]]:
    """The literal texts between the `_` of a piece, and where in it they begin; the longest first."""
    written = "".join(part or "_" for part in piece)
    ends = [at for at, part in enumerate(piece) if part is None]
    starts = [0, *(end + 1 for end in ends)]
    runs = [(start, written[start:end]) for start, end in zip(starts, [*ends, len(piece)], strict=True)]
    return sorted((run for run in runs if run[1]), key=lambda run: -len(run[1]))


def _form(piece: Piece) -> re.Pattern[str]:
    """A regular expression without any repetition in it, so that it cannot backtrack."""
    return re.compile("".join("." if part is None else re.escape(part) for part in piece), re.DOTALL)


def first_by_transform(piece: Piece, text: str, place: int) -> int:
    """Where the piece first stands, -1 if nowhere. The text is long enough for it; windows of the text overlap by the length of the piece."""
    size = len(piece)
    width = max(_NARROWEST, 1 << (2 * size).bit_length())
    wanted = np.array([part is not None for part in piece])
    codes, own = _codes(text[place:]), _codes("".join(part or "\0" for part in piece))
    digits = range(
        0, max(int(codes.max()), int(own.max()), 1).bit_length(), 8
    )  # eight bits at a time stay exact
    spectra = [_spectrum(np.where(wanted, _digit(own, at), 0), width).conj() for at in digits]
    any_spectrum = _spectrum(wanted, width).conj()
    constant = sum(float(np.square(_digit(own, at)[wanted]).sum()) for at in digits)
    for start in range(0, len(codes) - size + 1, width - size + 1):
        parts = [_digit(codes[start : start + width], at) for at in digits]
        product = any_spectrum * _spectrum(sum(np.square(part) for part in parts), width)
        for spectrum, part in zip(spectra, parts, strict=True):
            product -= 2 * spectrum * _spectrum(part, width)
        places = min(width, len(codes) - start) - size + 1
        apart = np.fft.irfft(product, width)[:places] + constant
        found = np.flatnonzero(apart < 0.5)
        if found.size:
            return place + start + int(found[0])
    return -1


def _codes(text: str) -> npt.NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _digit(codes: npt.NDArray[np.uint32], at: int) -> npt.NDArray[np.float64]:
    return ((codes >> np.uint32(at)) & np.uint32(255)).astype(np.float64)


def _spectrum(values: Any, width: int) -> npt.NDArray[np.complex128]:
    return np.fft.rfft(values, width)
