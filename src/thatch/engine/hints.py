"""A profile as hints for an index: where on an attribute's line events lie."""

from __future__ import annotations

from thatch.errors import ParameterError, shown
from thatch.matching.problem import AccessHints, Spread
from thatch.model.lines import Cut, point
from thatch.model.profile import AttributeProfile, Profile

__all__ = ["chosen_hints", "hints_of"]


def chosen_hints(profile: Profile | None, hints: AccessHints | None) -> AccessHints | None:
    """The hints of an engine that is given a profile, or hints, or neither.

    Raises
    ------
    ParameterError
        If both are given, or something else is.
    """
    if profile is None:
        if hints is not None and not isinstance(hints, AccessHints):
            raise ParameterError("hints of thatch.planning.access_hints", shown(hints), "hints")
        return hints
    if not isinstance(profile, Profile):
        raise ParameterError("a profile", shown(profile), "profile")
    if hints is not None:
        raise ParameterError("a profile or hints", "both", "hints")
    return hints_of(profile)


def hints_of(profile: Profile) -> AccessHints:
    """The hints that a profile alone gives, without the filters: where events lie, of each attribute that it knows."""
    return AccessHints({each.key: _spread(each, profile.events) for each in profile.attributes})


def _spread(known: AttributeProfile, events: int) -> Spread:
    """Frequent values with their counts; quantiles stand for all others, each for as many."""
    weights: dict[Cut, float] = {}
    for rank, count in enumerate((known.nulls, known.falses, known.trues, known.nans), 1):
        weights[(rank,)] = float(count)
    for value, count in known.heavy:
        weights[point(value)] = float(count)
    for values, quantiles in ((known.numbers, known.quantiles), (known.texts, known.text_quantiles)):
        _add_others(weights, values, [point(each) for each in quantiles])
    # Of several elements each is a part of the event.
    scale = known.events / max(known.values, 1) / max(events, 1)
    shares = {place: weight * scale for place, weight in weights.items()}
    return Spread.of({(0,): 1.0 - known.events / max(events, 1), **shares})


def _add_others(weights: dict[Cut, float], values: int, places: list[Cut]) -> None:
    if not places:
        return
    rank = places[0][0]
    rest = values - sum(weight for place, weight in weights.items() if place[0] == rank)
    others = [place for place in places if place not in weights]
    if rest > 0 and others:
        for place in others:
            weights[place] = weights.get(place, 0.0) + rest / len(others)
