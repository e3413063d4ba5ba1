"""One attribute of a profile: how often it comes, of what types, and how its values are distributed."""

from __future__ import annotations

from dataclasses import dataclass, field

from thatch.model.derived import derive
from thatch.model.lines import BOTTOM, NUMBERS, TEXTS, Constraint, Literal, contains, intersect, point
from thatch.model.names import split
from thatch.model.profile.distributions import Distribution

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

    def share(self, constraint: Constraint) -> float:
        """The share of the values, missing not among them, that satisfy a constraint on the attribute.

        Notes
        -----
        Nulls, booleans, NaNs and all frequent values are counted. An interval of numbers or texts is wrong by less
        than two steps of the quantiles (1 %), and by the error of the quantiles themselves at each of its ends.
        """
        if not self.values:
            return 0.0
        texts = self._texts().share(intersect(constraint, TEXTS)) * self.texts
        return min((self._others(constraint) + texts) / self.values, 1.0)

    def derived_share(self, key: str, constraint: Constraint) -> float:
        """The share of the values for which what is derived from them satisfies a constraint.

        Notes
        -----
        Frequent values are derived one by one; for the others the quantiles stand as a sample.
        """
        if not self.values:
            return 0.0
        # `ip` and `time` give missing for what is no text, the others leave it as it is.
        if split(key)[0][0] in ("lower", "reverse"):
            others = self._others(constraint)
        else:
            others = self.values - self.texts if contains(constraint, BOTTOM) else 0
        heavy = [(value, count) for value, count in self.heavy if isinstance(value, str)]
        known = sum(count for _, count in heavy)
        inside = sum(count for value, count in heavy if contains(constraint, derive(key, point(value))))
        sample = [contains(constraint, derive(key, point(text))) for text in self.text_quantiles]
        rest = max(self.texts - known, 0) * (sum(sample) / len(sample) if sample else 0.0)
        return min((others + inside + rest) / self.values, 1.0)

    def _others(self, constraint: Constraint) -> float:
        """How many of the values that are no texts satisfy a constraint."""
        singles = (self.nulls, self.falses, self.trues, self.nans)
        held = sum(count for rank, count in enumerate(singles, 1) if contains(constraint, (rank,)))
        return held + self._numbers().share(intersect(constraint, NUMBERS)) * self.numbers

    def _numbers(self) -> Distribution:
        heavy = [each for each in self.heavy if not isinstance(each[0], str)]
        return Distribution(self.numbers, self._distinct(self.numbers), self.quantiles, heavy)

    def _texts(self) -> Distribution:
        heavy = [each for each in self.heavy if isinstance(each[0], str)]
        return Distribution(self.texts, self._distinct(self.texts), self.text_quantiles, heavy)

    def _distinct(self, values: int) -> int:
        """Different values of one type: all where the other has none, else in proportion."""
        singles = sum(1 for count in (self.nulls, self.falses, self.trues, self.nans) if count)
        return round((self.distinct - singles) * values / max(self.numbers + self.texts, 1))
