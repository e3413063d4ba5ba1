"""Brokers on two levels, with tight and with loose limits of latency: the setting of figures 9, 10 and 13 to 15."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from thatch.experiments.trials import Grid, Value
from thatch.experiments.yu2012.placements import FEW, SETTING, SMALL, WITH_SLP, placements

__all__ = ["FEW_OF_TWO", "LARGE", "LEVELS", "LEVEL_NAMES", "TIGHT_LOOSE", "one_and_two", "tight_and_loose"]

LARGE = 200  # brokers, the paper's
FEW_OF_TWO = 12  # of the quick size
LEVEL_NAMES = {1: "one level", 2: "two levels"}
TIGHT_LOOSE = {"tight": 0.2, "loose": 1.0}  # the maximum delay of each
LEVELS = (
    SETTING
    + "200 brokers on two levels, 13 of them inner with at most 15 children, 100,000 subscribers, not screened. "
    "Tight: delay 0.2, β and β_max 7 / 6 and 8 / 6 of the least load factor there is (the paper has 7 and 8 above one "
    "around 6). Loose: delay 1, 1.3 and 1.5. "
)


def tight_and_loose(seeds: int, **choices: Sequence[Value]) -> Grid:
    """Trials with both limits."""
    return _limited(seeds, "tight", choices) + _limited(seeds, "loose", choices)


def one_and_two(seeds: int, *, is_quick: bool = False, **choices: Sequence[Value]) -> Grid:
    """Trials of SLP on one level, and on two with loose limits."""
    choices = {"algorithms": (WITH_SLP,), **choices}
    one, two = choices, choices
    if is_quick:
        choices = {"subscribers": (SMALL,), **choices}
        one, two = {"brokers": (FEW,), **choices}, {"brokers": (FEW_OF_TWO,), **choices}
    return placements(seeds, **one) + _limited(seeds, "loose", two)


def _limited(seeds: int, limits: str, choices: Mapping[str, Sequence[Value]]) -> Grid:
    usual: dict[str, Sequence[Value]] = {"brokers": (LARGE,), "levels": (2,)}
    limited: dict[str, Sequence[Value]] = {"limits": (limits,), "delay": (TIGHT_LOOSE[limits],)}
    return placements(seeds, **{**usual, **choices, **limited})
