"""Automata that read a text letter by letter, built as they are asked.

A state is a whole number; 0 is the state from which no text is accepted any more. A machine tells which letters matter in
a state: all others do the same there, or, for a machine that compares order, all others that lie between the same two.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Protocol

from thatch.model.derived import fold
from thatch.model.lines import TEXTS, Constraint, intersect
from thatch.model.wildcards import Wildcard

__all__ = ["FoldedMachine", "FormMachine", "LineMachine", "Machine"]

_ANY = ""  # a place of a pattern where any text may stand; `None` stands for one character


class Machine(Protocol):
    """Reads a text; 0 is the state without hope."""

    start: int
    is_ordered: bool
    is_folded: bool

    def step(self, state: int, letter: str) -> int:
        """The state after one more letter."""
        ...

    def accepts(self, state: int) -> bool:
        """Whether the text read so far is one of the machine's."""
        ...

    def is_all(self, state: int) -> bool:
        """Whether every text from here on is accepted."""
        ...

    def relevant(self, state: int) -> Iterable[str]:
        """The letters that do something of their own in a state."""
        ...

    def letters(self) -> set[str]:
        """The letters that are relevant in any state."""
        ...


class FormMachine:
    """Texts of a wildcard pattern's form. A state is a set of places in the pattern, as bits.

    From a `%` on, earlier places add nothing and are dropped.
    """

    __slots__ = ("_at", "_end", "_many", "_memory", "_one", "_tokens", "start")

    is_ordered = False
    is_folded = False

    def __init__(self, form: Wildcard) -> None:
        tokens: list[str | None] = []
        for number, piece in enumerate(form.pieces):
            if number:
                tokens.append(_ANY)
            tokens += piece
        self._tokens = tokens
        self._end = 1 << len(tokens)
        self._many = self._one = 0
        self._at: dict[str, int] = {}
        for place, token in enumerate(tokens):
            if token is None:
                self._one |= 1 << place
            elif token == _ANY:
                self._many |= 1 << place
            else:
                self._at[token] = self._at.get(token, 0) | 1 << place
        self._memory: dict[tuple[int, str], int] = {}
        self.start = self._closed(1)

    def _closed(self, state: int) -> int:
        state |= (state & self._many) << 1
        last = (state & self._many).bit_length()
        return state >> (last - 1) << (last - 1) if last else state

    def step(self, state: int, letter: str) -> int:
        known = self._memory.get((state, letter))
        if known is None:
            onwards = state & (self._at.get(letter, 0) | self._one)
            known = self._closed((state & self._many) | onwards << 1)
            self._memory[state, letter] = known
        return known

    def accepts(self, state: int) -> bool:
        return bool(state & self._end)

    def is_all(self, state: int) -> bool:
        return bool((state & self._many) << 1 & self._end)

    def relevant(self, state: int) -> Iterator[str]:
        while state:
            place = state.bit_length() - 1
            state ^= 1 << place
            if place < len(self._tokens) and (token := self._tokens[place]):
                yield token

    def letters(self) -> set[str]:
        return set(self._at)


class LineMachine:
    """Texts that lie in a constraint. A state is a range of the cuts that begin with what was read."""

    __slots__ = ("_cuts", "_nodes", "_numbers", "start")

    is_ordered = True
    is_folded = False

    def __init__(self, constraint: Constraint) -> None:
        texts = intersect(constraint, TEXTS)
        cuts = [(cut[1], cut[2]) if len(cut) == 3 else ("", 0) for cut in texts if cut != TEXTS[1]]
        self._cuts: list[tuple[str, int]] = cuts
        # States 0 and 1: no cut begins with what was read; below it lies an even or an odd number of cuts.
        self._nodes: list[tuple[int, int, int]] = [(0, 0, 0), (1, 1, 0)]
        self._numbers: dict[tuple[int, int, int], int] = {}
        self.start = self._number(0, len(cuts), 0)

    def _number(self, low: int, high: int, depth: int) -> int:
        if low == high:
            return low & 1
        node = (low, high, depth)
        number = self._numbers.get(node)
        if number is None:
            number = self._numbers[node] = len(self._nodes)
            self._nodes.append(node)
        return number

    def step(self, state: int, letter: str) -> int:
        if state < 2:
            return state
        low, high, depth = self._nodes[state]
        low = self._past_read(low, high, depth)
        key = _letter_at(depth)
        return self._number(
            bisect_left(self._cuts, letter, low, high, key=key),
            bisect_right(self._cuts, letter, low, high, key=key),
            depth + 1,
        )

    def _past_read(self, low: int, high: int, depth: int) -> int:
        """Past the cuts at what was read itself, which lie below all longer texts."""
        while low < high and len(self._cuts[low][0]) == depth:
            low += 1
        return low

    def accepts(self, state: int) -> bool:
        if state < 2:
            return state == 1
        low, _, depth = self._nodes[state]
        text, side = self._cuts[low]
        return bool((low + (len(text) == depth and side == 0)) & 1)

    def is_all(self, state: int) -> bool:
        return state == 1

    def relevant(self, state: int) -> Iterator[str]:
        if state < 2:
            return
        low, high, depth = self._nodes[state]
        low = self._past_read(low, high, depth)
        while low < high:
            letter = self._cuts[low][0][depth]
            yield letter
            low = bisect_right(self._cuts, letter, low, high, key=_letter_at(depth))

    def letters(self) -> set[str]:
        return set().union(*(text for text, _ in self._cuts))


class FoldedMachine:
    """Texts whose case-folded form another machine accepts."""

    __slots__ = ("_machine", "is_ordered", "start")

    is_folded = True

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.is_ordered = machine.is_ordered
        self.start = machine.start

    def step(self, state: int, letter: str) -> int:
        for each in fold(letter):
            state = self._machine.step(state, each)
        return state

    def accepts(self, state: int) -> bool:
        return self._machine.accepts(state)

    def is_all(self, state: int) -> bool:
        return self._machine.is_all(state)

    def relevant(self, state: int) -> Iterable[str]:
        return self._machine.relevant(state)

    def letters(self) -> set[str]:
        return self._machine.letters()


@lru_cache(maxsize=256)
def _letter_at(depth: int) -> Callable[[tuple[str, int]], str]:
    return lambda cut: cut[0][depth]
