"""Rules as they are collected: literals, tests and trees, each literal and each test once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from thatch.compiled.records import Doubles, Int32s, Int64s, Uint8s, Uint16s
from thatch.matching.arrays import starts_of
from thatch.matching.segments.columns import Texts
from thatch.matching.segments.rules.literals import NUMBER, Atom, Test, other_tests, test_of
from thatch.model.filters import Filter
from thatch.model.names import ANYWHERE, base_of
from thatch.model.tree_printing import tree_text
from thatch.model.trees import AllOf, AnyOf, Leaf, Tree

__all__ = ["ALL_OF", "ANY_OF", "LEAF", "RuleDraft", "RuleTable"]

LEAF, ALL_OF, ANY_OF = range(
    3
)  # in the lowest two bits of a token; above them the test, or the number of children

FOLDED = 8  # added to the kind of a literal that is read in the folded text

_MOST_LEAST = 2**31 - 1

_Literal = tuple[int, bool, Atom]  # of an attribute, folded or not


class RuleTable(NamedTuple):
    """What rules say, as columns, without how they are found. Lists of lists are given by where each one begins."""

    attributes: Int32s  # numbers of the index
    anywhere: Int32s  # which of them stands for all texts of an event, -1 if none does
    slots: Int64s
    sources: Texts  # the text of each filter
    atom_attribute: Int32s
    atom_kind: Uint8s  # plus 8 if folded
    atom_text: Texts
    atom_number: Doubles
    test_attribute: Int32s
    test_flags: Uint16s  # 1 folded, 2 negated
    test_classes: Uint8s
    test_asked: Uint8s
    test_least: Int32s  # bytes
    test_atom_at: Int64s
    test_atoms: Int32s
    test_needle_at: Int64s
    test_needles: Int32s
    test_range_at: Int64s
    test_ranges: Doubles  # four numbers each
    token_at: Int64s
    tokens: Int32s  # trees in prefix order


class RuleDraft:
    """Collects rules; `number` gives the index's number of an attribute, which may be new."""

    def __init__(self, number: Callable[[str], int]) -> None:
        self._number = number
        self._attributes: dict[str, int] = {}
        self._globals: list[int] = []
        self._atoms: dict[_Literal, int] = {}
        self._tests: dict[tuple[int, Test], int] = {}
        self._leaves: dict[Leaf, list[int]] = {}
        self._tokens: list[int] = []
        self._token_at: list[int] = [0]
        self._slots: list[int] = []
        self._sources: list[bytes] = []

    def __len__(self) -> int:
        return len(self._slots)

    def add(self, slot: int, filter: Filter, source: str | None = None) -> None:
        """Add a rule; `source` is its text, if that is at hand."""
        self._file(filter.tree)
        self._token_at.append(len(self._tokens))
        self._slots.append(slot)
        text = tree_text(filter.tree, filter.schema) if source is None else source
        self._sources.append(text.encode())

    def _file(self, tree: Tree) -> None:
        if isinstance(tree, (AllOf, AnyOf)):
            kind = ALL_OF if isinstance(tree, AllOf) else ANY_OF
            self._tokens.append(len(tree.children) << 2 | kind)
            for child in tree.children:
                self._file(child)
            return
        known = self._leaves.get(tree)
        if known is None:
            known = self._leaves[tree] = self._tests_of_leaf(tree)
        if len(known) > 1:
            self._tokens.append(len(known) << 2 | ALL_OF)
        self._tokens += [test << 2 | LEAF for test in known]

    def _tests_of_leaf(self, leaf: Leaf) -> list[int]:
        """The numbers of tests that all hold wherever a leaf does, of which the first may say that the filter is asked."""
        return [
            self._tests.setdefault((self._attribute(key), test), len(self._tests))
            for key, test in [(leaf.keys[0], test_of(leaf)), *other_tests(leaf)]
        ]

    def _attribute(self, key: str) -> int:
        name = base_of(key)
        known = self._attributes.get(name)
        if known is None:
            known = self._attributes[name] = len(self._attributes)
            self._globals.append(self._number(name))
        return known

    def table(self) -> RuleTable:
        """The rules as columns."""
        atoms, needles, ranges = self._lists()
        literals = list(self._atoms)
        tests = list(self._tests)
        return RuleTable(
            attributes=np.array(self._globals, np.int32),
            anywhere=np.array([self._attributes.get(ANYWHERE, -1)], np.int32),
            slots=np.array(self._slots, np.int64),
            sources=Texts.of(self._sources),
            atom_attribute=np.array([each[0] for each in literals], np.int32),
            atom_kind=np.array([each[2].kind + FOLDED * each[1] for each in literals], np.uint8),
            atom_text=Texts.of([_content(value) for _, _, (_, value) in literals]),
            atom_number=np.array(
                [float(value) if kind == NUMBER else 0.0 for _, _, (kind, value) in literals], np.float64
            ),
            test_attribute=np.array([attribute for attribute, _ in tests], np.int32),
            test_flags=np.array([each.folded + 2 * each.negated for _, each in tests], np.uint16),
            test_classes=np.array([each.classes for _, each in tests], np.uint8),
            test_asked=np.array([each.asked for _, each in tests], np.uint8),
            test_least=np.array([min(each.least, _MOST_LEAST) for _, each in tests], np.int32),
            test_atom_at=starts_of(np.array([*map(len, atoms)], np.int64)),
            test_atoms=_joined(atoms),
            test_needle_at=starts_of(np.array([*map(len, needles)], np.int64)),
            test_needles=_joined(needles),
            test_range_at=starts_of(np.array([*map(len, ranges)], np.int64)),
            test_ranges=np.array([number for each in ranges for one in each for number in one], np.float64),
            token_at=np.array(self._token_at, np.int64),
            tokens=np.array(self._tokens, np.int32),
        )

    def _lists(self) -> tuple[list[list[int]], list[list[int]], list[list[tuple[float, float, bool, bool]]]]:
        """The literals, needles and ranges of each test."""
        atoms, needles, ranges = [], [], []
        for attribute, test in self._tests:
            atoms.append(self._numbers(attribute, test.atoms, folded=test.folded))
            needles.append(
                self._numbers(attribute, test.needles, folded=test.folded)
                + self._numbers(attribute, test.folded_needles, folded=True)
            )
            ranges.append(sorted(test.ranges))
        return atoms, needles, ranges

    def _numbers(self, attribute: int, atoms: Iterable[Atom], *, folded: bool) -> list[int]:
        found = []
        for atom in sorted(atoms):
            literal = (attribute, folded and atom.kind != NUMBER, atom)
            found.append(self._atoms.setdefault(literal, len(self._atoms)))
        return found


def _content(value: str | float | bytes) -> bytes:
    """The bytes that a table keeps of an atom."""
    if isinstance(value, bytes):
        return value
    return value.encode() if isinstance(value, str) else b""


def _joined(lists: list[list[int]]) -> npt.NDArray[np.int32]:
    return np.array([each for one in lists for each in one], np.int32)
