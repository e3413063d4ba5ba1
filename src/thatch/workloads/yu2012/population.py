"""Three sets of subscribers: what they want and where they are.

    1   topics of discussion groups, with popularity by region
    2   50 unit squares by Zipf's law, each wanted at only 10 nodes: feeds, spread over both spaces
    3   rectangles around the centres of a grid, wanted anywhere: hot spots in event space

The paper leaves open, and we assume: event space has a side of 10 in sets 2 and 3; the widths of set 3 are 1 to 5 cells.

The generator of set 1 (Yu, Agarwal and Yang, NetDB 2009) and the statistics of Google Groups that it extrapolates are not
available. Our stand-in has the properties that the paper describes: a poset of topics without the hottest ones; interest
diffusion, top-down, which evens out popularity among subtopics; interest generalisation, bottom-up, which moves a part of
it to the topic above.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.workloads.sampling import draws, zipf_weights
from thatch.workloads.yu2012.network import RATIO, REGIONS, Floats, Ints, NetworkSpace

__all__ = ["LEVELS", "LOAD_FACTORS", "SETS", "Population", "population"]

_SIDE = 100.0  # of the event space of topics
DIFFUSION = {"L": 0.55, "H": 0.0}  # reduction of variance among subtopics, for each interest skewness
GENERALISATION = {"L": 0.01, "H": 0.10}  # share that moves up, for each level of broad interests

_DEPTH, _TOPICS, _HOTTEST = 6, 1_500, 100
_OWN_FROM, _AFFINITY_TO = 3, 3  # levels: the first that people want; the last at which regions differ
_POPULARITY = 1.2  # exponent of Zipf's law
_THINNEST, _GAP, _MARGIN = 0.04, 0.03, 0.02  # of a topic's side


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Topics:
    """Topics, parents first: the box, parent (−1 for the first) and level of each."""

    boxes: Floats
    above: Ints
    level: Ints


def _topic_interests(
    rng: np.random.Generator, network: NetworkSpace, subscribers: int, *, skewness: str, broad: str
) -> tuple[Floats, Ints]:
    """The box of each subscriber, lows before highs, and its node.

    Parameters
    ----------
    skewness : of popularity [IS], "L" or "H"
    broad : level of broad interests [BI], "L" or "H"
    """
    topics = _topics(rng)
    popularity = _popularity(rng, topics)
    for region in range(len(REGIONS)):
        popularity[:, region] = _diffuse(topics, popularity[:, region], DIFFUSION[skewness])
    popularity = _generalise(topics, popularity, GENERALISATION[broad])
    shares = np.asarray(RATIO) / sum(RATIO)
    regions = draws(rng, shares, subscribers)
    topic_of, node_of = np.empty(subscribers, np.int64), np.empty(subscribers, np.int64)
    for region in range(len(REGIONS)):
        mine = np.flatnonzero(regions == region)
        nodes = np.flatnonzero(network.node_regions == region)
        crowds = rng.permutation(zipf_weights(len(nodes), 0.3))
        topic_of[mine] = draws(rng, popularity[:, region], len(mine))
        node_of[mine] = nodes[draws(rng, crowds, len(mine))]
    return topics.boxes[topic_of], node_of


def _topics(rng: np.random.Generator) -> _Topics:
    """Slice a square repeatedly along its longer side, with small gaps, until there are enough topics."""
    boxes, above, level = [(0.0, 0.0, _SIDE, _SIDE)], [-1], [0]
    for topic, box in enumerate(boxes):  # the list grows meanwhile
        if len(boxes) >= _TOPICS:
            break
        if level[topic] == _DEPTH:
            continue
        cuts = np.sort(np.concatenate([[0.0, 1.0], rng.random(rng.integers(1, 6))])).tolist()
        for low, high in pairwise(cuts):
            if high - low >= _THINNEST:
                boxes.append(_slice(box, low, high))
                above.append(topic)
                level.append(level[topic] + 1)
    return _Topics(boxes=np.array(boxes), above=np.array(above), level=np.array(level))


def _slice(
    box: tuple[float, float, float, float], low: float, high: float
) -> tuple[float, float, float, float]:
    left, bottom, right, top = box
    width, height, gap = right - left, top - bottom, _GAP * (high - low)
    if width >= height:
        across = bottom + _MARGIN * height, top - _MARGIN * height
        return left + (low + gap) * width, across[0], left + (high - gap) * width, across[1]
    across = left + _MARGIN * width, right - _MARGIN * width
    return across[0], bottom + (low + gap) * height, across[1], bottom + (high - gap) * height


def _popularity(rng: np.random.Generator, topics: _Topics) -> Floats:
    """The popularity of each topic, a column for each region; the hottest topics are removed."""
    count = len(topics.above)
    own = rng.permutation(zipf_weights(count, _POPULARITY)) * (topics.level >= _OWN_FROM)
    affinity = np.empty((count, len(REGIONS)))
    affinity[0] = np.asarray(RATIO) / sum(RATIO)
    for topic in range(1, count):
        affinity[topic] = affinity[topics.above[topic]]
        if topics.level[topic] <= _AFFINITY_TO:
            # High topics differ much among regions, lower ones less.
            firmness = 2.0 if topics.level[topic] < _AFFINITY_TO else 6.0
            affinity[topic] = rng.dirichlet(firmness * affinity[topic] + 1e-3)
    popularity = own[:, None] * affinity
    popularity /= popularity.sum(axis=0)
    popularity[np.argsort(-(popularity @ np.asarray(RATIO)), kind="stable")[:_HOTTEST]] = 0.0
    return popularity


def _diffuse(topics: _Topics, own: Floats, factor: float) -> Floats:
    """Popularities after diffusion: the variance among subtopics falls by `factor`."""
    if factor == 0.0:
        return own
    mass = own.copy()  # of a topic and all below it
    for topic in range(len(mass) - 1, 0, -1):
        mass[topics.above[topic]] += mass[topic]
    below: list[list[int]] = [[] for _ in own]
    for topic, above in enumerate(topics.above.tolist()[1:], start=1):
        below[above].append(topic)
    wanted, diffused = np.zeros_like(own), np.zeros_like(own)
    wanted[0] = mass[0]
    for topic, children in enumerate(below):
        diffused[topic] = wanted[topic]
        if not children:
            continue
        diffused[topic] *= own[topic] / mass[topic] if mass[topic] > 0 else 0.0
        rest = wanted[topic] - diffused[topic]
        parts = mass[children]
        parts = (
            rest * parts / parts.sum() if parts.sum() > 0 else np.full(len(children), rest / len(children))
        )
        wanted[children] = parts.mean() + np.sqrt(1 - factor) * (parts - parts.mean())
    return np.maximum(diffused, 0.0)


def _generalise(topics: _Topics, popularity: Floats, part: float) -> Floats:
    """Popularities after a part of each moved to its parent, bottom-up; nobody wants everything."""
    moved = popularity.copy()
    for topic in range(len(moved) - 1, 0, -1):
        if topics.above[topic] > 0:
            moved[topics.above[topic]] += part * moved[topic]
            moved[topic] *= 1 - part
    return moved


SETS = (1, 2, 3)
LEVELS = ("L", "H")
LOAD_FACTORS = {1: (1.5, 1.8), 2: (2.3, 2.5), 3: (1.3, 1.5)}  # β and β_max of the paper, for each set

_SIDES = {1: _SIDE, 2: 10.0, 3: 10.0}
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
    network: NetworkSpace,
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
    spread : standard deviation of the distance of subscribers from their nodes, on each axis; 0 is the paper's, above
        0 no two share a location
    jitter : each end of a box moves inwards by at most this share of its side, below 0.5; above 0 no two share a box

    Notes
    -----
    `spread` and `jitter` do not change which subscribers are drawn.
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
        boxes, places = _topic_interests(rng, network, subscribers, skewness=skewness, broad=broad)
    else:
        boxes, places = (_squares if number == 2 else _grid)(rng, network, subscribers)
    locations = network.nodes[places]
    if spread:
        locations = locations + rng.normal(0, spread, locations.shape)
    if jitter:
        boxes = _shrink(rng, boxes, jitter)
    d = boxes.shape[1] // 2
    domain = np.zeros(d), np.full(d, _SIDES[number])
    return Population(locations=locations, lows=boxes[:, :d].copy(), highs=boxes[:, d:].copy(), domain=domain)


def _squares(rng: np.random.Generator, network: NetworkSpace, subscribers: int) -> tuple[Floats, Ints]:
    """Set 2."""
    lows = rng.uniform(0, _SIDES[2] - 1, (_SQUARES, 2))
    places = np.stack([rng.permutation(len(network.nodes))[:_PLACES] for _ in range(_SQUARES)])
    wanted = draws(rng, zipf_weights(_SQUARES, _EXPONENT), subscribers)
    at = places[wanted, rng.integers(0, _PLACES, subscribers)]
    return np.hstack([lows, lows + 1])[wanted], at.astype(np.int64)


def _grid(rng: np.random.Generator, network: NetworkSpace, subscribers: int) -> tuple[Floats, Ints]:
    """Set 3; boxes end where event space does."""
    ranked = rng.permutation(_GRID * _GRID)
    cells = ranked[draws(rng, zipf_weights(_GRID * _GRID, _EXPONENT), subscribers)]
    widths = 1.0 + draws(rng, zipf_weights(_WIDTHS, _EXPONENT), 2 * subscribers).reshape(-1, 2)
    centres = np.column_stack([cells % _GRID, cells // _GRID]) + 0.5
    boxes = np.hstack([centres - widths / 2, centres + widths / 2]).clip(0, _SIDES[3])
    return boxes, rng.integers(0, len(network.nodes), subscribers)


def _shrink(rng: np.random.Generator, boxes: Floats, jitter: float) -> Floats:
    """Move the ends of all boxes inwards a little."""
    d = boxes.shape[1] // 2
    lengths = boxes[:, d:] - boxes[:, :d]
    inwards = rng.uniform(0, jitter, boxes.shape) * np.hstack([lengths, -lengths])
    moved: Floats = boxes + inwards
    return moved
