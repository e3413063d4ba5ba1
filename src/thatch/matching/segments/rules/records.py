"""What kernels read of rules, and what one search writes."""

from __future__ import annotations

from thatch.compiled.records import Doubles, Int32s, Int64s, KernelRecord, Uint8s, Uint16s, Uint64s
from thatch.matching.segments.records import SearchCounts

__all__ = [
    "ASKED",
    "BYTES",
    "EDGE_WIDTH",
    "ENTRY_WIDTH",
    "LIST_WIDTH",
    "LONG",
    "MAYBE",
    "NO",
    "NODE_WIDTH",
    "NUMBER_WIDTH",
    "PAIRS",
    "ROW_WIDTH",
    "SCANNED",
    "SEVERAL",
    "TEST_WIDTH",
    "YES",
    "PlainMatch",
    "RuleEvent",
    "RuleRecord",
    "RuleSearch",
    "TextRecord",
]  # fmt: skip

TEST_WIDTH = 6  # attribute, classes and flags, group, range test, where to go if it holds, where if it does not  # of one that asks the filter: the least length of a text instead of ranges
ASKED, SCANNED = 1 << 8, 1 << 9  # flags: ask the filter if the class is one of these; scan the text first
YES, NO, MAYBE = -1, -2, -3  # ends of a tree's tests

SEVERAL = 1 << 7  # an attribute has several values in a loose search
LONG, PAIRS, BYTES = 1, 2, 4  # needles of four bytes and more, of two or three, and of one

NODE_WIDTH = (
    5  # of a trie: an atom that begins so, one that is so, the only text below, length of a chain, some text
)
EDGE_WIDTH = 2  # node and byte (in the lowest eight bits), the node after it
ENTRY_WIDTH = 3  # of a gram table: gram, atom, where in the atom's needle the gram stands
LIST_WIDTH = 4  # of a list: atom, where its values begin, how many, and of texts what they say
NUMBER_WIDTH = 3  # attribute, the bits of a number, atom
ROW_WIDTH = (
    6  # of an event: attribute and class, then where its text begins and ends, as it is and with folded case
)


class TextRecord(KernelRecord):
    """How texts of one attribute, as they are or folded, are searched."""

    attribute: int
    is_folded: int
    front: int  # root of the trie of texts and beginnings, -1 if there is none
    back: int  # root of the trie of ends, which is walked backwards
    parts: int  # LONG, PAIRS, BYTES: which lengths its needles have, each scanned for apart
    eager: int  # those of them that are scanned for in every event; the others only when a test asks
    gram_at: (
        int  # where its words of grams begin: a hash gives a word, and two bits of it that every gram sets
    )
    gram_shift: int
    pair_at: int  # where its bitmaps of pairs and of single bytes begin
    bucket_at: int
    bucket_shift: int
    list_at: int  # where its long lists begin among `text_lists`, and how many there are
    n_lists: int


class RuleRecord(KernelRecord):
    """One rule segment."""

    n_attributes: int
    n_rules: int
    n_always: int
    anywhere: int  # attribute that stands for all texts, -1 if there is none
    edge_shift: int
    number_shift: int
    seen_shift: int
    local_of: Int32s  # attribute of the index -> of this segment, -1 for those that it does not read
    text_of: Int32s  # twice an attribute, plus one for folded text -> number of its `TextRecord`, or -1
    texts: Int64s
    class_at: Int32s  # eight times an attribute and a class -> rules that wait for it
    class_rules: Int32s
    gram_words: Uint64s
    pair_bits: Uint8s
    buckets: Int32s
    entries: Int64s
    needle_at: Int64s
    needles: Uint8s
    program_at: Int64s  # of a pattern: its program among `programs`; else -1
    programs: Uint8s
    nodes: Int32s
    edges: Int64s
    numbers: Int64s
    text_lists: Int64s
    list_offsets: Int64s
    list_blob: Uint8s
    number_list_at: Int32s  # attribute -> its long lists of numbers
    number_lists: Int64s
    list_numbers: Doubles
    group_at: Int32s  # atom -> groups
    atom_groups: Int32s
    rule_at: Int32s  # group -> rules that wait for it
    group_rules: Int32s
    range_at: Int32s  # range test -> ranges
    ranges: Doubles  # from, to, and for each whether the bound is left out
    tests: Int32s
    test_at: Int32s  # rule -> its first test
    always: Int32s  # rules that every event may satisfy
    slots: Int64s
    died: Int64s
    grams_seen: Int32s  # how often grams stood in some texts, by hash, for the next choice of grams
    atom_hits: Int64s  # how often an atom held, for the next layout
    class_hits: Int64s  # and behind them how many events there were
    text_bytes: Int64s


class RuleSearch(KernelRecord):
    """Room for one search in one segment. Stamps hold the number of the search that set them."""

    epoch: int
    n_touched: int
    n_candidates: int
    is_loose: int  # an attribute may have several values, of which one counts
    scans: int  # of texts; the stamp of an atom is the negative one where it is known not to hold
    steps: int  # of comparing and deciding, for statistics
    atom_stamps: Int32s
    group_stamps: Int32s
    rule_stamps: Int32s
    text_stamps: Int32s
    byte_stamps: Int64s
    classes: Uint8s
    kinds: Uint8s  # of a loose search: bits of the classes of all values of an attribute, and SEVERAL
    touched: Int32s
    places: Int64s  # of the text of each attribute: begin and end, folded begin and end
    lows: Doubles  # the number of each attribute lies between two doubles, or is one
    highs: Doubles
    candidates: Int32s


class RuleEvent(KernelRecord):
    """An event as rows for all segments, and what matches it."""

    counts: SearchCounts
    is_tallied: int
    tallies: Int64s  # candidates of each slot, as of a `SearchContext`
    n_rows: int
    n_found: int
    n_pending: int
    anywhere: int  # attribute of the index that stands for all texts, -1 if there is none
    is_listed: int  # all texts have rows of that attribute; else only those that no other attribute has
    bases: Uint8s  # whether an attribute of the index is none that is derived; none if `anywhere` is not used
    row_info: Int32s  # what the encoder wrote: numbers of eight bytes, codes, lengths of texts
    row_numbers: Doubles
    source: Uint8s
    fold_pages: Uint16s  # see `FoldTables`; none until a text is not ASCII
    fold_places: Int32s
    fold_content: Uint8s
    rows: Int64s
    lows: Doubles
    highs: Doubles
    words: Uint8s
    found: Int64s  # slots
    pending: Int64s  # segment, and in the lower half the owner whose filter must be asked


class PlainMatch(KernelRecord):
    """All that matching dicts of plain values needs, one after the other, while nothing else changes."""

    waiting: int  # boxes to be verified
    n_segments: int
    reader: Int64s  # a `ReaderRecord`
    context: Int64s  # a `SearchContext`
    slots: Int64s  # of the context
    event: RuleEvent
    rules: Int64s  # a `RuleRecord` each
    searches: Int64s  # a `RuleSearch` each
