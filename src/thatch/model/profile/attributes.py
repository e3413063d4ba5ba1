"""One attribute of a profile: how often it comes, of what types, and how its values are distributed."""

from __future__ import annotations

from dataclasses import dataclass, field

from thatch.model.lines import Literal

__all__ = ["STEPS", "AttributeProfile"]

STEPS = 200  # between the least and the greatest quantile


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeProfile:
    """What was seen of one attribute. A list counts by its elements, but once as an event that has the attribute.

    Parameters
    ----------
    key : the attribute
    events : events that have it, null included
    values : nulls, falses, trues, NaNs, numbers and texts together
    distinct : how many different values
    quantiles : of the numbers, at equal steps from the least to the greatest; empty if there are none
    text_quantiles : of the texts, which may be cut at their end
    heavy : the most frequent numbers and texts with their counts, the most frequent first
    wide : whole numbers that no double equals, which quantiles and frequent values take as the nearest double
    shortest, longest, characters : lengths of the texts: the least, the greatest, and all together
    """

    key: str
    events: int
    values: int
    nulls: int = 0
    falses: int = 0
    trues: int = 0
    nans: int = 0
    numbers: int = 0
    texts: int = 0
    distinct: int
    quantiles: tuple[float, ...] = field(default=(), repr=False)
    text_quantiles: tuple[str, ...] = field(default=(), repr=False)
    heavy: tuple[tuple[Literal, int], ...] = ()
    wide: int = 0
    shortest: int = 0
    longest: int = 0
    characters: int = 0
