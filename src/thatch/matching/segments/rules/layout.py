"""Under which literals rules wait, and the tests that decide them once they are candidates.

A rule waits for the cheapest test that it cannot do without: of children that must all hold the rarest, of alternatives
all together. How rare a literal is comes from counts of earlier searches or, before there are any, from its form. The
literals of a test are a group, so that a test reads one stamp; literals that are frequent and in many groups are groups
of their own, as each time that one holds all its groups are marked.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.matching.arrays import starts_of
from thatch.matching.segments.rules.draft import ALL_OF, LEAF, RuleTable
from thatch.matching.segments.rules.literals import (
    ALL_CLASSES,
    CONTAINS,
    PATTERN,
    TEXT_CLASS,
)
from thatch.matching.segments.rules.records import ASKED, NO, SCANNED, YES, TextRecord
from thatch.matching.segments.rules.shares import LiteralShares

__all__ = ["lay_out"]

_BYTE, _CANDIDATE = 1.0, 30.0  # nanoseconds to scan a byte of text, and to decide a rule
_MOST_MARKS = 5.0  # groups that an event marks through literals that are in several
_OF_RANGE, _OF_CLASS = 0.3, 0.5

Arrays = dict[str, npt.NDArray[Any]]
Key = tuple[int, int]  # a group and -1, or an attribute and a class
_Node = int | tuple[int, list["_Node"]]  # a test, or a kind of token and children


def lay_out(table: RuleTable, shares: LiteralShares, texts: npt.NDArray[np.int64]) -> Arrays:
    """The arrays of a `RuleRecord` that say what waits for what, and how rules are decided.

    Sets which of the `TextRecord`s in `texts` are scanned for every event.
    """
    return _Layout(table, shares, texts.reshape(-1, TextRecord.width)).arrays()


class _Layout:
    def __init__(self, table: RuleTable, shares: LiteralShares, texts: npt.NDArray[np.int64]) -> None:
        self._table, self._shares, self._texts = table, shares, texts
        self._attributes = table.test_attribute.tolist()
        self._flags = table.test_flags.tolist()
        self._classes: list[int] = table.test_classes.tolist()
        self._asked: list[int] = table.test_asked.tolist()
        self._groups: dict[tuple[int, ...], int] = {}
        kinds = table.atom_kind & 7
        self._is_scanned = ((kinds == CONTAINS) | (kinds == PATTERN)).tolist()
        self._find_groups()
        self._test_shares = [self._share(test) for test in range(len(self._attributes))]
        self._code: list[tuple[int, int, int, int, int, int]] = []
        self._late: set[int] = set()  # attributes whose text is scanned only when a test asks

    # --- groups ------------------------------------------------------------------------------------------------------

    def _find_groups(self) -> None:
        table = self._table
        atom_lists = _lists(table.test_atom_at, table.test_atoms)
        needle_lists = _lists(table.test_needle_at, table.test_needles)
        distinct = {tuple(each) for each in (*atom_lists, *needle_lists) if each}
        uses = Counter(atom for each in distinct for atom in each)
        marks = {atom: self._shares.atoms[atom] * used for atom, used in uses.items() if used > 1}
        single: set[int] = set()
        total = sum(marks.values())
        for atom in sorted(marks, key=lambda each: marks[each], reverse=True):
            if total <= _MOST_MARKS:
                break
            single.add(atom)
            total -= marks[atom]
        self._parts = [self._groups_of(each, single) for each in atom_lists]
        self._needle_parts = [self._groups_of(each, single) for each in needle_lists]
        self._scans = [
            any(self._is_scanned[atom] for atom in (*atoms, *needles))
            for atoms, needles in zip(atom_lists, needle_lists, strict=True)
        ]
        self._atom_lists, self._needle_lists = atom_lists, needle_lists

    def _groups_of(self, atoms: Sequence[int], single: set[int]) -> list[int]:
        """The groups of which one is marked if one of the literals holds."""
        found = [(atom,) for atom in atoms if atom in single]
        rest = tuple(atom for atom in atoms if atom not in single)
        return [
            self._groups.setdefault(each, len(self._groups)) for each in (*found, *([rest] if rest else []))
        ]

    def _share(self, test: int) -> float:
        """About the share of events in which a test holds."""
        atoms = self._shares.atoms
        total = float(sum(atoms[each] for each in (*self._atom_lists[test], *self._needle_lists[test])))
        at = 8 * self._attributes[test]
        asked = self._asked[test] & ~TEXT_CLASS if self._needle_lists[test] else self._asked[test]
        for kind in range(7):
            if (self._classes[test] | asked) >> kind & 1:
                total += float(self._shares.classes[at + kind])
        if self._table.test_range_at[test + 1] > self._table.test_range_at[test]:
            total += _OF_RANGE * float(self._shares.classes[at + 5])
        total = min(total, 1.0)
        return 1.0 - total if self._flags[test] & 2 else total

    # --- what rules wait for -----------------------------------------------------------------------------------------

    def arrays(self) -> Arrays:
        trees = [self._tree(rule) for rule in range(len(self._table.slots))]
        covers = [self._cover(tree, frozenset()) for tree in trees]
        covers = self._without_costly_scans(trees, covers)
        by_group: dict[int, list[int]] = defaultdict(list)
        by_class: dict[int, list[int]] = defaultdict(list)
        always, eager = [], set()
        for rule, (_, keys) in enumerate(covers):
            if keys is None:
                always.append(rule)
                continue
            for test in keys:
                attribute = self._attributes[test]
                if self._scans[test]:
                    eager.add(attribute)
                for kind in range(1, 7):
                    if self._waiting_classes(test) >> kind & 1:
                        by_class[8 * attribute + kind].append(rule)
                for group in self._waiting_groups(test):
                    by_group[group].append(rule)
        for record in self._texts:
            attribute = int(record[TextRecord.attribute])
            # All texts of an event pass by only once.
            record[TextRecord.is_eager] = attribute in eager or attribute == self._table.anywhere[0]
        self._late = {
            int(each[TextRecord.attribute])
            for each in self._texts
            if each[TextRecord.has_grams] and not each[TextRecord.is_eager]
        }
        starts = [self._emit(tree, YES, NO) for tree in trees]
        group_at, atom_groups = self._groups_by_atom()
        rule_at, group_rules = _columns(by_group, len(self._groups))
        class_at, class_rules = _columns(by_class, 8 * len(self._table.attributes))
        return {
            "group_at": group_at,
            "atom_groups": atom_groups,
            "rule_at": rule_at,
            "group_rules": group_rules,
            "class_at": class_at,
            "class_rules": class_rules,
            "tests": np.array(self._code, np.int32).reshape(-1),
            "test_at": np.array(starts, np.int32),
            "always": np.array(always, np.int32),
        }

    def _waiting_classes(self, test: int) -> int:
        """Classes of values for which a test may hold, besides those whose literals are waited for."""
        if self._flags[test] & 2:
            return ALL_CLASSES & ~self._classes[test]
        found, asked = self._classes[test], self._asked[test]
        found |= asked & ~TEXT_CLASS if self._needle_lists[test] else asked
        if self._table.test_range_at[test + 1] > self._table.test_range_at[test]:
            found |= 1 << 5
        return found

    def _waiting_groups(self, test: int) -> list[int]:
        return [] if self._flags[test] & 2 else [*self._parts[test], *self._needle_parts[test]]

    def _cover(self, tree: _Node, banned: frozenset[int]) -> tuple[float, tuple[int, ...] | None]:
        """Tests of which one holds wherever the rule does, and their share of events; None if there are no such."""
        if isinstance(tree, int):
            is_late = self._scans[tree] and self._attributes[tree] in banned and not self._flags[tree] & 2
            if self._waiting_classes(tree) & 1 or is_late:
                return 1.0, None
            return self._test_shares[tree] + 1e-5 * len(self._atom_lists[tree]), (tree,)
        kind, children = tree
        parts = [self._cover(child, banned) for child in children]
        if kind == ALL_OF:
            return min(parts, key=lambda each: (each[1] is None, each[0]), default=(1.0, None))
        if any(keys is None for _, keys in parts):
            return 1.0, None
        return sum(share for share, _ in parts), tuple(key for _, keys in parts for key in keys or ())

    def _without_costly_scans(
        self, trees: Sequence[_Node], covers: list[tuple[float, tuple[int, ...] | None]]
    ) -> list[tuple[float, tuple[int, ...] | None]]:
        """Let rules wait for something else where that costs less than to scan a text for every event."""
        lengths = self._shares.text_bytes
        waiting: dict[int, list[int]] = defaultdict(list)
        for rule, (_, keys) in enumerate(covers):
            for attribute in {self._attributes[key] for key in keys or () if self._scans[key]}:
                waiting[attribute].append(rule)
        banned: set[int] = set()
        for attribute in sorted(waiting, key=lambda each: float(lengths[each]), reverse=True):
            others = [
                self._cover(trees[rule], frozenset({*banned, attribute})) for rule in waiting[attribute]
            ]
            worse = sum(
                (other[0] if other[1] is not None else 1.0) - covers[rule][0]
                for other, rule in zip(others, waiting[attribute], strict=True)
            )
            if lengths[attribute] and _CANDIDATE * worse < _BYTE * lengths[attribute]:
                banned.add(attribute)
                for other, rule in zip(others, waiting[attribute], strict=True):
                    covers[rule] = other
        return covers

    def _groups_by_atom(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        groups: dict[int, list[int]] = defaultdict(list)
        for atoms, group in self._groups.items():
            for atom in atoms:
                groups[atom].append(group)
        return _columns(groups, len(self._table.atom_kind))

    # --- tests ---------------------------------------------------------------------------------------------------------

    def _tree(self, rule: int) -> _Node:
        """The tree of a rule, of the tokens in which it is kept."""
        tokens = self._table.tokens[self._table.token_at[rule] : self._table.token_at[rule + 1]].tolist()
        above: list[tuple[int, list[_Node], int]] = []  # parents that wait for children, and for how many
        done: _Node | None = None
        for token in tokens:
            count, kind = token >> 2, token & 3
            done = count if kind == LEAF else (kind, [])
            if kind != LEAF and count:
                above.append((kind, [], count))
                continue
            while above:
                parent, children, wanted = above[-1]
                children.append(done)
                if len(children) < wanted:
                    break
                above.pop()
                done = (parent, children)
        assert done is not None
        return done

    def _emit(self, tree: _Node, yes: int, no: int) -> int:
        """Append the tests of a tree, last ones first; where the first one stands."""
        if isinstance(tree, int):
            return self._emit_test(tree, yes, no)
        kind, children = tree
        start = yes if kind == ALL_OF else no
        for child in sorted(children, key=lambda each: self._turn(each, kind), reverse=True):
            start = self._emit(child, yes, no)
            yes, no = (start, no) if kind == ALL_OF else (yes, start)
        return start

    def _turn(self, tree: _Node, kind: int) -> tuple[int, float]:
        """When a child is tested: what scans a text or asks the filter late, what decides most first."""
        share = self._estimate(tree)
        return self._lateness(tree), share if kind == ALL_OF else -share

    def _lateness(self, tree: _Node) -> int:
        if isinstance(tree, int):
            if self._asked[tree]:
                return 2
            return int(self._scans[tree] and self._attributes[tree] in self._late)
        return max(map(self._lateness, tree[1]), default=0)

    def _estimate(self, tree: _Node) -> float:
        if isinstance(tree, int):
            return self._test_shares[tree]
        shares = [self._estimate(child) for child in tree[1]]
        if tree[0] == ALL_OF:
            return min(shares, default=1.0)
        return min(sum(shares), 1.0)

    def _emit_test(self, test: int, yes: int, no: int) -> int:
        """Append the tests of one leaf: what literals decide, then whether the filter must be asked."""
        attribute, flags = self._attributes[test], self._flags[test]
        if flags & 2:
            yes, no = no, yes
        scanned = SCANNED if attribute in self._late else 0
        asked = self._asked[test]
        if asked:
            # A negated leaf that may have to be asked must be, whichever way the answer goes.
            no = self._append(attribute, ASKED | asked, -1, -1, no, no)
            needles = self._needle_parts[test]
            if needles:
                ask, no = no, self._code[no][5]
                for group in needles:
                    no = self._append(attribute, scanned, group, -1, ask, no)
        ranges = test if self._table.test_range_at[test + 1] > self._table.test_range_at[test] else -1
        groups: list[int] = self._parts[test] or [-1]
        start = no
        for number, group in enumerate(groups):
            is_last = number == len(groups) - 1
            classes = self._classes[test] if is_last else 0
            start = self._append(attribute, classes | scanned, group, ranges if is_last else -1, yes, no)
            no = start
        return start

    def _append(self, attribute: int, flags: int, group: int, ranges: int, yes: int, no: int) -> int:
        self._code.append((attribute, flags, group, ranges, yes, no))
        return len(self._code) - 1


def _lists(at: npt.NDArray[np.int64], flat: npt.NDArray[np.int32]) -> list[list[int]]:
    """Lists that stand one after the other."""
    numbers, ends = flat.tolist(), at.tolist()
    return [numbers[start:end] for start, end in pairwise(ends)]


def _columns(lists: dict[int, list[int]], count: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Lists by number as columns: where each begins, and all of them one after the other."""
    sizes = np.zeros(count, np.int64)
    for number, each in lists.items():
        sizes[number] = len(each)
    flat: Iterable[int] = (value for number in sorted(lists) for value in lists[number])
    return starts_of(sizes, np.int32), np.fromiter(flat, np.int32, int(sizes.sum()))
