"""A filter taken apart into what an index keeps of it: boxes, sides and checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product

from thatch.matching.segments.checks.programs import program
from thatch.matching.segments.checks.unions import union_program
from thatch.matching.segments.sides import NUMBER, cut_of
from thatch.model.conjunctions import Conjunction
from thatch.model.filters import Filter
from thatch.model.lines import Constraint, Cut, intervals, is_single
from thatch.model.residuals import WildcardCheck

__all__ = ["MOST_ATTRIBUTES", "Parts", "plain_sides", "take_apart"]

MOST_ATTRIBUTES = 60_000  # of one segment, which numbers them in sixteen bits
MOST_SIDES = 1_000  # of one box; the rest is verified
MOST_BOXES = (
    16  # of one conjunction with several unions; beyond, the longest are kept as their hull and verified
)
LONGEST_UNION = 1_000  # of one conjunction with one union

_EXACT = 2**53


class Parts:
    """What an index keeps of one filter.

    `sides` is flat: attribute, kinds of the lower and (times 256) the upper cut, and their values, for each side of
    each box; `sizes` has the number of sides of each box; `checks` are (box, attribute, program).
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
        """At least as many as there are attributes."""
        return len(self.sides) // 4 + len(self.checks)


def take_apart(filter: Filter, number: dict[str, int], keep_text: Callable[[str], int]) -> Parts:
    """The parts of a filter.

    Parameters
    ----------
    number : the attributes' numbers, which learns new ones
    keep_text : keeps the text of a cut and tells where
    """
    parts = Parts()
    sides = plain_sides(filter, number, keep_text)
    if sides is not None:
        parts.sides, parts.sizes = sides, [len(sides) // 4]
        return parts
    parts.is_plain = False
    for conjunction in filter.conjunctions:
        first = len(parts.sizes)
        constraints_kept, programs, is_exact = _indexed(conjunction)
        for box in _boxes(constraints_kept):
            _add_box(parts, box, number, keep_text)
        for residual in conjunction.residuals:
            code = program(residual) if isinstance(residual, WildcardCheck) else None
            is_exact &= code is not None
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


def plain_sides(
    filter: Filter, number: dict[str, int], keep_text: Callable[[str], int]
) -> list[float] | None:
    """The sides of a filter that is one box of single intervals, as most are; None if it is not, or not exactly."""
    if len(filter.conjunctions) > 1:
        return None
    conjunction = filter.conjunctions[0]
    if conjunction.residuals or len(conjunction.constraints) > MOST_SIDES:
        return None
    sides: list[float] = []
    get = number.get
    for key, constraint in conjunction.constraints:
        if len(constraint) != 2:
            return None
        low, high = constraint
        if len(low) == 3 == len(high) and low[0] == 5 == high[0]:  # by far the most common
            lo, hi = low[1], high[1]
            if not (lo > -_EXACT and hi < _EXACT) and (float(lo) != lo or float(hi) != hi):
                return None
            kinds = NUMBER + low[2] + ((NUMBER + high[2]) << 8)
        else:
            if any(len(cut) == 3 and cut[0] == 5 and float(cut[1]) != cut[1] for cut in constraint):
                return None
            lo_kind, lo = cut_of(low, keep_text)
            hi_kind, hi = cut_of(high, keep_text)
            kinds = lo_kind + (hi_kind << 8)
        which = get(key)
        if which is None:
            which = number[key] = len(number)
        sides += (which, kinds, lo, hi)
    return sides


def _add_box(
    parts: Parts,
    box: Iterable[tuple[str, Cut, Cut]],
    number: dict[str, int],
    keep_text: Callable[[str], int],
) -> None:
    count = 0
    for key, low, high in box:
        lo_kind, lo = cut_of(low, keep_text)
        hi_kind, hi = cut_of(high, keep_text)
        parts.sides += (_number_of(key, number), lo_kind + (hi_kind << 8), lo, hi)
        count += 1
    parts.sizes.append(count)


def _indexed(
    conjunction: Conjunction,
) -> tuple[list[tuple[str, Constraint]], list[tuple[str, bytes]], bool]:
    """The constraints to index, the programs of those that are indexed by their hull only, and whether that is all.

    At most one union becomes a box for each of its intervals: a list of values, where nothing else is as selective.
    """
    constraints = list(conjunction.constraints[:MOST_SIDES])
    is_exact = len(conjunction.constraints) <= MOST_SIDES
    unions = [number for number, (_, constraint) in enumerate(constraints) if len(constraint) > 2]
    spread = -1
    if unions and not any(len(constraint) == 2 and is_single(*constraint) for _, constraint in constraints):
        lists = [
            number for number in unions if all(is_single(*each) for each in intervals(constraints[number][1]))
        ]
        spread = min(lists, key=lambda number: len(constraints[number][1]), default=-1)
        if spread >= 0 and len(constraints[spread][1]) // 2 * len(constraints) > LONGEST_UNION:
            spread = -1
    programs = []
    for number in unions:
        if number != spread:
            key, constraint = constraints[number]
            constraints[number] = (key, (constraint[0], constraint[-1]))
            code = union_program(constraint)
            is_exact &= code is not None
            if code is not None:
                programs.append((key, code))
    return constraints, programs, is_exact


def _boxes(constraints: list[tuple[str, Constraint]]) -> Iterator[Iterable[tuple[str, Cut, Cut]]]:
    if all(len(constraint) == 2 for _, constraint in constraints):
        yield [(key, constraint[0], constraint[1]) for key, constraint in constraints]
        return
    yield from product(
        *([(key, low, high) for low, high in intervals(constraint)] for key, constraint in constraints)
    )
