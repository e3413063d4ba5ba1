"""Search the rules of one segment for one event, given as rows."""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import kernel, short_kernel, subkernel
from thatch.compiled.pointers import pointer_to
from thatch.matching.segments.records import MOST_SORTED
from thatch.matching.segments.rules.kernels.deciding import decide, decide_loosely, is_anywhere, scan_if_any
from thatch.matching.segments.rules.kernels.events import file_columns, file_rows
from thatch.matching.segments.rules.kernels.texts import (
    BACKWARDS,
    FORWARDS,
    admit,
    find_listed,
    hash_of,
    hit,
    walk,
)
from thatch.matching.segments.rules.records import (
    LIST_WIDTH,
    MAYBE,
    NUMBER_WIDTH,
    ROW_WIDTH,
    SEVERAL,
    YES,
    RuleEvent,
    RuleRecord,
    RuleSearch,
    TextRecord,
)

__all__ = ["search_all", "search_columns", "search_rows", "search_rules", "sort_few"]

_TEXT, _NUMBER = 6, 5
_LAST_EPOCH = 2**31 - 1
_LAST_SCAN = 2**30
RULE_WIDTH, SEARCH_WIDTH = RuleRecord.width, RuleSearch.width
TEXT_WIDTH = TextRecord.width


@subkernel
def _take_text(rules, search, attribute, words):
    """Find the literals that hold for the text of an attribute, but for needles that only tests ask for."""
    for folded in range(2):
        number = rules.text_of[2 * attribute + folded]
        if number < 0:
            continue
        text = TextRecord(rules.texts, TEXT_WIDTH * number)
        at = 4 * attribute + 2 * folded
        start, end = search.places[at], search.places[at + 1]
        if text.front >= 0:
            walk(rules, search, text.front, words, start, end, FORWARDS)
        if text.back >= 0:
            walk(rules, search, text.back, words, start, end, BACKWARDS)
        if text.n_lists > 0:
            find_listed(rules, search, text, words, start, end)
        if text.eager != 0:
            scan_if_any(rules, search, text, words, start, end, text.eager)


@subkernel
def _take_number(rules, search, attribute, bits):
    """Find the literal that a number is, given its bits."""
    slot = hash_of(bits ^ (np.int64(attribute) << 1), rules.number_shift)
    mask = (np.int64(1) << (64 - rules.number_shift)) - 1
    while rules.numbers[NUMBER_WIDTH * slot] >= 0:
        at = NUMBER_WIDTH * slot
        if rules.numbers[at] == attribute and rules.numbers[at + 1] == bits:
            hit(rules, search, rules.numbers[at + 2])
            return
        slot = (slot + 1) & mask


@subkernel
def _find_listed_number(rules, search, attribute, number):
    """Find the long lists that have a number."""
    for k in range(rules.number_list_at[attribute], rules.number_list_at[attribute + 1]):
        at = LIST_WIDTH * k
        low = rules.number_lists[at + 1]
        last = low + rules.number_lists[at + 2]
        high = last
        while low < high:
            middle = (low + high) >> 1
            if rules.list_numbers[middle] < number:
                low = middle + 1
            else:
                high = middle
        if low < last and rules.list_numbers[low] == number:
            hit(rules, search, rules.number_lists[at])


@subkernel
def _take_class(rules, search, attribute, kind):
    """Note the class of an attribute's value; of several values, that of the last one that is not missing."""
    is_first = (
        search.kinds[attribute] == 0 if search.is_loose != 0 else kind != 0 and search.classes[attribute] == 0
    )
    if is_first:
        search.touched[search.n_touched] = attribute
        search.n_touched += 1
    if search.is_loose != 0:
        search.kinds[attribute] |= np.uint8((1 << kind) | (0 if is_first else SEVERAL))
    if kind != 0:
        search.classes[attribute] = kind
    at = 8 * np.int64(attribute) + kind
    rules.class_hits[at] += 1
    for k in range(rules.class_at[at], rules.class_at[at + 1]):
        admit(rules, search, rules.class_rules[k])


@subkernel
def _take_anywhere(rules, search, event, row):
    """Take in a text as one of all of an event, unless it has another row as that."""
    if not is_anywhere(event, row):
        return
    attribute = rules.anywhere
    rules.text_bytes[attribute] += event.rows[ROW_WIDTH * row + 2] - event.rows[ROW_WIDTH * row + 1]
    if search.classes[attribute] == 0:
        _take_class(rules, search, attribute, _TEXT)
    for k in range(4):
        search.places[4 * attribute + k] = event.rows[ROW_WIDTH * row + 1 + k]
    _take_text(rules, search, attribute, event.words)


@subkernel
def _take_rows(rules, search, event):
    """Take in the values of an event."""
    bits = pointer_to(event.lows)
    for row in range(event.n_rows):
        code = event.rows[ROW_WIDTH * row]
        kind = code & 7
        if rules.anywhere >= 0 and kind == _TEXT:
            _take_anywhere(rules, search, event, row)
        if (code >> 3) >= rules.local_of_length:
            continue
        attribute = np.int64(rules.local_of[code >> 3])
        if attribute < 0 or attribute == rules.anywhere:
            continue
        _take_class(rules, search, attribute, kind)
        if kind == _TEXT:
            at = ROW_WIDTH * row
            rules.text_bytes[attribute] += event.rows[at + 2] - event.rows[at + 1]
            for k in range(4):
                search.places[4 * attribute + k] = event.rows[ROW_WIDTH * row + 1 + k]
            _take_text(rules, search, attribute, event.words)
        elif kind == _NUMBER:
            search.lows[attribute] = event.lows[row]
            search.highs[attribute] = event.highs[row]
            if event.lows[row] == event.highs[row]:
                _take_number(rules, search, attribute, bits[row])
                _find_listed_number(rules, search, attribute, event.lows[row])


@subkernel
def _start(search):
    """Begin a search: stamps of earlier ones are stale."""
    search.epoch += 1
    search.n_touched = 0
    search.n_candidates = 0
    if search.epoch == _LAST_EPOCH or search.scans > _LAST_SCAN:
        search.epoch = 1
        search.scans = 0
        for k in range(256):
            search.byte_stamps[k] = 0
        for k in range(search.atom_stamps_length):
            search.atom_stamps[k] = 0
        for k in range(search.group_stamps_length):
            search.group_stamps[k] = 0
        for k in range(search.rule_stamps_length):
            search.rule_stamps[k] = 0
        for k in range(search.text_stamps_length):
            search.text_stamps[k] = 0


@subkernel
def _search(rules, search, event, segment, moment):
    """Search one segment."""
    counts = event.counts
    _start(search)
    rules.class_hits[8 * rules.n_attributes] += 1
    for k in range(rules.n_always):
        admit(rules, search, rules.always[k])
    _take_rows(rules, search, event)
    for k in range(search.n_candidates):  # a scan that a test asks for adds none
        rule = search.candidates[k]
        if rules.died[rule] <= moment:
            continue
        counts.candidates += 1
        if event.is_tallied != 0:
            event.tallies[2 * rules.slots[rule]] += 1
        if search.is_loose != 0:
            verdict = decide_loosely(rules, search, event, rule)
        else:
            verdict = decide(rules, search, event, rule)
        if verdict == YES:
            event.found[event.n_found] = rules.slots[rule]
            event.n_found += 1
        elif verdict == MAYBE:
            event.pending[event.n_pending] = (np.int64(segment) << 32) | np.int64(rule)
            event.n_pending += 1
    for k in range(search.n_touched):
        search.classes[search.touched[k]] = 0
        search.kinds[search.touched[k]] = 0


@subkernel
def sort_few(slots, done, count):
    """Sort slots, of which the first `done` are in order, if they are few."""
    if count > MOST_SORTED:
        return
    for k in range(max(done, 1), count):
        slot = slots[k]
        at = k
        while at > 0 and slots[at - 1] > slot:
            slots[at] = slots[at - 1]
            at -= 1
        slots[at] = slot


@subkernel
def search_all(event, rule_tables, search_tables, n_segments, moment):
    """Search all segments; how many rules the event satisfies, and in the upper half for how many the filter must be asked."""
    event.n_found = 0
    event.n_pending = 0
    for segment in range(n_segments):
        rules = RuleRecord(rule_tables, RULE_WIDTH * segment)
        _search(rules, RuleSearch(search_tables, SEARCH_WIDTH * segment), event, segment, moment)
    count = np.int64(event.n_found)
    counts = event.counts
    counts.matches += count
    sort_few(event.found, np.int64(0), count)
    return (np.int64(event.n_pending) << 32) | count


@short_kernel
def search_rules(event_table, rule_tables, search_tables, n_segments, moment):
    """Find the rules that an event satisfies, and those whose filter must be asked, in `found` and `pending` of the event.

    Returns the number of the first and, in the upper half, of the others. Those found are in order if they are few.

    Parameters
    ----------
    event_table : a `RuleEvent`
    rule_tables, search_tables : `RuleRecord` and `RuleSearch` of all segments, one after the other
    moment : the last change that counts
    """
    return search_all(RuleEvent(event_table, 0), rule_tables, search_tables, n_segments, moment)


@short_kernel
def search_rows(event_table, rule_tables, search_tables, n_segments, moment, n_rows):
    """The same for so many rows that the encoder wrote, or why `file_rows` cannot file them."""
    event = RuleEvent(event_table, 0)
    filed = file_rows(event, n_rows)
    if filed < 0:
        return np.int64(filed)
    return search_all(event, rule_tables, search_tables, n_segments, moment)


@kernel
def search_columns(
    event_table,
    rule_tables,
    search_tables,
    n_segments,
    moment,
    columns,
    first,
    out_counts,
    out_slots,
    out_pending,
):
    """The same for events of a batch from `first` on, until all are done or the room for matches might run out.

    Every event may match everything, so that there must be room for that. Returns the first event that is not done,
    how many slots there are, how many pairs of an event and what to verify, and 0 or why that event cannot be filed.
    """
    event = RuleEvent(event_table, 0)
    attribute, classes, numbers, codes, offsets = columns
    used = waiting = np.int64(0)
    room = event.pending_length
    at = np.int64(first)
    while at < classes.shape[1] and used + room <= len(out_slots) and waiting + room <= len(out_pending):
        filed = file_columns(event, at, attribute, classes, numbers, codes, offsets)
        if filed < 0:
            return at, used, waiting, filed
        packed = search_all(event, rule_tables, search_tables, n_segments, moment)
        count = packed & 0xFFFFFFFF
        for k in range(count):
            out_slots[used + k] = event.found[k]
        used += count
        for k in range(packed >> 32):
            out_pending[waiting, 0] = at
            out_pending[waiting, 1] = event.pending[k]
            waiting += 1
        out_counts[at] = count
        at += 1
    return at, used, waiting, np.int64(0)
