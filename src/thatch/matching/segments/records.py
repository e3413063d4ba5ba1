"""What kernels and Python share: the records of segments, deltas and searches, and the numbers that have a meaning."""

from __future__ import annotations

from thatch.compiled.on_demand import OnDemand
from thatch.compiled.records import (
    Doubles,
    Inline,
    Int32s,
    Int64s,
    KernelRecord,
    Uint8s,
    Uint16s,
    Uint32s,
    Uint64s,
)

# --- kinds of cuts: 0 to 7 are the cuts (0,) to (7,) of the line; one above a number or a text is 1 more ---------------

NUMBER, TEXT = 16, 32

# --- segments --------------------------------------------------------------------------------------------------------

MIXED_SIDES = 3  # sides besides the keys that a box keeps in its block; the rest stands in `left`
SOME_LEFT, SOME_UNIONS = 1, 2  # what `left` has of the boxes of a group: anything, unions
CHECK = 65_535  # stands for the attribute where an entry of `left` names a check

VERIFY = 1  # in an owner's claim, which is its slot shifted by one: a match must be verified
ALIVE = 2**63 - 1  # when a living owner died


class BitsetLayout(KernelRecord):
    """How the rows of a segment's bitsets lie; a `BitsetAttribute` for each attribute follows."""

    n_words: int  # of a row
    stride: int  # edges from one row that is kept to the next
    attributes: Inline


class BitsetAttribute(KernelRecord):
    """Where the cells, the edges and the kept rows of one attribute begin."""

    cells_at: int
    edges_at: int
    n_edges: int
    kept_at: int


class GroupRecord(KernelRecord):
    """One group of a segment: boxes with the same keys, in blocks of 64 and zones of 64 blocks."""

    n_keys: int
    n_blocks: int
    n_boxes: int
    codes_at: int
    zones_at: int
    upper_zones_at: int  # zones of 64 zones
    first_box: int
    mixed_at: int  # -1 if its boxes have no sides besides the keys
    left_kinds: int
    keys: Inline  # attributes


class SegmentRecord(KernelRecord):
    """All that kernels read of a segment."""

    n_attributes: int
    group_width: int  # numbers of a `GroupRecord`
    is_exact: int  # codes are cells; else they are coarser
    is_narrow: int  # the codes of an event fit two registers
    # The cuts of every attribute, and the number that the segment knows it by.
    local_of: Int32s
    number_at: Int64s
    numbers: Doubles
    grid_at: Int64s
    grid: Int32s
    grid_scale: Doubles
    text_at: Int64s
    text_keys: Uint64s
    text_offsets: Int64s
    text_blob: Uint8s
    shifts: Uint8s
    # Codes of boxes. An entry of `left` is attribute, lo and hi; entries of a box on one attribute stand together and are
    # alternatives. The hull of a union may be a key or a mixed side as well. Checks come last: `CHECK`, then the number
    # of the check in two halves.
    group_at: Int32s
    groups: Int64s
    codes: Uint16s
    mixed: Uint16s
    left_at: Int32s
    left: Uint16s
    prefilter: Int64s  # a word for each box, or nothing
    # Exact boxes and their owners.
    box_offsets: Int32s
    side_attribute: Uint16s
    side_lo: Uint32s
    side_hi: Uint32s
    box_owner: Int32s  # nothing where every owner has one box
    box_claims: Uint32s
    claims: Uint32s
    died: Int64s
    deaths: Int64s  # one number: how many owners died
    check_attribute: Uint16s
    check_start: Int64s
    programs: Uint8s
    bitset_layout: BitsetLayout
    bitset_starts: Int32s
    bitset_boxes: Int32s
    bitset_bits: Uint64s


class DeltaRecord(KernelRecord):
    """All that kernels read of a delta."""

    n_boxes: int
    lanes: Uint16s
    sides: Int64s  # three numbers each: attribute and kinds of the cuts in 32 bits each, then the values
    first_side: Int32s
    box_owner: Int32s
    owners: Int64s  # two numbers each: claim, and the change in which it died
    texts: Uint8s
    check_at: Int32s
    checks: Int32s  # two numbers each: attribute, and where the program begins
    programs: Uint8s


# --- searches --------------------------------------------------------------------------------------------------------

# Parts of a search that are compiled when they are first needed.
VERDICTS, DELTA, BITSETS, LISTS, PREFILTER, TEXTS, CHECKS = range(7)
PARTS = OnDemand(7)

# Flags of a search.
NUMERIC = 1  # every value is a number, and the codes of the rows name attributes only
STOP = 2  # the first sure match is enough
UNORDERED = 4  # matches may come in any order, if no subscription can be found twice
TALLY = 8  # count candidates and matches of every subscription

MOST_SORTED = 64  # slots that a search of rules leaves in order; more are sorted by whoever reads them
WAITING = 1 << 62  # of what `match_plain` returns: some boxes are to be verified
NO_BOXES, NO_KERNEL = (
    -1,
    -2,
)  # instead of a number of boxes: there are none; a kernel alone would miss some rules
GROUPED = 16  # rows name their list, and their element of it

JOINT = 1 << 30  # in the code of a row: other values, which kernels do not know, decide whether it counts
NOT_KNOWN = 255  # the list of such an attribute; others have their number, from 1 on, or 0

MOST_BLOCKS = 64 * 64  # of a group that are listed together
MOST_LAYERS = 4  # elements of a list that are tested at once
MOST_HOT = 64  # sides of a box that are decided by the codes in its block


class SearchCounts(KernelRecord):
    """Counts: the first two of the last search, the others of all searches."""

    sure: int
    waiting: int
    candidates: int
    blocks: int
    events: int
    matches: int
    verified: int


class SearchContext(KernelRecord):
    """All that one search needs: where to search, the rows of its event, and room to work in."""

    n_segments: int
    n_deltas: int
    segments: Int64s  # a `SegmentRecord` each
    deltas: Int64s
    parts: Int64s  # addresses
    counts: SearchCounts
    tallies: Int64s  # candidates and matches of every slot
    # The event: a row for each value. Rows of one attribute are chained.
    row_numbers: Doubles
    row_info: Int32s
    words: Uint8s
    row_class: Uint8s
    row_text_at: Int32s
    row_text_length: Int32s
    row_next: Int32s
    row_cells: Int32s
    row_element: Int32s
    hits: Uint8s  # elements of a list that are not yet struck out
    sorted: Int32s
    # By the index's number of an attribute.
    heads: Int32s
    joints: Uint8s
    touched: Int32s
    wide_low: Uint16s
    wide_high: Uint16s
    # By the segment's number of an attribute.
    low: Uint16s
    high: Uint16s
    strict_low: Uint16s
    strict_high: Uint16s
    cell_low: Int32s
    cell_high: Int32s
    local_heads: Int32s
    local_joints: Uint8s
    local_touched: Int32s
    local_sorted: Int32s
    local_length: Int32s
    layers: Uint16s
    listed_low: Uint16s
    listed_high: Uint16s
    event_words: Int64s  # two for each attribute, for the prefilter
    # Matches.
    slots: Int64s
    pending: Int64s  # candidates, and what is to be verified
    slot_bits: Uint64s
    slot_summary: Uint64s
    blocks: Int32s
    # The closer look at one box.
    hot_attribute: Uint16s
    hot_lo: Uint32s
    hot_hi: Uint32s
    outcomes: Uint8s
    # Bitsets.
    bits_left: Uint64s
    bits_own: Uint64s


SEGMENT_WIDTH, DELTA_WIDTH = SegmentRecord.width, DeltaRecord.width
BITSET_WIDTH = BitsetAttribute.width


# --- events ----------------------------------------------------------------------------------------------------------

NAME_WIDTH = (
    2  # of a name's codes: eight times the attribute's number, and the code of its reversed text or -1
)


class ReaderRecord(KernelRecord):
    """How dicts are read: the names that filters use, the types of values, and the buffers of an encoder."""

    own: int  # the address of this record: CPython writes into its next four numbers
    position: int
    key: int
    value: int
    size: int
    texts: int  # how many there are so far
    used: int  # bytes of `words`
    text_type: int
    int_type: int
    float_type: int
    bool_type: int
    list_type: int
    none: int
    true: int
    longest: int  # list that is looked through
    most_parts: int  # fields, and elements of lists, of an event that is read here
    parts: int
    given: int  # rows of derived values that Python has written; their texts and bytes are the first ones
    given_texts: int
    given_used: int
    extra: int  # rows beyond two for each value
    shift: int
    anywhere: int  # code of texts that no attribute has, where filters look at all texts; else negative
    names: Int64s  # hash table of names: hash, and place or -1
    name_at: Int64s
    name_blob: Uint8s
    name_codes: Int64s  # -1 first if values of the name are read for what is derived from them only
    codes: Int32s
    lengths: Int32s
    row_info: Int32s
    row_numbers: Doubles
    words: Uint8s
