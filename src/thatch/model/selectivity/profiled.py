"""The distribution of an attribute that a profile knows."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence

from thatch.model.derived import derive
from thatch.model.lines import BOTTOM, RANK_NUMBER, RANK_TEXT, Cut, around, point
from thatch.model.profile import AttributeProfile
from thatch.model.selectivity.distribution import Distribution
from thatch.model.selectivity.named import NamedValues

__all__ = ["profiled_distribution"]


def profiled_distribution(key: str, known: AttributeProfile, events: int, named: NamedValues) -> Distribution:
    """The distribution of an attribute, or of one derived from it, whose values are then derived one by one.

    Parameters
    ----------
    known : the attribute itself
    events : all events of the profile
    named : the values that filters name
    """

    def place_of(place: Cut) -> Cut:
        return place if key == known.key else derive(key, place)

    atoms: dict[Cut, float] = {}

    def add(place: Cut, count: float) -> None:
        atoms[place] = atoms.get(place, 0.0) + count

    for rank, count in enumerate((known.nulls, known.falses, known.trues, known.nans), 1):
        add(place_of((rank,)), count)
    frequent = [(point(value), count) for value, count in known.heavy]
    for place, count in frequent:
        add(place_of(place), count)
    # By rank: quantiles, and how many values there are besides the frequent ones.
    spread: dict[int, tuple[list[Cut], float]] = {}
    for rank, count, quantiles in (
        (RANK_NUMBER, known.numbers, known.quantiles),
        (RANK_TEXT, known.texts, known.text_quantiles),
    ):
        rest = max(count - sum(number for place, number in frequent if place[0] == rank), 0.0)
        places = [place_of(point(each)) for each in quantiles]
        add(BOTTOM, rest * sum(place == BOTTOM for place in places) / max(len(places), 1))
        places = sorted(place for place in places if place != BOTTOM)
        if places:
            spread[places[0][0]] = places, rest * len(places) / len(quantiles)
    named.leave_out(atoms)
    scale = known.events / max(known.values, 1) / events
    shares = {place: count * scale for place, count in atoms.items()}
    ends, masses = [BOTTOM], [0.0]
    rare = [0.0, 0.0]
    distinct = known.distinct - sum(1 for place, count in atoms.items() if count and place[0] < RANK_NUMBER)
    for rank, (places, rest) in sorted(spread.items()):
        some = {place: count for place, count in atoms.items() if place[0] == rank}
        _add_pieces(ends, masses, places, some, rest, scale)
        both = rest + sum(some.values())
        others = max(round(distinct * both / max(known.numbers + known.texts, 1)) - len(some), 1)
        rare[rank - RANK_NUMBER] = min(rest / others, min(some.values(), default=both)) * scale
    shares[BOTTOM] = shares.get(BOTTOM, 0.0) + 1.0 - known.events / events
    return Distribution(
        shares,
        ends,
        masses,
        rare=(rare[0], rare[1]),
        named=named,
        elements=known.values / max(known.events, 1),
    )


def _add_pieces(
    ends: list[Cut],
    masses: list[float],
    quantiles: Sequence[Cut],
    atoms: Mapping[Cut, float],
    rest: float,
    scale: float,
) -> None:
    """Add pieces between quantiles at equal steps, for the values that are no atoms.

    As many values lie below a quantile as its rank says, and some of them are atoms. Their ranks are off by up to a step,
    so that a difference may be negative: the next piece then makes up for it.
    """
    steps = max(len(quantiles) - 1, 1)
    ordered = sorted(atoms.items())
    all_of_them = rest + sum(atoms.values())
    ends.append(around(quantiles[0])[0])
    masses.append(0.0)
    below = taken = 0.0
    at = 0
    for place in sorted(set(quantiles)):
        while at < len(ordered) and ordered[at][0] <= place:
            taken += ordered[at][1]
            at += 1
        rank = (bisect_right(quantiles, place) - 1) / steps if len(quantiles) > 1 else 1.0
        others = rest if place == quantiles[-1] else max(below, min(rank * all_of_them - taken, rest))
        ends.append(around(place)[1])
        masses.append((others - below) * scale)
        below = others
