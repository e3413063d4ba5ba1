"""The estimate of how likely an event satisfies a predicate, from a profile of events or from what filters name.

A sample of events is given as its profile, `Profile.of(events)`. All answers follow from one distribution along the line
of each attribute (see `thatch.model.lines`), so they lie between 0 and 1, grow with the constraint, and add up over
parts of the line. Attributes are taken to be independent of each other.

*With a profile*
    A predicate that the profile measured is answered as measured. Otherwise missing, null, booleans, NaN and frequent
    values are counted, and what lies between two quantiles is spread: numbers evenly, texts by how many of those that
    filters name lie below. An attribute that the profile lacks is missing from all events. Of an attribute derived
    from another (`lower(x)`), frequent values and quantiles are derived one by one. Elements of a list are
    independent: if a share s of the values satisfies a constraint, an event with n of them does with 1 - (1 - s)^n.
*Without a profile*
    The parts of the line that filters ask about (missing, null, booleans, NaN, numbers, texts) are equally likely;
    attributes are missing or null only if some filter asks for that. If no filter says what values are, booleans,
    numbers and texts are equally likely, or what the schema allows of them. True and false are.
    Numbers lie evenly between declared bounds, whole ones being counted; without bounds, from a step below the least
    number that filters name to a step above the greatest, a step being their mean distance (of one number n, |n| or 1).
    Listed values of an `Enum` are equally likely.
*Values that filters name by themselves* (`x = 5`, `x in ('a', 'b')`)
    With a profile they are as likely as other values that are not frequent. Without one, of n named numbers or texts
    each has 1 / (n + 1), unless whole numbers are declared; the rest is spread as above. A question about one value
    that was not named is answered as though it had been: this alone does not add up with the rest of the line.
*Checks that are no intervals* (wildcards, geofences)
    They count as the intervals that they imply, or as one half if they imply none, unless they were measured.

The **upper** estimate is for those who must not underestimate. With a profile, an interval is at least as likely as one
value that is not frequent, if any may lie in it, and an attribute that the profile lacks is taken as though there were
no profile. Without one, each part of the line may be all that comes, numbers lie only between those that are named, an
interval has at least the share of one named value, and all texts that nobody names count as one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import prod

from thatch.model.conjunctions import Conjunction
from thatch.model.lines import BOTTOM, Constraint, Cut
from thatch.model.names import base_of
from thatch.model.printing import PrintedCondition, can_be_said, constraint_text
from thatch.model.profile import AttributeProfile, Profile
from thatch.model.schema import Schema, line_of
from thatch.model.selectivity.assumed import assumed_distribution, assumed_upper
from thatch.model.selectivity.distribution import Distribution
from thatch.model.selectivity.named import NamedValues
from thatch.model.selectivity.profiled import profiled_distribution
from thatch.model.types import Integer

__all__ = ["Selectivity"]

_MOST_ANSWERS = 100_000  # that are kept of one attribute
_UNKNOWN = 0.5  # of a check that implies no interval
_ALWAYS_MISSING = Distribution({BOTTOM: 1.0}, (BOTTOM,), (0.0,))


@dataclass(slots=True)
class _AttributeEstimates:
    """What is known of one attribute, and what was asked about it."""

    named: NamedValues
    distribution: Distribution = _ALWAYS_MISSING
    is_stale: bool = True
    estimates: dict[Constraint, float] = field(default_factory=dict)
    uppers: dict[Constraint, float] = field(default_factory=dict)


class Selectivity:
    """How likely events satisfy predicates; the module says how that is estimated.

    Parameters
    ----------
    profile : of events, None if nothing was measured
    schema : declared types
    named : the values that filters name, by attribute; `observe` adds more

    Examples
    --------
    >>> import thatch
    >>> from thatch.model.profile import Profile
    >>> cheap = thatch.parse("price < 30").conjunctions[0]
    >>> known = Selectivity(Profile.of({"price": price} for price in range(100)))
    >>> round(known.estimate(*cheap.constraints[0]), 3)
    0.3
    >>> assumed = Selectivity()
    >>> assumed.observe(cheap)
    >>> assumed.estimate(*cheap.constraints[0]), assumed.upper(*cheap.constraints[0])
    (0.5, 1.0)
    """

    def __init__(
        self,
        profile: Profile | None = None,
        schema: Schema | None = None,
        *,
        named: Mapping[str, NamedValues] | None = None,
    ) -> None:
        self._profile, self._schema = profile, schema
        self._measured = {} if profile is None else {each.text: each.events for each in profile.predicates}
        self._attributes = {key: _AttributeEstimates(each) for key, each in (named or {}).items()}

    @property
    def named(self) -> dict[str, NamedValues]:
        """The values that filters name, by attribute."""
        return {key: each.named for key, each in self._attributes.items()}

    @property
    def is_measured(self) -> bool:
        """Whether some values may be known never to come."""
        return self._profile is not None

    def observe(self, conjunction: Conjunction) -> None:
        """Learn the values that a conjunction names."""
        for key, constraint in conjunction.constraints:
            self.name(key, constraint)

    def name(self, key: str, constraint: Constraint) -> None:
        """Learn the values that a constraint on an attribute names."""
        attribute = self._attribute(key)
        if attribute.named.add(constraint, is_whole=isinstance(line_of(key, self._schema), Integer)):
            attribute.is_stale |= self._profile is None  # a profile's distribution knows what is named later
            attribute.estimates.clear()
            attribute.uppers.clear()

    def estimate(self, key: str, constraint: Constraint) -> float:
        """The share of events that satisfy a constraint on an attribute."""
        return _kept(self._attribute(key).estimates, constraint, lambda: self._estimate(key, constraint))

    def upper(self, key: str, constraint: Constraint) -> float:
        """At least the share of events that satisfy a constraint on an attribute."""
        return _kept(self._attribute(key).uppers, constraint, lambda: self._upper(key, constraint))

    def of_condition(self, condition: PrintedCondition) -> float:
        """The share of events that satisfy a condition of a filter: measured, or the product of its constraints."""
        if condition.text in self._measured and self._profile is not None and self._profile.events:
            return self._measured[condition.text] / self._profile.events
        if not condition.constraints:
            return _UNKNOWN
        return prod(self.estimate(key, constraint) for key, constraint in condition.constraints)

    def below(self, key: str, cuts: Iterable[Cut]) -> list[float]:
        """The share of events that lie below each cut on an attribute's line; of lists, the share of values."""
        distribution = self._distribution(key)
        return [distribution.below(cut) for cut in cuts]

    def stand_ins(self, key: str) -> dict[Cut, float]:
        """Points that stand for all values of an attribute, with their shares of events."""
        return self._distribution(key).stand_ins()

    def _estimate(self, key: str, constraint: Constraint) -> float:
        measured = self._measured_share(key, constraint)
        return self._distribution(key).estimate(constraint) if measured is None else measured

    def _upper(self, key: str, constraint: Constraint) -> float:
        measured = self._measured_share(key, constraint)
        if measured is not None:
            return measured
        if self._known(key) is not None:
            return self._distribution(key).upper(constraint)
        line, named = line_of(key, self._schema), self._attribute(key).named
        assumed = self._distribution(key) if self._profile is None else assumed_distribution(line, named)
        return max(assumed_upper(line, named, constraint), assumed.estimate(constraint))

    def _measured_share(self, key: str, constraint: Constraint) -> float | None:
        if self._profile is None or not self._measured or not self._profile.events:
            return None
        if not can_be_said(key, constraint, self._schema):  # such as what lies between two filters
            return None
        events = self._measured.get(constraint_text(key, constraint, self._schema))
        return None if events is None else events / self._profile.events

    def _attribute(self, key: str) -> _AttributeEstimates:
        found = self._attributes.get(key)
        if found is None:
            found = self._attributes[key] = _AttributeEstimates(NamedValues())
        return found

    def _known(self, key: str) -> AttributeProfile | None:
        """What the profile knows of an attribute, or of that from which it is derived."""
        known = None if self._profile is None else self._profile.attribute(base_of(key))
        return known if known is not None and known.events else None

    def _distribution(self, key: str) -> Distribution:
        attribute = self._attribute(key)
        if attribute.is_stale:
            known = self._known(key)
            if self._profile is None:
                attribute.distribution = assumed_distribution(line_of(key, self._schema), attribute.named)
            elif known is not None:
                attribute.distribution = profiled_distribution(
                    key, known, self._profile.events, attribute.named
                )
            attribute.is_stale = False
        return attribute.distribution


def _kept(answers: dict[Constraint, float], constraint: Constraint, answer: Callable[[], float]) -> float:
    found = answers.get(constraint)
    if found is None:
        if len(answers) >= _MOST_ANSWERS:
            answers.clear()
        found = answers[constraint] = answer()
    return found
