"""Take a filter apart into what an index keeps of it: boxes, sides and checks."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence

from thatch.matching.segments.columns import cut_of
from thatch.matching.segments.records import NUMBER
from thatch.model.conjunctions import Conjunction
from thatch.model.filters import Filter
from thatch.model.lines import Constraint, Cut, intervals, is_single
from thatch.model.regexes import Regex
from thatch.model.residuals import WildcardCheck
from thatch.model.wildcards import Piece, escape_wildcard, wildcard

__all__ = [
    "LONGEST",
    "LONGEST_LOOSE",
    "MOST_ATTRIBUTES",
    "MOST_SIDES",
    "Parts",
    "plain_sides",
    "program",
    "take_apart",
]

MOST_ATTRIBUTES = 60_000  # of one segment, which numbers them in sixteen bits
MOST_ALTERNATIVES = (
    1_024  # of one filter that become boxes; of more there is one box around all, to be verified
)
MOST_SIDES = 1_000  # of one box; the rest is verified
MOST_SPREAD = 1_000  # sides in all, where each value of a list becomes a box
LONGEST = 4_096  # of a program, which bounds what a hostile pattern costs on a long text
LONGEST_LOOSE = 64  # of a piece with `_` between two `%`
_ONE = b"\xff"  # any one character: `_`

_EXACT = 2**53

Keep = Callable[[str], int]  # keeps the text of a cut and tells where
Constraints = list[tuple[str, Constraint]]


class Parts:
    """What an index keeps of one filter.

    `sides` is flat: attribute, kinds of the lower and (times 256) the upper cut, and their values, for each side of
    each box; sides of one box on the same attribute stand together and are alternatives: a union of intervals.
    `sizes` has the number of sides of each box; `checks` are (box, attribute, program).
    `verify`: the boxes say less than the filter. `is_plain`: one box says all.
    """

    __slots__ = ("checks", "is_plain", "sides", "sizes", "verify")

    def __init__(self) -> None:
        self.sides: list[float] = []
        self.sizes: list[int] = []
        self.checks: list[tuple[int, int, bytes]] = []
        self.verify = False
        self.is_plain = True

    def attributes(self) -> set[int]:
        """The numbers of all attributes."""
        return {*map(int, self.sides[::4]), *(attribute for _, attribute, _ in self.checks)}

    def most_attributes(self) -> int:
        """An upper bound of the number of attributes."""
        return len(self.sides) // 4 + len(self.checks)


def take_apart(filter: Filter, number: dict[str, int], keep_text: Keep) -> Parts:
    """The parts of a filter; `number` has the attributes' numbers, and learns new ones."""
    parts = Parts()
    sides = plain_sides(filter, number, keep_text)
    if sides is not None:
        parts.sides, parts.sizes = sides, [len(sides) // 4]
        return parts
    parts.is_plain = False
    is_large = filter.has_more_than(MOST_ALTERNATIVES)
    parts.verify = is_large
    for conjunction in (filter.hull(),) if is_large else filter.conjunctions:
        first = len(parts.sizes)
        constraints, spread, is_exact = _indexed(conjunction)
        for box in _boxes(constraints, spread):
            _add_box(parts, box, number, keep_text)
        programs: list[tuple[str, bytes]] = []
        for residual in conjunction.residuals:
            code = program(residual) if isinstance(residual, WildcardCheck) else None
            is_exact &= code is not None
            if code is None and isinstance(residual, WildcardCheck):
                code = _necessary_program(residual)
            if code is not None:
                programs.append((residual.keys[0], code))
        for key, code in programs:
            which = _number_of(key, number)
            parts.checks += [(box, which, code) for box in range(first, len(parts.sizes))]
        parts.verify |= not is_exact
        if parts.most_attributes() > MOST_ATTRIBUTES and len(parts.attributes()) > MOST_ATTRIBUTES:
            return _unbounded()
    parts.checks.sort(key=lambda each: each[:2])
    return parts


def _unbounded() -> Parts:
    """The parts of a filter that is too large to index: one box that holds everything, to be verified."""
    parts = Parts()
    parts.sizes, parts.verify, parts.is_plain = [0], True, False
    return parts


def _number_of(key: str, number: dict[str, int]) -> int:
    found = number.get(key)
    if found is None:
        found = number[key] = len(number)
    return found


def plain_sides(filter: Filter, number: dict[str, int], keep_text: Keep) -> list[float] | None:
    """The sides of a filter that is exactly one box, as most are; None if it is not."""
    if filter.has_more_than(MOST_ALTERNATIVES) or len(filter.conjunctions) > 1:
        return None
    conjunction = filter.conjunctions[0]
    if conjunction.residuals or len(conjunction.constraints) > MOST_SIDES:
        return None
    sides: list[float] = []
    get = number.get
    has_union = False
    for key, constraint in conjunction.constraints:
        which = get(key)
        if which is None:
            which = number[key] = len(number)
        if len(constraint) == 2 and len(constraint[0]) == 3 == len(constraint[1]) and constraint[0][0] == 5:
            (_, lo, lo_side), (rank, hi, hi_side) = constraint  # numbers are by far the most common
            if rank == 5 and ((lo > -_EXACT and hi < _EXACT) or (float(lo) == lo and float(hi) == hi)):
                sides += (which, NUMBER + lo_side + ((NUMBER + hi_side) << 8), lo, hi)
                continue
        if any(len(cut) == 3 and cut[0] == 5 and float(cut[1]) != cut[1] for cut in constraint):
            return None
        has_union |= len(constraint) > 2
        for low, high in intervals(constraint):
            sides += _side(which, low, high, keep_text)
    if has_union and (len(sides) > 4 * MOST_SIDES or _spread(conjunction.constraints) >= 0):
        return None
    return sides


def _side(which: int, low: Cut, high: Cut, keep_text: Keep) -> tuple[float, float, float, float]:
    lo_kind, lo = cut_of(low, keep_text)
    hi_kind, hi = cut_of(high, keep_text)
    return which, lo_kind + (hi_kind << 8), lo, hi


def _add_box(parts: Parts, box: Constraints, number: dict[str, int], keep_text: Keep) -> None:
    count = 0
    for key, constraint in box:
        which = _number_of(key, number)
        for low, high in intervals(constraint):
            parts.sides += _side(which, low, high, keep_text)
            count += 1
    parts.sizes.append(count)


def _indexed(conjunction: Conjunction) -> tuple[Constraints, int, bool]:
    """The constraints to index, which of them becomes a box for each value (or -1), and whether that is all.

    The longest unions are kept as their hull where a box would have too many sides.
    """
    constraints = list(conjunction.constraints[:MOST_SIDES])
    is_exact = len(conjunction.constraints) <= MOST_SIDES
    spread = _spread(constraints)
    room = MOST_SIDES - len(constraints)
    for number in sorted(range(len(constraints)), key=lambda number: len(constraints[number][1])):
        key, constraint = constraints[number]
        if number != spread and len(constraint) > 2:
            room -= len(constraint) // 2 - 1
            if room < 0:
                constraints[number] = (key, (constraint[0], constraint[-1]))
                is_exact = False
    return constraints, spread, is_exact


def _spread(constraints: Sequence[tuple[str, Constraint]]) -> int:
    """Which union becomes a box for each of its intervals, -1 if none.

    At most one does: a list of values, where nothing else is as selective.
    """
    if any(len(constraint) == 2 and is_single(*constraint) for _, constraint in constraints):
        return -1
    lists = [
        number
        for number, (_, constraint) in enumerate(constraints)
        if len(constraint) > 2 and all(is_single(*each) for each in intervals(constraint))
    ]
    spread = min(lists, key=lambda number: len(constraints[number][1]), default=-1)
    if spread < 0:
        return -1
    values = len(constraints[spread][1]) // 2
    others = sum(len(constraint) // 2 for _, constraint in constraints) - values
    return spread if values * (1 + others) <= MOST_SPREAD else -1


def _boxes(constraints: Constraints, spread: int) -> Iterator[Constraints]:
    if spread < 0:
        yield constraints
        return
    key, values = constraints[spread]
    for low, high in intervals(values):
        yield [*constraints[:spread], (key, (low, high)), *constraints[spread + 1 :]]


def program(check: WildcardCheck) -> bytes | None:
    """A wildcard check as a byte program, which kernels run on UTF-8 text; None if it would be longer than `LONGEST`.

    None also if a long piece between two `%` has a `_`: kernels compare such a piece anew at every place.

    A program, all integers little endian:

    ```
    byte 0      1 if the check is negated, else 0
    bytes 1–2   how many bytes a matching text has at least
    bytes 3–4   number of pieces; 1 means there is no `%`
    then        the pieces in the order in which they are tried: the first, the last, those between from left to right
    ```

    and a piece:

    ```
    byte 0      1 if it has a `_`, else 0
    bytes 1–2   its length in bytes
    then        its text in UTF-8, with the byte 0xFF, which no UTF-8 has, for `_`
    ```

    The last piece comes early because it is as cheap to try as the first. After a `%` there is never a `_` (see
    `wildcard`), so a piece between two `%` is not empty and begins with a byte to search for.
    """
    if isinstance(check.pattern, Regex):
        return None
    pieces = check.pattern.pieces
    first, *rest = (_encoded(piece) for piece in pieces)
    ordered = [first, *rest[-1:], *rest[:-1]]
    least = sum(map(len, ordered))
    if 5 + 3 * len(ordered) + least > LONGEST:
        return None
    if any(_ONE in piece and len(piece) > LONGEST_LOOSE for piece in ordered[2:]):
        return None
    header = struct.pack("<BHH", check.negated, least, len(ordered))
    return header + b"".join(struct.pack("<BH", _ONE in piece, len(piece)) + piece for piece in ordered)


def _necessary_program(check: WildcardCheck) -> bytes | None:
    """A program that holds wherever a regular expression does, by a text that it cannot do without; None if none is known."""
    if check.negated or not isinstance(check.pattern, Regex) or not check.pattern.needed:
        return None
    return program(WildcardCheck(check.key, wildcard(f"%{escape_wildcard(check.pattern.needed)}%")))


def _encoded(piece: Piece) -> bytes:
    """The bytes of a piece, with `_ONE` for `_`."""
    return b"".join(_ONE if part is None else part.encode("utf-8") for part in piece)
