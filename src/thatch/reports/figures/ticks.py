"""Where the axis of a figure begins and ends, and which values are named on it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

__all__ = ["Ticks", "date_ticks", "even_ticks", "log_ticks"]

Ticks = tuple[list[float], list[float]]  # the ends of an axis, and the values that are named on it

_STEPS = 5  # about as many steps between ticks
_MARGIN = 0.04  # of the axis, beyond the outermost values
_MOST_POWERS = 7  # of ten; of more, every second, third … is named
_SAME = 1e-9  # relative: values this close are one
_TINY = 1e-290
_LARGEST_POWER = 300.0  # of ten, that is a double
_DAY = 86_400.0
_SPANS = (1.0, 5.0, 15.0, 30.0, 60.0, 300.0, 900.0, 1_800.0, 3_600.0, 10_800.0, 21_600.0, 43_200.0)
_MONTHS = (1, 2, 3, 6)


def even_ticks(values: Iterable[float | None], *, from_zero: bool = False, is_tight: bool = False) -> Ticks:
    """Ticks at round steps.

    Parameters
    ----------
    from_zero : whether the axis contains 0, as that of bars does
    is_tight : whether the axis ends at ticks, not at a margin beyond the values
    """
    known = [each for each in values if each is not None]
    known += [0.0] if from_zero or not known else []
    low, high = min(known), max(known)
    size = max(abs(low), abs(high))
    if not size:
        high = 1.0
    elif high - low <= max(_SAME * size, _TINY):
        pad = max(min(0.5, size / 2), _SAME * size, _TINY)
        low, high = low - pad, high + pad
    whole = all(float(each).is_integer() for each in known)
    step = _round_step((high / 2 - low / 2) / (_STEPS / 2))
    step = max(step, 1.0) if whole else step
    if is_tight:
        low, high = math.floor(low / step) * step, math.ceil(high / step) * step
    else:
        margin = _MARGIN * (high - low)
        low = low if from_zero and low == 0 else low - margin
        high = high if from_zero and high == 0 else high + margin
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    digits = max(0, 2 - math.floor(math.log10(step))) if step < 1e15 else 0
    return [low, high], [_rounded(number * step, digits) for number in range(first, last + 1)]


def _round_step(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step))
    return next((each * power for each in (1.0, 2.0, 5.0) if step <= each * power * 1.001), 10 * power)


def _rounded(value: float, digits: int) -> float:
    return round(value, digits) if digits < 300 else value


def log_ticks(values: Iterable[float | None]) -> Ticks:
    """Ticks at powers of ten, on a short axis also between them."""
    known = [math.log10(each) for each in values if each is not None and each > 0] or [0.0]
    margin = max(_MARGIN * (max(known) - min(known)), 0.02)
    low, high = max(min(known) - margin, -_LARGEST_POWER), min(max(known) + margin, _LARGEST_POWER)
    if high - low < 0.5:
        low, high = low - 0.25, high + 0.25
    step = max(1, math.ceil((high - low) / _MOST_POWERS))
    powers = range(math.floor(low), math.ceil(high) + 1, step)
    parts = (1, 2, 5) if high - low < 2 else (1,)
    named = [part * 10.0**power for power in powers for part in parts]
    return [10.0**low, 10.0**high], [each for each in named if low <= math.log10(each) <= high]


def date_ticks(values: Iterable[float | None]) -> tuple[Ticks, Callable[[float], str]]:
    """Ticks at round moments, given and told in seconds since 1970, and how to write them."""
    known = [each for each in values if each is not None] or [0.0]
    low, high = min(known), max(known)
    margin = _MARGIN * (high - low) or _DAY / 2
    ends = [low - margin, high + margin]
    wanted = (ends[1] - ends[0]) / _STEPS
    if wanted <= _SPANS[-1]:
        span = next(each for each in _SPANS if wanted <= each)
        form = "%m-%d %H:%M" if wanted > 60 else "%H:%M:%S"
        return (ends, _multiples(ends, span)), lambda each: _moment(each).strftime(form)
    if wanted <= 20 * _DAY:
        span = _DAY * math.ceil(wanted / _DAY)
        return (ends, _multiples(ends, span)), lambda each: _moment(each).strftime("%Y-%m-%d")
    months = wanted / (30 * _DAY)
    step = next((each for each in _MONTHS if months <= each), 12 * math.ceil(months / 12))
    return (ends, _month_starts(ends, step)), lambda each: _moment(each).strftime("%Y-%m")


def _multiples(ends: Sequence[float], span: float) -> list[float]:
    return [number * span for number in range(math.ceil(ends[0] / span), math.floor(ends[1] / span) + 1)]


def _month_starts(ends: Sequence[float], step: int) -> list[float]:
    first, last = _moment(ends[0]), _moment(ends[1])
    months = range(first.year * 12, last.year * 12 + 12, step)
    starts = [datetime(each // 12, each % 12 + 1, 1, tzinfo=UTC).timestamp() for each in months]
    return [each for each in starts if ends[0] <= each <= ends[1]]


def _moment(seconds: float) -> datetime:
    """The moment, as near as calendars go."""
    return datetime.fromtimestamp(min(max(seconds, -62_135_596_800.0), 253_402_300_799.0), UTC)
