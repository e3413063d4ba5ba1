"""Under which literals rules wait, and the tests that decide them once they are candidates.

A rule waits for the cheapest test that it cannot do without: of children that must all hold the rarest, of alternatives
all together. How rare a literal is comes from counts of earlier searches or, before there are any, from its form.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.compiled.records import Doubles, Int32s, Int64s
from thatch.matching.arrays import starts_of
from thatch.matching.segments.rules.draft import ALL_OF, LEAF, RuleTable
from thatch.matching.segments.rules.groups import LiteralGroups
from thatch.matching.segments.rules.kernels.trees import (
    emit_tests,
    find_ends,
    judge,
    pick_waits,
    waiting_tests,
)
from thatch.matching.segments.rules.literals import (
    ALL_CLASSES,
    NUMBER_CLASS,
    TEXT_CLASS,
)
from thatch.matching.segments.rules.numbering import lists_by, parts_of
from thatch.matching.segments.rules.records import BYTES, LONG, PAIRS, TEST_WIDTH, TextRecord
from thatch.matching.segments.rules.shares import LiteralShares

__all__ = ["lay_out"]

_BYTE, _CANDIDATE = 1.0, 30.0  # nanoseconds to scan a byte of text, and to decide a rule
_PARTS = (LONG, PAIRS, BYTES)
_IS_REACHED = 0.1  # share of candidates of which nothing else is untrue before a text is scanned for them
_OF_RANGE = 0.3
_OF_LITERAL = 1e-5  # share of events that a literal more costs

Arrays = dict[str, npt.NDArray[Any]]
Mask = npt.NDArray[np.bool_]


def lay_out(table: RuleTable, shares: LiteralShares, finding: Arrays) -> Arrays:
    """The arrays of a `RuleRecord` that say what waits for what, and how rules are decided.

    Sets for what the texts of the `TextRecord`s in `finding` are scanned in every event.
    """
    return _Layout(table, shares, finding).arrays()


class _Layout:
    def __init__(self, table: RuleTable, shares: LiteralShares, finding: Arrays) -> None:
        self._table, self._shares = table, shares
        self._texts = finding["texts"].reshape(-1, TextRecord.width)
        self._groups = LiteralGroups.of(table, shares.atoms)
        self._is_negated = (table.test_flags & 2) != 0
        self._has_ranges = np.diff(table.test_range_at) > 0
        self._asked = np.where(
            np.diff(table.test_needle_at) > 0, table.test_asked & (ALL_CLASSES - TEXT_CLASS), table.test_asked
        )
        parts = finding["parts"]
        self._scans = np.zeros(len(table.test_flags), np.uint8)
        for part in _PARTS:
            self._scans |= np.where(self._sums(parts == part) > 0, part, 0).astype(np.uint8)
        self._waiting = self._waiting_classes()
        self._test_shares = self._shares_of_tests()
        self._ends = np.empty(len(table.tokens), np.int32)
        self._parents = np.empty(len(table.tokens), np.int32)
        find_ends(table.tokens, self._ends, self._parents)

    # --- tests ---------------------------------------------------------------------------------------------------------

    def _sums(self, values: npt.NDArray[Any]) -> Doubles:
        """The sum over the literals and needles of each test."""
        table, total = self._table, np.zeros(len(self._table.test_flags))
        for at, atoms in ((table.test_atom_at, table.test_atoms), (table.test_needle_at, table.test_needles)):
            owners = np.repeat(np.arange(len(total)), np.diff(at))
            total += np.bincount(owners, weights=values[atoms].astype(np.float64), minlength=len(total))
        return total

    def _shares_of_tests(self) -> Doubles:
        """About the share of events in which each test holds."""
        table, classes = self._table, self._shares.classes
        total = self._sums(self._shares.atoms)
        at = 8 * table.test_attribute.astype(np.int64)
        for kind in range(7):
            total += np.where((table.test_classes | self._asked) >> kind & 1, classes[at + kind], 0.0)
        total += np.where(self._has_ranges, _OF_RANGE * classes[at + 5], 0.0)
        total = np.minimum(total, 1.0)
        return np.where(self._is_negated, 1.0 - total, total)

    def _waiting_classes(self) -> npt.NDArray[np.uint8]:
        """Classes of values for which a test may hold, besides those whose literals are waited for."""
        table = self._table
        found = table.test_classes | self._asked | np.where(self._has_ranges, NUMBER_CLASS, 0)
        return np.where(self._is_negated, ALL_CLASSES & ~table.test_classes, found).astype(np.uint8)

    # --- what rules wait for -----------------------------------------------------------------------------------------

    def arrays(self) -> Arrays:
        rules, tests, always = self._waits()
        self._choose_scans(tests)
        groups, n_rules = self._groups, len(self._table.slots)
        n_tests = len(self._table.test_flags)
        by_group, by_class = [np.zeros((2, 0), np.int64)], [np.zeros((2, 0), np.int64)]
        is_literal = ~self._is_negated[tests]
        for first in (0, n_tests):  # literals, and needles
            lists = first + tests[is_literal]
            sizes = np.diff(groups.at)[lists]
            numbers = parts_of(groups.numbers, groups.at[lists], sizes)
            by_group.append(np.stack([numbers, np.repeat(rules[is_literal], sizes)]))
        for kind in range(1, 7):
            waits = (self._waiting[tests] >> kind & 1) != 0
            attribute = self._table.test_attribute[tests[waits]].astype(np.int64)
            by_class.append(np.stack([8 * attribute + kind, rules[waits]]))
        waited, classes = _distinct(by_group, n_rules), _distinct(by_class, n_rules)
        code, starts = self._code(self._order(waited, classes))
        number = _by_first_use(code[2::TEST_WIDTH], groups.total)
        used = code[2::TEST_WIDTH] >= 0
        code[2::TEST_WIDTH][used] = number[code[2::TEST_WIDTH][used]]
        group_at, atom_groups = lists_by(groups.atoms, number[groups.owners], len(self._table.atom_kind))
        rule_at, group_rules = lists_by(number[waited[0]], waited[1], groups.total)
        class_at, class_rules = lists_by(*classes, 8 * len(self._table.attributes))
        return {
            "group_at": group_at,
            "atom_groups": atom_groups,
            "rule_at": rule_at,
            "group_rules": group_rules,
            "class_at": class_at,
            "class_rules": class_rules,
            "tests": code,
            "test_at": starts,
            "always": always.astype(np.int32),
        }

    def _order(self, waited: tuple[Int64s, Int64s], classes: tuple[Int64s, Int64s]) -> Int64s:
        """Rules that are likely to be candidates of the same event one after the other, so that their tests are near each other."""
        groups, shares = self._groups, self._shares
        likely = np.bincount(groups.owners, weights=shares.atoms[groups.atoms], minlength=groups.total)
        keys = np.concatenate([waited[0], groups.total + classes[0]])
        rules = np.concatenate([waited[1], classes[1]])
        first = np.lexsort((-np.concatenate([likely, shares.classes])[keys], rules))
        is_first = np.diff(rules[first], prepend=-1) != 0
        key_of = np.full(len(self._table.slots), -1, np.int64)
        key_of[rules[first][is_first]] = keys[first][is_first]
        return np.argsort(key_of, kind="stable")

    def _waits(self) -> tuple[Int64s, Int64s, Int64s]:
        """Rules and the tests for which they wait, of which one holds wherever the rule does; rules for which there are no such."""
        table = self._table
        tokens, rules = len(table.tokens), np.arange(len(table.slots))
        shares, picks = np.empty(tokens), np.empty(tokens, np.int32)
        banned = np.zeros(len(table.attributes), np.uint8)
        self._pick(rules, banned, shares, picks)
        self._avoid_costly_scans(banned, shares, picks)
        found = self._walk(shares, picks)
        return *found, np.flatnonzero(shares[table.token_at[:-1]] == np.inf)

    def _pick(self, rules: Int64s, banned: npt.NDArray[np.uint8], shares: Doubles, picks: Int32s) -> None:
        table = self._table
        costs = self._test_shares + _OF_LITERAL * np.diff(table.test_atom_at)
        is_open, scans = (self._waiting & 1) != 0, np.where(self._is_negated, 0, self._scans)
        tests = table.test_attribute, costs, is_open, scans
        pick_waits(rules, table.token_at, table.tokens, self._ends, tests, banned, shares, picks)

    def _walk(self, shares: Doubles, picks: Int32s) -> tuple[Int64s, Int64s]:
        """Rules and the tests for which they wait."""
        table = self._table
        is_waiting = np.zeros(len(table.tokens), np.bool_)
        rules, tests = np.empty(len(table.tokens), np.int64), np.empty(len(table.tokens), np.int64)
        count = waiting_tests(
            table.token_at, table.tokens, self._ends, shares, picks, is_waiting, rules, tests
        )
        return rules[:count].copy(), tests[:count].copy()

    def _avoid_costly_scans(self, banned: npt.NDArray[np.uint8], shares: Doubles, picks: Int32s) -> None:
        """Let rules wait for something else where that costs less than to scan a text for every event."""
        table, lengths = self._table, self._shares.text_bytes
        if not lengths.any():
            return  # nothing is known yet
        roots = table.token_at[:-1]
        others, other_picks = shares.copy(), picks.copy()
        for part in reversed(_PARTS):  # a rule that waits for something longer costs less
            waiting, tests = self._walk(shares, picks)
            is_part = (self._scans[tests] & part) != 0
            waiting, attributes = waiting[is_part], table.test_attribute[tests[is_part]]
            for attribute in np.argsort(-lengths, kind="stable").tolist():
                some = np.unique(waiting[attributes == attribute])
                if not lengths[attribute] or not len(some):
                    continue
                banned[attribute] |= part
                self._pick(some, banned, others, other_picks)
                before, after = (np.minimum(each[roots[some]], 1.0) for each in (shares, others))
                late = min(1.0, float(np.where(after < 1.0, _IS_REACHED * after, 1.0).sum()))
                if _CANDIDATE * float((after - before).sum()) < _BYTE * lengths[attribute] * (1.0 - late):
                    self._pick(some, banned, shares, picks)
                else:
                    banned[attribute] ^= part

    def _choose_scans(self, tests: Int64s) -> None:
        """Scan a text in every event for what some rule waits for."""
        eager = np.zeros(len(self._table.attributes), np.uint8)
        np.bitwise_or.at(eager, self._table.test_attribute[tests], self._scans[tests])
        own, parts = self._texts[:, TextRecord.attribute], self._texts[:, TextRecord.parts]
        self._texts[:, TextRecord.eager] = parts & eager[own]
        late = np.zeros(len(eager), np.uint8)
        np.bitwise_or.at(late, own, (parts & ~eager[own].astype(np.int64)).astype(np.uint8))
        self._is_late = (self._scans & late[self._table.test_attribute]) != 0

    # --- tests as jumps ------------------------------------------------------------------------------------------------

    def _code(self, order: Int64s) -> tuple[Int32s, Int32s]:
        """The tests of all rules in some order, and where those of each rule begin."""
        table, groups, count = self._table, self._groups, len(self._table.test_flags)
        child_at, children = self._children()
        leaves = table.tokens[(table.tokens & 3) == LEAF] >> 2
        sizes = np.diff(groups.at)
        room = np.maximum(sizes[:count], 1) + (table.test_asked != 0) + sizes[count:]
        code = np.empty(int(room[leaves].sum()) * TEST_WIDTH, np.int32)
        starts = np.empty(len(table.slots), np.int32)
        stack = np.empty((int(np.diff(table.token_at).max(initial=1)), 4), np.int64)
        tests = (
            table.test_attribute,
            table.test_classes,
            table.test_asked,
            table.test_range_at,
            self._is_negated,
            table.test_least,
        )
        lists = groups.at[: count + 1], groups.at[count:], groups.numbers
        written = emit_tests(
            order,
            table.token_at,
            table.tokens,
            child_at,
            children,
            tests,
            lists,
            self._is_late,
            stack,
            code,
            starts,
        )
        return code[: TEST_WIDTH * written].copy(), starts

    def _children(self) -> tuple[Int64s, Int64s]:
        """The children of each node. What scans a text or asks the filter is tested late, what decides most first."""
        table = self._table
        lateness = np.where(table.test_asked != 0, 2, self._is_late)
        shares, late = np.empty(len(table.tokens)), np.empty(len(table.tokens), np.int64)
        judge(table.tokens, self._ends, self._test_shares, lateness.astype(np.int64), shares, late)
        is_all = (table.tokens[self._parents] & 3) == ALL_OF
        order = np.lexsort((np.where(is_all, -shares, shares), -late, self._parents))
        counts = np.where((table.tokens & 3) == LEAF, 0, table.tokens >> 2)
        return starts_of(counts), order[len(table.slots) :]


def _by_first_use(numbers: Int32s, count: int) -> Int64s:
    """New numbers from 0 on in the order in which these are used first; those that are not used come last."""
    rows = np.full(count, len(numbers), np.int64)
    used = np.flatnonzero(numbers >= 0)[::-1]
    rows[numbers[used]] = used  # of several the last that is written, which is the first
    order = np.empty(count, np.int64)
    order[np.argsort(rows, kind="stable")] = np.arange(count)
    return order


def _distinct(pairs: list[npt.NDArray[np.int64]], n_rules: int) -> tuple[Int64s, Int64s]:
    """What rules wait for, and these rules, each pair once and in order."""
    waited, rules = np.concatenate(pairs, axis=1)
    both = np.unique(waited * max(n_rules, 1) + rules)
    return both // max(n_rules, 1), both % max(n_rules, 1)
