"""A profile as hints for an index: where on an attribute's line events lie."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from thatch.matching.problem import AccessHints, Spread
from thatch.model.derived import derive
from thatch.model.lines import RANK_NUMBER, RANK_TEXT, Cut, point
from thatch.model.names import base_of
from thatch.model.profile import AttributeProfile, Profile

__all__ = ["hints_of"]


def hints_of(profile: Profile) -> AccessHints:
    """The hints that a profile gives: of each attribute that it knows, and of what is derived from one."""

    def hints(key: str) -> Spread | None:
        known = profile.attribute(base_of(key))
        return None if known is None else _spread(key, known, profile.events)

    return hints


def _spread(key: str, known: AttributeProfile, events: int) -> Spread:
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
    found: dict[Cut, float] = {(0,): 1.0 - known.events / max(events, 1)}
    is_derived = key != known.key
    for place, weight in weights.items():
        own = derive(key, place) if is_derived else place
        found[own] = found.get(own, 0.0) + weight * scale
    return _sorted(found)


def _add_others(weights: dict[Cut, float], values: int, places: list[Cut]) -> None:
    if not places:
        return
    rank = places[0][0]
    rest = values - sum(weight for place, weight in weights.items() if place[0] == rank)
    others = [place for place in places if place not in weights]
    if rest > 0 and others:
        for place in others:
            weights[place] = weights.get(place, 0.0) + rest / len(others)


def _sorted(found: dict[Cut, float]) -> Spread:
    numbers = sorted((float(place[1]), share) for place, share in found.items() if place[0] == RANK_NUMBER)
    texts = sorted((place[1].encode(), share) for place, share in found.items() if place[0] == RANK_TEXT)
    return Spread(
        np.array([found.get((rank,), 0.0) for rank in range(RANK_NUMBER)]),
        *_columns(numbers),
        tuple(text for text, _ in texts),
        np.array([share for _, share in texts], np.float64),
    )


def _columns(pairs: list[tuple[float, float]]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    both = np.array(pairs, np.float64).reshape(-1, 2)
    return both[:, 0].copy(), both[:, 1].copy()
