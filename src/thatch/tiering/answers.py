"""An answer in two parts: what memory says is there at once, what the database says follows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

__all__ = ["Answer"]


class Answer:
    """Who wants an event. Iterated, it gives first the fast tier's, then the slow tier's; nobody twice.

    Parameters
    ----------
    fast : who the fast tier has found
    ask : asks the slow tier
    """

    def __init__(self, fast: list[str], ask: Callable[[], list[str]]) -> None:
        self.fast = fast
        self._ask = ask
        self._slow: list[str] | None = None

    def slow(self) -> list[str]:
        """Whom the fast tier does not have; asked once.

        Raises
        ------
        StoreError
            If the database is away: `fast` is right as far as it goes, and this may be called again.
        """
        if self._slow is None:
            known = set(self.fast)
            self._slow = [each for each in dict.fromkeys(self._ask()) if each not in known]
        return self._slow

    def __iter__(self) -> Iterator[str]:
        yield from self.fast
        yield from self.slow()
