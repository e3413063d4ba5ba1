"""Bytes that the fast tier may take, and the marks between which it moves."""

from __future__ import annotations

from dataclasses import dataclass, replace

from thatch.errors import ParameterError, shown

__all__ = ["Budget"]

_LEAST = 64 << 10  # bytes below the low mark with which a few subscriptions can live


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A budget with its water marks, as shares of it.

    Merging an index of segments takes about three times its size for a moment, which is why the marks lie well below the
    budget; diagrams can do with higher ones.

    Parameters
    ----------
    size : bytes that everything in memory may take, merging included
    high : above this share of it clusters move to the cold tier
    low : until this share is reached; and they come back if they fit below it

    Raises
    ------
    ParameterError
        If the marks are not in order.
    """

    size: int
    high: float = 0.32
    low: float = 0.24

    def __post_init__(self) -> None:
        if not isinstance(self.size, int) or isinstance(self.size, bool) or self.size <= 0:
            raise ParameterError("a number of bytes above 0", shown(self.size), "budget")
        if not 0 < self.low < self.high <= 1:
            raise ParameterError("0 < low < high <= 1", f"low {self.low!r} and high {self.high!r}", "budget")

    @property
    def high_mark(self) -> int:
        """Bytes at which moving begins."""
        return int(self.size * self.high)

    @property
    def low_mark(self) -> int:
        """Bytes at which it ends."""
        return int(self.size * self.low)

    def beside(self, taken: int) -> Budget:
        """What is left for subscriptions beside bytes that are taken whatever happens, with the same marks.

        Raises
        ------
        ParameterError
            If nothing has room there.
        """
        least = taken + int(_LEAST / self.low)
        if self.size < least:
            expected = f"at least {least:,} bytes, of which {taken:,} are taken before the first subscription"
            raise ParameterError(expected, f"{self.size:,}", "budget")
        return replace(self, size=self.size - taken)
