"""Find values between two cuts that people like to read: small whole numbers, short decimals, short texts.

If there is any value between the cuts, one is found: the candidates include the least value that can be written.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, islice
from math import ceil, floor, inf, isinf, log10, nextafter

from thatch.model.lines import RANK_NUMBER, RANK_TEXT, Constraint, Cut, intervals, point, value_at
from thatch.model.types import Line
from thatch.model.values import MAX_INTEGER, MIN_INTEGER, canonical_number

__all__ = ["is_of_type", "simplest_points"]

_LENGTH = 40  # of the beginnings of texts that are tried
_MOST = 8  # values of one interval
_DIGITS = 20  # more than any double has
_GREATEST = 1.7976931348623157e308
_READABLE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -_."


def simplest_points(constraint: Constraint, line: Line | None = None) -> Iterator[Cut]:
    """Points of a declared type that satisfy a constraint, the simplest first: missing, null, then a few of each interval."""
    for low, high in intervals(constraint):
        for rank in range(low[0], min(high[0] + 1, RANK_NUMBER)):
            spot: Cut = (rank,)
            if low <= spot < high and is_of_type(spot, line):
                yield spot
    for low, high in intervals(constraint):
        start, end = max(low, (RANK_NUMBER,)), min(high, (RANK_TEXT,))
        if start < end:
            numbers = (point(each) for each in _numbers_between(start, end, line))
            yield from islice((each for each in numbers if is_of_type(each, line)), _MOST)
    for low, high in intervals(constraint):
        start = max(low, (RANK_TEXT,))
        if start < high:
            texts = (point(each) for each in _texts_between(start, high, line))
            yield from islice((each for each in texts if is_of_type(each, line)), _MOST)


def is_of_type(spot: Cut, line: Line | None) -> bool:
    """Whether the value at a point belongs to a declared type; missing and null always do."""
    return line is None or spot <= (1,) or line.holds(value_at(spot))


def _numbers_between(low: Cut, high: Cut, line: Line | None) -> Iterator[int | float]:
    """Numbers between two cuts of their segment, each once."""
    seen = set()
    for value in chain(_round_numbers(low, high), _end_numbers(low, high, line)):
        number = canonical_number(value)
        if number not in seen and low <= point(number) < high:
            seen.add(number)
            yield number


def _round_numbers(low: Cut, high: Cut) -> Iterator[int | float]:
    """0, 1, -1, then numbers with more and more digits; not all lie between the cuts."""
    yield from (0, 1, -1)
    start, end = _bound(low, -inf), _bound(high, inf)
    if start < 0 < end:
        return  # 0 was among them
    nearest, farthest = (start, end) if start >= 0 else (-end, -start)
    if isinf(nearest):
        return
    largest = nearest if isinf(farthest) else farthest
    power = floor(log10(largest)) if largest else 0
    for digit in range(power, power - _DIGITS, -1):
        step = Fraction(10) ** digit
        multiple = Fraction(nearest) // step
        for each in (multiple, multiple + 1):
            value = each * step if start >= 0 else -each * step
            if abs(value) <= Fraction(_GREATEST):
                yield int(value) if value.denominator == 1 and _is_whole(int(value)) else float(value)


def _is_whole(value: int) -> bool:
    return MIN_INTEGER <= value <= MAX_INTEGER


def _end_numbers(low: Cut, high: Cut, line: Line | None) -> Iterator[int | float]:
    """The numbers next to the cuts: if any number lies between them, one of these does."""
    for bound in (_bound(low, -inf), _bound(high, inf)):
        if not isinf(bound):
            yield bound
            yield from (each for each in (floor(bound) + 1, ceil(bound) - 1) if _is_whole(each))
        double = float(bound)
        yield double
        yield nextafter(double, inf)
        yield nextafter(double, -inf)
    if line is not None:  # the least value of the type, if it is known
        first = line.tighten(low)
        if len(first) == 3 and first[0] == RANK_NUMBER:
            yield first[1]


def _bound(cut: Cut, infinite: float) -> int | float:
    bound: int | float = cut[1] if len(cut) == 3 else infinite
    return bound


def _texts_between(low: Cut, high: Cut, line: Line | None = None) -> Iterator[str]:
    """Texts between two cuts of their segment, the shortest readable ones first, each once."""
    seen = set()
    for text in _texts(low[1] if len(low) == 3 else "", line, low):
        if text not in seen and low <= point(text) < high:
            seen.add(text)
            yield text


def _texts(least: str, line: Line | None, low: Cut) -> Iterator[str]:
    """Short texts, and those that follow the least one; not all lie between the cuts."""
    if least:
        yield least
    yield from ("a", "b", "A", "0")
    for length in range(min(len(least), _LENGTH)):
        shared, character = least[:length], least[length]
        yield from (shared + each for each in _READABLE if each > character)
    yield ""
    yield from (least + each for each in _READABLE)
    for length in range(min(len(least), _LENGTH)):
        following = ord(least[length]) + 1
        if following < 0x110000:
            yield least[:length] + chr(0xE000 if 0xD800 <= following < 0xE000 else following)
    yield least + "\0"
    if line is not None:
        first = line.tighten(low)
        if len(first) == 3 and first[0] == RANK_TEXT:
            yield first[1]
