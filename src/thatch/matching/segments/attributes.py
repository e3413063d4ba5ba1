"""The numbers of an index's attributes, by key and by the names that events use."""

from __future__ import annotations

from collections.abc import Iterable

from thatch.model.names import ANYWHERE, base_of, name_of, split
from thatch.model.values import is_text

__all__ = ["Attributes"]

_MOST_NAMES = 100_000  # names without subscriptions that are remembered


class Attributes:
    """Attributes by key and by the name that an event gives them; only ever grows, so that readers need no lock."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self.number: dict[str, int] = {key: number for number, key in enumerate(keys)}
        self.keys: list[str] = []
        # Name in an event -> eight times the attribute's number, negative for names that no subscription uses.
        self.by_name: dict[str, int] = {}
        self.derived_by_name: dict[str, tuple[tuple[str, int], ...]] = {}
        # Name -> the codes of a text: its own and, if nothing else is derived from it, that of the reversed text.
        self.texts_by_name: dict[str, tuple[int, ...]] = {}
        # Name -> the code of a text of `reverse(name)`, if nothing else is derived from it: the most common case.
        self.reversed_by_name: dict[str, int] = {}
        self.anywhere = -8  # eight times the number of what stands for all texts of an event
        self.learn()

    def __len__(self) -> int:
        return len(self.number)

    def learn(self) -> None:
        """Index the attributes that got a number since the last call by name."""
        if len(self.keys) == len(self.number):
            return
        for key in list(self.number)[len(self.keys) :]:
            name = name_of(base_of(key))
            if key == ANYWHERE:
                self.anywhere = 8 * self.number[key]
            elif key[-1] != ")":
                self.by_name[name] = 8 * self.number[key]
            else:
                known = tuple(each for each in self.derived_by_name.get(name, ()) if each[0] != key)
                self.reversed_by_name.pop(name, None)
                if not known and split(key)[0] == ("reverse",):
                    self.reversed_by_name[name] = 8 * self.number[key] + 6
                self.derived_by_name[name] = (*known, (key, self.number[key]))
            if key != ANYWHERE:
                self._learn_texts(name)
            self.keys.append(key)  # last: a call that is interrupted before this is done again

    def _learn_texts(self, name: str) -> None:
        own, backwards = self.by_name.get(name, -8), self.reversed_by_name.get(name)
        if own < 0 or (backwards is None and name in self.derived_by_name):
            self.texts_by_name.pop(name, None)
        else:
            self.texts_by_name[name] = (own + 6,) if backwards is None else (own + 6, backwards)

    def ignore(self, names: Iterable[str]) -> None:
        """Remember names that no subscription uses, up to a limit, so that the next event with them is quick."""
        if len(self.by_name) < _MOST_NAMES + len(self.number):
            for name in names:
                if type(name) is str and is_text(name):
                    self.by_name.setdefault(name, -8)
