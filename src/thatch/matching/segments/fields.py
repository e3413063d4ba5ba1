"""What stands where in the arrays of numbers that kernels get: contexts, descriptions and groups.

An array takes two numbers, its address and its length. Addresses are only ever made from arrays that the caller
keeps alive while a kernel runs.
"""

from __future__ import annotations

# --- a segment's description: four numbers, then arrays ------------------------------------------------------------

ATTRIBUTES, GROUP_WIDTH, IS_EXACT, IS_NARROW = range(4)
(
    LOCAL_OF, NUMBER_AT, NUMBERS, GRID_AT, GRID, GRID_SCALE,
    TEXT_AT, TEXT_KEYS, TEXT_OFFSETS, TEXT_BLOB, SHIFTS,
    GROUP_AT, GROUPS, CODES, MIXED, LEFT_AT, LEFT,
    BOX_OFFSETS, SIDE_ATTRIBUTE, SIDE_LO, SIDE_HI, BOX_OWNER, CLAIMS, DIED, DEATHS,
    CHECK_ATTRIBUTE, CHECK_START, PROGRAMS,
    BITSET_LAYOUT, BITSET_STARTS, BITSET_SLOTS, BITSET_BITS, BOX_SIEVES, BOX_CLAIMS,
) = range(4, 72, 2)  # fmt: skip
SEGMENT_WIDTH = 72

# --- a delta's description: the number of its boxes, then arrays ----------------------------------------------------

DELTA_BOXES = 0
(
    DELTA_LANES, DELTA_SIDES, DELTA_FIRST_SIDE, DELTA_BOX_OWNER, DELTA_OWNERS, DELTA_TEXTS,
    DELTA_CHECK_AT, DELTA_CHECKS, DELTA_PROGRAMS,
) = range(1, 19, 2)  # fmt: skip
DELTA_WIDTH = 19

# --- a group's row: its keys stand from FIRST_KEY on ------------------------------------------------------------------

(
    GROUP_KEYS,
    GROUP_BLOCKS,
    GROUP_BOXES,
    GROUP_CODES,
    GROUP_ZONES,
    GROUP_ZONES2,
    FIRST_SLOT,
    GROUP_MIXED,
    GROUP_LEFT,
    FIRST_KEY,
) = range(10)
SLOTS = 3  # mixed sides that a box keeps in its block; what is left over stands in `LEFT`

# What `LEFT` has of the boxes of a group: anything, unions. An entry is attribute, lo and hi; entries of one attribute
# stand together and are alternatives. The hull of a union may be a key or a mixed side as well.
SOME_LEFT, SOME_UNIONS = 1, 2
CHECKED = 65_535  # stands for an attribute where the rest of an entry, of a box's last ones, is the number of a check

# --- the layout of bitsets: two numbers, then a row for every attribute ----------------------------------------------

BITSET_ROW, BITSET_STRIDE = range(2)  # words of a row; edges from one row that is kept to the next
FIRST_BITSET = 2
CELLS_AT, EDGES_AT, EDGES, KEPT_AT = range(4)
BITSET_WIDTH = 4

# --- a context: all that one search needs -----------------------------------------------------------------------------

(
    SEGMENTS, DELTAS,
    ROW_NUMBERS, ROW_INFO, WORDS, ROW_CLASS, ROW_TEXT_AT, ROW_TEXT_LENGTH, ROW_NEXT, ROW_CELLS, ROW_ELEMENT, HITS, SORTED,
    HEADS, JOINTS, TOUCHED, WIDE_LOW, WIDE_HIGH,
    LOW, HIGH, STRICT_LOW, STRICT_HIGH, CELL_LOW, CELL_HIGH, LOCAL_HEADS, LOCAL_JOINTS, LOCAL_TOUCHED, LOCAL_SORTED, LOCAL_LENGTH,
    BITS, SUMMARY, PLACES, PENDING, COUNTS, TALLIES, RUNNER, PARTS,
    HOT_ATTRIBUTE, HOT_LO, HOT_HI, OUTCOMES, SWEPT, TURNED, SIEVES, LAYERS, LISTED_LOW, LISTED_HIGH,
    BLOCKS,
) = range(0, 96, 2)  # fmt: skip
CONTEXT_WIDTH = 96
MOST_BLOCKS = 64 * 64  # of a group that are listed together
MOST_LAYERS = 4  # elements of a list that are tested at once
MOST_HOT = 64  # sides of a box that are decided by the codes in its block

# --- parts that searches call by address, if they are loaded ---------------------------------------------------------------

VERDICTS, DELTA, BITSETS, LISTED, SIEVED, TEXTS = range(6)
N_PARTS = 6

# --- counts: of the last search, then of all searches -------------------------------------------------------------------

SURE, WAITING, LOOKED, BLOCKS_READ, EVENTS, MATCHES, VERIFIED = range(7)
N_COUNTS = 7

# --- flags of a search ------------------------------------------------------------------------------------------------

NUMERIC = 1  # every value is a number, and the codes of the rows name attributes only
STOP = 2  # the first sure match is enough
UNORDERED = 4  # matches may come in any order, if no subscription can be found twice
TALLY = 8  # count candidates and matches of every subscription
GROUPED = 16  # rows tell to which list, and to which of its elements, they belong

JOINT = (
    1 << 30
)  # in the code of a row: whether it counts depends on values beside it that kernels do not know
NOT_KNOWN = 255  # the list of such an attribute; others have their number, from 1 on, or 0
VERIFY = 1  # in an owner's claim, which is its place shifted by one: what the index finds must be verified
ALIVE = 2**63 - 1  # when a living owner died
