"""Set #1: topics as people form groups around them, more general ones around more special ones, liked by region.

The generator of the paper (Yu, Agarwal and Yang, NetDB 2009) and the statistics of Google Groups that it extrapolates are
not available. This stand-in has what the paper tells of it: a poset of topics, the hottest ones removed; interest
diffusion, top-down, which evens out popularity among subtopics; interest generalisation, bottom-up, which moves a part of
it to the topic above.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from thatch.workloads.sampling import draws, zipf_weights
from thatch.workloads.yu2012.network import RATIO, REGIONS, Floats, Ints, Network

__all__ = ["SIDE", "topic_interests"]

SIDE = 100.0  # of event space
DIFFUSION = {"L": 0.55, "H": 0.0}  # by how much variance among subtopics falls, for each interest skewness
GENERALISATION = {"L": 0.01, "H": 0.10}  # what part moves up, for each number of broad interests

_DEPTH, _TOPICS, _HOTTEST = 6, 1_500, 100
_OWN_FROM, _AFFINITY_TO = 3, 3  # levels: people ask for topics from here on; regions differ down to there
_POPULARITY = 1.2  # exponent of Zipf's law
_THINNEST, _GAP, _MARGIN = 0.04, 0.03, 0.02  # of a topic's side


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Topics:
    """Topics, those above before those below: a box, the topic above (−1 for the first) and the level of each."""

    boxes: Floats
    above: Ints
    level: Ints


def topic_interests(
    rng: np.random.Generator, network: Network, subscribers: int, *, skewness: str, broad: str
) -> tuple[Floats, Ints]:
    """The box that each subscriber wants, lows before highs, and its node.

    Parameters
    ----------
    skewness : of popularity [IS], "L" or "H"
    broad : how many interests are broad [BI], "L" or "H"
    """
    topics = _topics(rng)
    popularity = _popularity(rng, topics)
    for region in range(len(REGIONS)):
        popularity[:, region] = _diffused(topics, popularity[:, region], DIFFUSION[skewness])
    popularity = _generalised(topics, popularity, GENERALISATION[broad])
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
    """A square sliced again and again along its longer side, with small gaps, until there are topics enough."""
    boxes, above, level = [(0.0, 0.0, SIDE, SIDE)], [-1], [0]
    for topic, box in enumerate(boxes):  # which grows meanwhile
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
    """How many want a topic itself, a column a region; the hottest of all are gone."""
    count = len(topics.above)
    own = rng.permutation(zipf_weights(count, _POPULARITY)) * (topics.level >= _OWN_FROM)
    affinity = np.empty((count, len(REGIONS)))
    affinity[0] = np.asarray(RATIO) / sum(RATIO)
    for topic in range(1, count):
        affinity[topic] = affinity[topics.above[topic]]
        if topics.level[topic] <= _AFFINITY_TO:
            # Topics high up differ much among regions, those below them less.
            firmness = 2.0 if topics.level[topic] < _AFFINITY_TO else 6.0
            affinity[topic] = rng.dirichlet(firmness * affinity[topic] + 1e-3)
    popularity = own[:, None] * affinity
    popularity /= popularity.sum(axis=0)
    popularity[np.argsort(-(popularity @ np.asarray(RATIO)), kind="stable")[:_HOTTEST]] = 0.0
    return popularity


def _diffused(topics: _Topics, own: Floats, factor: float) -> Floats:
    """The popularities of topics after those of subtopics came nearer to their mean: variance falls by `factor`."""
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


def _generalised(topics: _Topics, popularity: Floats, part: float) -> Floats:
    """Popularities after a part of each moved to the topic above, from below upwards; nobody wants everything."""
    moved = popularity.copy()
    for topic in range(len(moved) - 1, 0, -1):
        if topics.above[topic] > 0:
            moved[topics.above[topic]] += part * moved[topic]
            moved[topic] *= 1 - part
    return moved
