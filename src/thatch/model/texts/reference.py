"""The slow definition: try every text of some letters up to a length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from thatch.model.lines import point
from thatch.model.texts.deciding import passes
from thatch.model.trees import ValueTest

__all__ = ["passing_texts", "texts_of"]


def texts_of(letters: Iterable[str], longest: int) -> Iterator[str]:
    """All texts of some letters, the shortest first."""
    for length in range(longest + 1):
        yield from map("".join, product(tuple(letters), repeat=length))


def passing_texts(tests: Sequence[ValueTest], letters: Iterable[str], longest: int) -> Iterator[str]:
    """All texts that pass all tests."""
    for text in texts_of(letters, longest):
        if all(passes(test, point(text)) for test in tests):
            yield text
