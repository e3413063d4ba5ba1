"""Decide whether an event satisfies a rule, by its tests."""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import inline, subkernel
from thatch.matching.segments.rules.kernels.texts import scan
from thatch.matching.segments.rules.records import (
    ASKED,
    MAYBE,
    NO,
    ROW_WIDTH,
    SCANNED,
    SEVERAL,
    TEST_WIDTH,
    YES,
    TextRecord,
)

__all__ = ["decide", "decide_loosely", "is_anywhere", "scan_if_any"]

_TEXT, _NUMBER = 6, 5
TEXT_WIDTH = TextRecord.width


@subkernel
def is_anywhere(event, row):
    """Whether the text of a row is taken as one of all of an event, and has no other row as that."""
    own = np.int64(event.rows[ROW_WIDTH * row] >> 3)
    is_other = event.is_listed != 0 or own >= event.bases_length or event.bases[own] == 0
    return own == event.anywhere or not is_other


@subkernel
def _scan_late(rules, search, event, attribute):
    """Scan the texts of an attribute for what is looked for only when a test asks, once a search."""
    for folded in range(2):
        number = rules.text_of[2 * attribute + folded]
        if number < 0 or search.text_stamps[number] == search.epoch:
            continue
        search.text_stamps[number] = search.epoch
        text = TextRecord(rules.texts, TEXT_WIDTH * number)
        parts = text.parts & ~text.eager
        if parts == 0:
            continue
        if attribute != rules.anywhere:
            at = 4 * attribute + 2 * folded
            scan_if_any(rules, search, text, event.words, search.places[at], search.places[at + 1], parts)
            continue
        for row in range(event.n_rows):
            at = ROW_WIDTH * row
            if event.rows[at] & 7 == _TEXT and is_anywhere(event, row):
                start, end = event.rows[at + 1 + 2 * folded], event.rows[at + 2 + 2 * folded]
                scan_if_any(rules, search, text, event.words, start, end, parts)


@subkernel
def scan_if_any(rules, search, text, words, start, end, parts):
    """Scan a text that is not empty."""
    if start < end:
        scan(rules, search, text, words, start, end, parts)


@subkernel
def _is_in_range(rules, search, attribute, test):
    """Whether the number of an attribute lies in one of the ranges of a test."""
    low, high = search.lows[attribute], search.highs[attribute]
    for k in range(rules.range_at[test], rules.range_at[test + 1]):
        first, last = rules.ranges[4 * k], rules.ranges[4 * k + 1]
        is_above = high > first if rules.ranges[4 * k + 2] != 0.0 else low >= first
        is_below = low < last if rules.ranges[4 * k + 3] != 0.0 else high <= last
        if is_above and is_below:
            return True
    return False


@inline
def _length(search, attribute):
    """How many bytes the text of an attribute has."""
    return search.places[4 * attribute + 1] - search.places[4 * attribute]


@subkernel
def _run(rules, search, event, test):
    """Where a test leads; MAYBE if the filter must be asked."""
    attribute, flags, group = rules.tests[test], rules.tests[test + 1], rules.tests[test + 2]
    kind = np.int64(search.classes[attribute])
    search.steps += 1
    holds = (flags >> kind) & 1
    if flags & ASKED:
        if holds and (kind != _TEXT or rules.tests[test + 3] <= _length(search, attribute)):
            return np.int64(MAYBE)
        holds = np.int64(0)
    elif holds == 0 and kind >= _NUMBER:
        if group >= 0:
            if flags & SCANNED and kind == _TEXT:
                _scan_late(rules, search, event, attribute)
            holds = 1 if search.group_stamps[group] == search.epoch else 0
        if holds == 0 and kind == _NUMBER and rules.tests[test + 3] >= 0:
            holds = 1 if _is_in_range(rules, search, attribute, rules.tests[test + 3]) else 0
    return np.int64(rules.tests[test + 4] if holds else rules.tests[test + 5])


@subkernel
def decide(rules, search, event, rule):
    """Run the tests of a rule: YES, NO, or MAYBE if its filter must be asked."""
    at = np.int64(rules.test_at[rule])
    while at >= 0:
        at = _run(rules, search, event, TEST_WIDTH * at)
    return at


@subkernel
def _may_hold(rules, search, test):
    """Whether a test may hold for one of several values."""
    attribute, flags, group = rules.tests[test], rules.tests[test + 1], rules.tests[test + 2]
    kinds = np.int64(search.kinds[attribute])
    if flags & kinds & ~SEVERAL:
        return True
    if flags & ASKED:
        return False
    if group >= 0 and (search.group_stamps[group] == search.epoch or flags & SCANNED):
        return True
    return rules.tests[test + 3] >= 0 and kinds >> _NUMBER & 1 != 0


@subkernel
def decide_loosely(rules, search, event, rule):
    """The same for an event of which an attribute may have several values; YES and NO are sure, whichever are chosen.

    Where a test may go either way, but one of the two leads to NO, the other one is followed: it alone may match.
    """
    at = np.int64(rules.test_at[rule])
    is_sure = True
    while at >= 0:
        test = TEST_WIDTH * at
        attribute = rules.tests[test]
        if search.kinds[attribute] < SEVERAL or attribute == rules.anywhere:
            at = _run(rules, search, event, test)
        elif not _may_hold(rules, search, test):
            at = np.int64(rules.tests[test + 5])
        else:
            holds, fails = np.int64(rules.tests[test + 4]), np.int64(rules.tests[test + 5])
            if rules.tests[test + 1] & ASKED or NO not in (holds, fails):
                return np.int64(MAYBE)
            is_sure = False
            at = fails if holds == NO else holds
    return at if is_sure or at != YES else np.int64(MAYBE)
