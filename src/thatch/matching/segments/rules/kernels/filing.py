"""File literals: sorted texts in tries, needles under their rarest four bytes."""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import kernel, subkernel
from thatch.matching.segments.rules.kernels.texts import hash_of
from thatch.matching.segments.rules.records import ENTRY_WIDTH, NODE_WIDTH

__all__ = ["PAIR_BYTES", "count_grams", "file_grams", "file_tries", "pick_grams"]

PAIR_BYTES = 8_192 + 32  # of the bitmaps of pairs and of single bytes


# --- tries -----------------------------------------------------------------------------------------------------------


@subkernel
def _shared(texts, one, other, done, is_back):
    """How many bytes two texts share from one end, if they share those done."""
    at, blob = texts
    size = min(at[one + 1] - at[one], at[other + 1] - at[other])
    if is_back:
        first, second = at[one + 1] - 1, at[other + 1] - 1
        while done < size and blob[first - done] == blob[second - done]:
            done += 1
    else:
        first, second = at[one], at[other]
        while done < size and blob[first + done] == blob[second + done]:
            done += 1
    return done


@subkernel
def _byte_of(texts, text, done, is_back):
    at, blob = texts
    return np.int64(blob[at[text + 1] - 1 - done]) if is_back else np.int64(blob[at[text] + done])


@subkernel
def _is_first(texts, one, other, is_back):
    """Whether a text comes before another, or is equal."""
    at, _ = texts
    shared = _shared(texts, one, other, np.int64(0), is_back)
    if shared == at[one + 1] - at[one]:
        return True
    if shared == at[other + 1] - at[other]:
        return False
    return _byte_of(texts, one, shared, is_back) < _byte_of(texts, other, shared, is_back)


@subkernel
def _sort(texts, order, start, end, is_back, room):
    """Sort texts by merging runs that are twice as long each time."""
    width = 1
    while width < end - start:
        for low in range(start, end, 2 * width):
            middle, high = min(low + width, end), min(low + 2 * width, end)
            one, other = low, middle
            for target in range(low, high):
                is_one = other >= high or (
                    one < middle and _is_first(texts, order[one], order[other], is_back)
                )
                if is_one:
                    room[target] = order[one]
                    one += 1
                else:
                    room[target] = order[other]
                    other += 1
        for at in range(start, end):
            order[at] = room[at]
        width *= 2


@kernel
def file_tries(roots, order, texts, is_whole, room, stack, out_nodes, out_edges, out_roots):
    """Make a trie of each set of texts; how many nodes and edges there are.

    Parameters
    ----------
    roots : where each set begins in `order` and where the last one ends; whether the texts of a set are read from their end
    order : texts set by set, which get sorted
    is_whole : whether a text is meant as a whole, not as a beginning
    room, stack : for as many texts, and for a row of four numbers for each of them: parts that wait for their node
    out_edges : node and byte, and the node there
    """
    root_at, is_backs = roots
    at, _ = texts
    n_nodes, n_edges = np.int64(0), np.int64(0)
    for root in range(len(is_backs)):
        is_back = is_backs[root] != 0
        start, end = root_at[root], root_at[root + 1]
        if start == end:
            out_roots[root] = -1
            continue
        _sort(texts, order, start, end, is_back, room)
        out_roots[root] = n_nodes
        stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = start, end, 0, -1
        waiting = 1
        while waiting > 0:
            waiting -= 1
            low, high, depth, key = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2], stack[waiting, 3]
            if key >= 0:
                out_edges[n_edges, 0], out_edges[n_edges, 1] = key, n_nodes
                n_edges += 1
            node, first = NODE_WIDTH * n_nodes, order[low]
            out_nodes[node], out_nodes[node + 1], out_nodes[node + 2] = -1, -1, -1
            out_nodes[node + 3], out_nodes[node + 4] = 0, first
            n_nodes += 1
            if high - low == 1:
                out_nodes[node + 1], out_nodes[node + 2] = is_whole[first], first
                continue
            shared = _shared(texts, first, order[high - 1], depth, is_back)
            out_nodes[node + 3] = shared - depth
            while low < high and at[order[low] + 1] - at[order[low]] == shared:
                out_nodes[node + (1 if is_whole[order[low]] else 0)] = order[low]
                low += 1
            while low < high:
                byte, begin = _byte_of(texts, order[low], shared, is_back), low
                while low < high and _byte_of(texts, order[low], shared, is_back) == byte:
                    low += 1
                stack[waiting, 0], stack[waiting, 1] = begin, low
                stack[waiting, 2], stack[waiting, 3] = shared + 1, (n_nodes - 1) << 8 | byte
                waiting += 1
    return n_nodes, n_edges


# --- grams -----------------------------------------------------------------------------------------------------------


@subkernel
def _gram(blob, at):
    return (
        np.int64(blob[at])
        | (np.int64(blob[at + 1]) << 8)
        | (np.int64(blob[at + 2]) << 16)
        | (np.int64(blob[at + 3]) << 24)
    )


@kernel
def count_grams(at, blob, shift, out_counts):
    """Count the grams of all texts; those of equal hash together."""
    for text in range(len(at) - 1):
        for place in range(at[text], at[text + 1] - 3):
            out_counts[hash_of(_gram(blob, place), shift)] += 1


@kernel
def pick_grams(at, blob, counted, seen_before, atoms, out_grams, out_places):
    """The gram of each text that was seen least and then counted least, and where it stands; -1 if the text has none.

    Parameters
    ----------
    counted, seen_before : by hash of a gram in literals and in texts, and by how many bits that is shifted
    """
    counts, shift = counted
    seen, seen_shift = seen_before
    for k in range(len(atoms)):
        start, least = at[atoms[k]], np.int64(-1)
        out_grams[k], out_places[k] = -1, 0
        for place in range(start, at[atoms[k] + 1] - 3):
            gram = _gram(blob, place)
            count = np.int64(seen[hash_of(gram, seen_shift)]) << 32 | np.int64(counts[hash_of(gram, shift)])
            if least < 0 or count < least:
                least, out_grams[k], out_places[k] = count, gram, place - start


@kernel
def file_grams(atoms, texts, records, out_words, out_pairs, out_buckets, out_entries, out_short):
    """File the needles of each record under a gram, or under all of a shorter one.

    Parameters
    ----------
    atoms : needles record by record, the gram of each, and where it stands
    records : where the needles of each begin; and of its bitmaps and buckets where they begin and the shifts of their hashes
    out_short : whether a record has needles of two or three bytes, and of one
    """
    at, blob = texts
    needles, grams, places = atoms
    needle_at, gram_at, gram_shift, pair_at, bucket_at, bucket_shift = records
    for record in range(len(gram_at)):
        first, last = needle_at[record], needle_at[record + 1]
        for k in range(first, last):
            start, gram = at[needles[k]], grams[k]
            if gram >= 0:
                place = hash_of(gram, gram_shift[record])
                bits = np.uint64(1) << np.uint64(place & 63) | np.uint64(1) << np.uint64((place >> 6) & 63)
                out_words[gram_at[record] + (place >> 12)] |= bits
            elif at[needles[k] + 1] - start > 1:
                gram = np.int64(blob[start]) | (np.int64(blob[start + 1]) << 8)
                out_pairs[pair_at[record] + (gram >> 3)] |= np.uint8(1 << (gram & 7))
                out_short[2 * record] = 1
                grams[k] = gram | (1 << 32)
            else:
                gram = np.int64(blob[start])
                out_pairs[pair_at[record] + 8192 + (gram >> 3)] |= np.uint8(1 << (gram & 7))
                out_short[2 * record + 1] = 1
                grams[k] = gram | (2 << 32)
            out_buckets[bucket_at[record] + hash_of(grams[k], bucket_shift[record])] += 1
        # From how many there are in each bucket to where each ends; filling them from the last one makes that where they begin.
        end = first
        for bucket in range(bucket_at[record], bucket_at[record + 1]):
            end += out_buckets[bucket]
            out_buckets[bucket] = end
        for k in range(last - 1, first - 1, -1):
            bucket = bucket_at[record] + hash_of(grams[k], bucket_shift[record])
            out_buckets[bucket] -= 1
            entry = ENTRY_WIDTH * np.int64(out_buckets[bucket])
            out_entries[entry], out_entries[entry + 1], out_entries[entry + 2] = (
                grams[k],
                needles[k],
                places[k],
            )
