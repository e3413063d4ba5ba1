"""Small numbers for links and clients, as labels of what came from them."""

from __future__ import annotations

from collections.abc import KeysView
from typing import Generic, TypeVar

__all__ = ["HopNumbers"]

H = TypeVar("H")


class HopNumbers(Generic[H]):
    """Small numbers for whoever has entries; one that has none any more gives its number back."""

    def __init__(self) -> None:
        self._number: dict[H, int] = {}
        self._who: list[H | None] = []
        self._sizes: list[int] = []
        self._free: list[int] = []

    def __getitem__(self, number: int) -> H:
        found = self._who[number]
        assert found is not None
        return found

    def find(self, who: H) -> int | None:
        """The number of somebody, None if there is none."""
        return self._number.get(who)

    def take(self, who: H) -> int:
        """The number of somebody for one more entry."""
        number = self._number.get(who)
        if number is None:
            if not self._free:
                self._free.append(len(self._who))
                self._who.append(None)
                self._sizes.append(0)
            number = self._number[who] = self._free.pop()
            self._who[number] = who
        self._sizes[number] += 1
        return number

    def give_back(self, number: int) -> None:
        """Count one entry less."""
        self._sizes[number] -= 1
        if not self._sizes[number]:
            del self._number[self[number]]
            self._who[number] = None
            self._free.append(number)

    def all(self) -> KeysView[H]:
        """All that have a number."""
        return self._number.keys()
