"""Find which literals hold for a text: whole texts and beginnings by a trie, ends by another, needles by their grams."""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import JIT, inline, subkernel
from thatch.compiled.pointers import part_of
from thatch.matching.segments.kernels.checks import check_holds
from thatch.matching.segments.rules.lists import BACKWARD_CUTS, VALUES
from thatch.matching.segments.rules.records import (
    BYTES,
    EDGE_WIDTH,
    ENTRY_WIDTH,
    LIST_WIDTH,
    LONG,
    NODE_WIDTH,
    PAIRS,
)

__all__ = ["BACKWARDS", "FORWARDS", "admit", "find_listed", "hash_of", "hit", "scan", "walk"]

FORWARDS, BACKWARDS = False, True  # from the beginning of a text, or from its end
_MIX = np.uint64(0x9E3779B97F4A7C15)
_WORD = 2**64 - 1
_MOST_SEEN = 2**30


@inline
def hash_of(key, shift):
    """The upper bits of a key, mixed; as many as `shift` leaves of 64."""
    return np.int64((np.uint64(key) * _MIX) >> np.uint64(shift))


@inline
def has_gram(word, place):
    """Whether both bits are set that the lowest twelve of a hash stand for."""
    return (word >> np.uint64(place & 63)) & (word >> np.uint64((place >> 6) & 63)) & np.uint64(1) != 0


if not JIT:  # NumPy warns of products that do not fit

    def hash_of(key, shift):
        """The same with Python's integers."""
        return np.int64((int(key) * int(_MIX) & _WORD) >> int(shift))


@subkernel
def admit(rules, search, rule):
    """Make a rule a candidate, once a search."""
    if search.rule_stamps[rule] != search.epoch:
        search.rule_stamps[rule] = search.epoch
        search.candidates[search.n_candidates] = rule
        search.n_candidates += 1


@subkernel
def hit(rules, search, atom):
    """Note that an atom holds: its groups do, and rules that wait for one of them become candidates."""
    epoch = search.epoch
    rules.atom_hits[atom] += 1
    for k in range(rules.group_at[atom], rules.group_at[atom + 1]):
        group = rules.atom_groups[k]
        if search.group_stamps[group] != epoch:
            search.group_stamps[group] = epoch
            for at in range(rules.rule_at[group], rules.rule_at[group + 1]):
                admit(rules, search, rules.group_rules[at])


@inline
def _byte(words, start, end, at, is_back):
    """A byte of a text, counted from its beginning or from its end."""
    return np.int64(words[end - 1 - at]) if is_back else np.int64(words[start + at])


@subkernel
def _agrees(rules, words, start, end, first, last, some, is_back):
    """Whether bytes `first` to `last` of a text are those of a needle, both read in one direction."""
    own, own_end = rules.needle_at[some], rules.needle_at[some + 1]
    for at in range(first, last):
        if _byte(words, start, end, at, is_back) != _byte(rules.needles, own, own_end, at, is_back):
            return False
    return True


@subkernel
def walk(rules, search, node, words, start, end, is_back):
    """Go along a trie; chains are compared at once, as is the last text below a node."""
    size = end - start
    done = np.int64(0)
    while True:
        at = NODE_WIDTH * node
        leaf, chain, some = rules.nodes[at + 2], rules.nodes[at + 3], rules.nodes[at + 4]
        if leaf >= 0:
            length = rules.needle_at[some + 1] - rules.needle_at[some]
            is_whole = rules.nodes[at + 1] != 0
            fits = length == size if is_whole else length <= size
            if fits and _agrees(rules, words, start, end, done, length, some, is_back):
                hit(rules, search, leaf)
            return
        if chain > 0:
            if size - done < chain or not _agrees(
                rules, words, start, end, done, done + chain, some, is_back
            ):
                return
            done += chain
        if rules.nodes[at] >= 0:
            hit(rules, search, rules.nodes[at])
        if done == size:
            if rules.nodes[at + 1] >= 0:
                hit(rules, search, rules.nodes[at + 1])
            return
        key = (np.int64(node) << 8) | _byte(words, start, end, done, is_back)
        slot = hash_of(key, rules.edge_shift)
        mask = (np.int64(1) << (64 - rules.edge_shift)) - 1
        while rules.edges[EDGE_WIDTH * slot] != key:
            if rules.edges[EDGE_WIDTH * slot] < 0:
                return
            slot = (slot + 1) & mask
        node = rules.edges[EDGE_WIDTH * slot + 1]
        done += 1


@subkernel
def _order_of(rules, words, start, end, place):
    """How a text compares with one of a long list: negative if it comes first, 0 if they are equal."""
    own, own_end = rules.list_offsets[place], rules.list_offsets[place + 1]
    size = min(end - start, own_end - own)
    for at in range(size):
        difference = np.int64(words[start + at]) - np.int64(rules.list_blob[own + at])
        if difference != 0:
            return difference
    return (end - start) - (own_end - own)


@inline
def _last_of(words, start, end):
    """Where the last character before `end` begins."""
    at = end - 1
    while at > start and words[at] & 0xC0 == 0x80:
        at -= 1
    return at


@subkernel
def _order_backwards(rules, words, start, end, place):
    """The same for texts that are read from their ends, character by character."""
    own, own_end = rules.list_offsets[place], rules.list_offsets[place + 1]
    while end > start and own_end > own:
        first, other = _last_of(words, start, end), _last_of(rules.list_blob, own, own_end)
        for at in range(min(end - first, own_end - other)):  # UTF-8 sorts as characters do
            difference = np.int64(words[first + at]) - np.int64(rules.list_blob[other + at])
            if difference != 0:
                return difference
        end, own_end = first, other
    return (end - start) - (own_end - own)


@subkernel
def find_listed(rules, search, text, words, start, end):
    """Find the lists that have a text, and the intervals in which it lies."""
    for number in range(text.list_at, text.list_at + text.n_lists):
        at = LIST_WIDTH * number
        first = rules.text_lists[at + 1]
        low, high = first, first + rules.text_lists[at + 2]
        is_back = rules.text_lists[at + 3] == BACKWARD_CUTS
        order = np.int64(1)
        while low < high:
            middle = (low + high) >> 1
            if is_back:
                found = _order_backwards(rules, words, start, end, middle)
            else:
                found = _order_of(rules, words, start, end, middle)
            if found < 0:
                high = middle
            else:
                low = middle + 1
                order = found
        # `order` is that of the last text which is not above
        holds = order == 0 if rules.text_lists[at + 3] == VALUES else (low - first) & 1 != 0
        if holds:
            hit(rules, search, rules.text_lists[at])


@subkernel
def _probe(rules, search, text, gram, at, words, start, end):
    """Compare the needles that have this gram, where it stands at `at`."""
    bucket = text.bucket_at + hash_of(gram, text.bucket_shift)
    for entry in range(rules.buckets[bucket], rules.buckets[bucket + 1]):
        if rules.entries[ENTRY_WIDTH * entry] != gram:
            continue
        atom = rules.entries[ENTRY_WIDTH * entry + 1]
        first = at - rules.entries[ENTRY_WIDTH * entry + 2]
        own = rules.needle_at[atom]
        size = rules.needle_at[atom + 1] - own
        search.steps += 1
        stamp = np.int64(search.atom_stamps[atom])
        if stamp in (search.epoch, -search.scans) or first < start or first + size > end:
            continue
        step = np.int64(0)
        while step < size and words[first + step] == rules.needles[own + step]:
            step += 1
        search.steps += step
        if step == size:
            program = rules.program_at[atom]
            if program < 0 or check_holds(rules.programs, program, words, start, end - start):
                search.atom_stamps[atom] = search.epoch
                hit(rules, search, atom)
            else:
                search.atom_stamps[atom] = -search.scans  # it would not hold again in this text


@subkernel
def scan(rules, search, text, words, start, end, parts):
    """Look for the needles of these parts in a text: a bitmap says whether four bytes, two or one begin a comparison.

    Behind a text there are at least four bytes more.
    """
    search.scans += 1
    if hash_of(search.scans, 60) == 0:  # one of sixteen
        _note_grams(rules, words, start, end)
    if parts & LONG:
        _scan_long(rules, search, text, words, start, end)
    if parts & PAIRS:
        _scan_pairs(rules, search, text, words, start, end)
    if parts & BYTES:
        _scan_bytes(rules, search, text, words, start, end)


@subkernel
def _note_grams(rules, words, start, end):
    """Count the grams of a text, as its needles are better filed under others."""
    for at in range(start, end - 3):
        gram = (
            np.int64(words[at])
            | (np.int64(words[at + 1]) << 8)
            | (np.int64(words[at + 2]) << 16)
            | (np.int64(words[at + 3]) << 24)
        )
        place = hash_of(gram, rules.seen_shift)
        rules.grams_seen[place] = min(rules.grams_seen[place] + 1, _MOST_SEEN)


@subkernel
def _scan_long(rules, search, text, words, start, end):
    grams, shift = part_of(rules.gram_words, text.gram_at), text.gram_shift
    word = (
        (np.int64(words[start]) << 8)
        | (np.int64(words[start + 1]) << 16)
        | (np.int64(words[start + 2]) << 24)
    )
    for at in range(start, end - 2):  # behind three bytes any other may stand
        word = (word >> 8) | (np.int64(words[at + 3]) << 24)
        place = hash_of(word, shift)
        if has_gram(grams[place >> 12], place):
            _probe(rules, search, text, word, at, words, start, end)


@subkernel
def _scan_pairs(rules, search, text, words, start, end):
    bits = part_of(rules.pair_bits, text.pair_at)
    for at in range(start, end - 1):
        pair = np.int64(words[at]) | (np.int64(words[at + 1]) << 8)
        if (bits[pair >> 3] >> (pair & 7)) & 1:
            _probe(rules, search, text, pair | (1 << 32), at, words, start, end)


@subkernel
def _scan_bytes(rules, search, text, words, start, end):
    bits = part_of(rules.pair_bits, text.pair_at + 8_192)
    for at in range(start, end):
        byte = np.int64(words[at])
        if (bits[byte >> 3] >> (byte & 7)) & 1 and search.byte_stamps[byte] != search.scans:
            search.byte_stamps[byte] = search.scans  # the first of its kind in this text
            _probe(rules, search, text, byte | (2 << 32), at, words, start, end)
