"""Three sets of subscribers: who wants what, and is where.

    1   topics that people form groups around, liked by region; see `topics.py`
    2   50 unit squares by Zipf's law, each wanted at 10 nodes only: feeds, alike in neither space
    3   rectangles around the centres of a grid, wanted anywhere: hot spots in event space

Open in the paper, and read here: event space has a side of 10 in sets 2 and 3; the widths of set 3 are 1 to 5 cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.workloads.sampling import draws, zipf_weights
from thatch.workloads.yu2012.network import Floats, Ints, Network
from thatch.workloads.yu2012.topics import SIDE, topic_interests

__all__ = ["LEVELS", "LOAD_FACTORS", "SETS", "Population", "population"]

SETS = (1, 2, 3)
LEVELS = ("L", "H")
LOAD_FACTORS = {1: (1.5, 1.8), 2: (2.3, 2.5), 3: (1.3, 1.5)}  # β and β_max of the paper, for each set

_SIDES = {1: SIDE, 2: 10.0, 3: 10.0}
_SQUARES, _PLACES = 50, 10
_GRID, _WIDTHS = 10, 5
_EXPONENT = 0.5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Population:
    """Subscribers as `Problem.of` takes them.

    Parameters
    ----------
    locations : a point in network space for each
    lows, highs : a box in event space for each
    domain : low and high ends of event space
    """

    locations: Floats
    lows: Floats
    highs: Floats
    domain: tuple[Floats, Floats]


def population(
    rng: np.random.Generator,
    network: Network,
    subscribers: int,
    number: int = 1,
    *,
    skewness: str = "H",
    broad: str = "L",
    spread: float = 0.0,
    jitter: float = 0.0,
) -> Population:
    """The subscribers of one of the `SETS`.

    Parameters
    ----------
    number : which set
    skewness, broad : interest skewness [IS] and broad interests [BI] of set 1, each "L" or "H"; other sets have none
    spread : how far subscribers are from their nodes, as the standard deviation on each axis; 0 is the paper's, and
        above it nobody shares a location
    jitter : by what share of its side each end of a box is moved inwards at most, below 0.5; above 0 nobody shares a box

    Notes
    -----
    The same generator gives the same people whatever `spread` and `jitter` are.
    """
    if number not in SETS:
        raise ParameterError("one of 1, 2, 3", shown(number), "number")
    if subscribers < 1:
        raise ParameterError("at least one subscriber", shown(subscribers), "subscribers")
    if skewness not in LEVELS or broad not in LEVELS:
        raise ParameterError('"L" or "H"', f"{shown(skewness)} and {shown(broad)}", "skewness and broad")
    if not (0 <= spread < np.inf and 0 <= jitter < 0.5):
        raise ParameterError(
            "a spread from 0 and a jitter from 0 to below 0.5",
            f"{shown(spread)} and {shown(jitter)}",
            "population",
        )
    if number == 1:
        boxes, places = topic_interests(rng, network, subscribers, skewness=skewness, broad=broad)
    else:
        boxes, places = (_squares if number == 2 else _grid)(rng, network, subscribers)
    locations = network.nodes[places]
    if spread:
        locations = locations + rng.normal(0, spread, locations.shape)
    if jitter:
        boxes = _shrunk(rng, boxes, jitter)
    d = boxes.shape[1] // 2
    domain = np.zeros(d), np.full(d, _SIDES[number])
    return Population(locations=locations, lows=boxes[:, :d].copy(), highs=boxes[:, d:].copy(), domain=domain)


def _squares(rng: np.random.Generator, network: Network, subscribers: int) -> tuple[Floats, Ints]:
    """Set 2."""
    lows = rng.uniform(0, _SIDES[2] - 1, (_SQUARES, 2))
    places = np.stack([rng.permutation(len(network.nodes))[:_PLACES] for _ in range(_SQUARES)])
    wanted = draws(rng, zipf_weights(_SQUARES, _EXPONENT), subscribers)
    at = places[wanted, rng.integers(0, _PLACES, subscribers)]
    return np.hstack([lows, lows + 1])[wanted], at.astype(np.int64)


def _grid(rng: np.random.Generator, network: Network, subscribers: int) -> tuple[Floats, Ints]:
    """Set 3; boxes end where event space does."""
    ranked = rng.permutation(_GRID * _GRID)
    cells = ranked[draws(rng, zipf_weights(_GRID * _GRID, _EXPONENT), subscribers)]
    widths = 1.0 + draws(rng, zipf_weights(_WIDTHS, _EXPONENT), 2 * subscribers).reshape(-1, 2)
    centres = np.column_stack([cells % _GRID, cells // _GRID]) + 0.5
    boxes = np.hstack([centres - widths / 2, centres + widths / 2]).clip(0, _SIDES[3])
    return boxes, rng.integers(0, len(network.nodes), subscribers)


def _shrunk(rng: np.random.Generator, boxes: Floats, jitter: float) -> Floats:
    """Each end of each box moved inwards a little."""
    d = boxes.shape[1] // 2
    lengths = boxes[:, d:] - boxes[:, :d]
    inwards = rng.uniform(0, jitter, boxes.shape) * np.hstack([lengths, -lengths])
    moved: Floats = boxes + inwards
    return moved
