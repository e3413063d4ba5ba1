"""The subscriber assignment problem of paper 003, section 2: which broker serves which subscriber?

Given are a broker tree, subscribers with locations in network space and interests in event space, and limits:

    complexity   the filter of broker i has at most α_i boxes
    nesting      each box of an interest, and of a child's filter, lies inside ONE box of the filter above it
    latency      the way from the publisher through the leaf to subscriber j is at most δ_j long
    load         a leaf with the share κ_i of all capacity has at most β κ_i m of m subscribers, at the very most β_max κ_i m

Sought are an assignment and filters of least bandwidth: the sum, over all brokers, of the volume of the union of a
filter's boxes. Volume stands for traffic, as if events were spread evenly: `density` maps axes by the
distribution functions of attributes where they are not. `tables.py` reads a problem from a table, `placing.py` makes one
of real subscriptions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from thatch.errors import BoxError, ParameterError, shown
from thatch.placement.density import evened
from thatch.placement.interests import Interests
from thatch.placement.rows import Floats, Ints, distinct_rows
from thatch.placement.tree import BrokerTree

__all__ = ["LATENCY_SLACK", "Latency", "Problem"]

Latency = Literal["path", "last_hop"]

# Lengths are sums of square roots: a limit that is met up to rounding is met. Everyone who compares lengths, the
# certificate too, allows this much of the limit.
LATENCY_SLACK = 1e-9
_WHOLE_SLACK = 1e-9  # capacities are rounded down, but 2.9999999999 is 3
_CHUNK = 1 << 22  # lengths that are held at once


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class KnownCandidates:
    """Candidate sets that were found beforehand, for just this tree, these locations and these limits.

    Parameters
    ----------
    bits : a row for each distinct set, with a bit for each leaf
    of : the set of each subscriber
    """

    tree: BrokerTree
    locations: Floats
    limits: Floats
    bits: npt.NDArray[np.uint8]
    of: Ints

    def are_of(self, problem: Problem) -> bool:
        """Whether they hold for a problem, which may have been made of another one."""
        mine, theirs = ((each.tree, each.locations, each.limits) for each in (self, problem))
        return all(one is other for one, other in zip(mine, theirs, strict=True))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Problem:
    """An instance, checked; `Problem.of` makes one. Symbols of the paper in brackets.

    Parameters
    ----------
    tree : publisher and brokers [T]
    locations : a row of coordinates for each subscriber
    interests : the distinct interests
    interest_of : which of them each subscriber has [σ_j]
    complexities : most boxes in the filter of each node [α_i]; that of the publisher means nothing
    shares : the capacity of each leaf as a share of the whole [κ_i]
    beta, beta_max : the load factor wanted, and the largest one that is allowed
    limits : the longest way that each subscriber bears [δ_j]
    shortest : the shortest way that there is for each [Δ_j]
    latency : whether ways begin at the publisher ("path") or at the leaf ("last_hop")
    candidates : who may be served by which leaf, if that was found beforehand
    """

    tree: BrokerTree
    locations: Floats
    interests: Interests
    interest_of: Ints
    complexities: Ints
    shares: Floats
    beta: float
    beta_max: float
    limits: Floats
    shortest: Floats
    latency: Latency
    candidates: KnownCandidates | None = None

    @classmethod
    def of(  # noqa: PLR0913 - the problem has this many parts, all named
        cls,
        tree: BrokerTree,
        locations: Any,
        lows: Any,
        highs: Any,
        *,
        owners: Any = None,
        complexity: Any = 3,
        shares: Any = None,
        beta: float = 1.5,
        beta_max: float = 1.8,
        max_delay: float | None = None,
        limits: Any = None,
        latency: Latency = "path",
        domain: tuple[Any, Any] | None = None,
        density: Sequence[tuple[Any, Any]] | None = None,
    ) -> Problem:
        """The problem with these parts.

        Parameters
        ----------
        lows, highs : the boxes that subscribers want, a row for each
        owners : the subscriber of each box, when some have several; by default box j is that of subscriber j
        complexity : most boxes in a filter, one number for all brokers or one for each node of the tree
        shares : the capacities of the leaves in any unit, by default all the same
        max_delay : a way may be longer than the shortest one by this factor; 0.3 unless `limits` are given
        limits : the longest way for each subscriber, instead of `max_delay`
        domain : low and high ends of event space; boxes outside are refused
        density : how events are distributed on each axis, as histograms (see `evened`, and `histogram` for those of a
            profile); evenly if not given. Boxes are then in shares of events, and so is bandwidth; beyond a histogram
            there are no events

        Raises
        ------
        BoxError
            If interests are no boxes, lie outside the domain, or a subscriber has none.
        ParameterError
            If any other part makes no sense; for limits that no leaf can meet it says whose, and by how much.
        """
        points = _points(locations, tree.locations.shape[1])
        interests, interest_of = Interests.read(lows, highs, owners, len(points))
        if domain is not None:
            _check_domain(interests, domain)
        if density is not None:
            ends = evened(lows, density), evened(highs, density)
            interests, interest_of = Interests.read(*ends, owners, len(points))
        if latency not in ("path", "last_hop"):
            raise ParameterError('"path" or "last_hop"', shown(latency), "latency")
        is_number = all(isinstance(each, int | float | np.number) for each in (beta, beta_max))
        if not is_number or not (1 < beta < beta_max < np.inf):
            raise ParameterError("1 < beta < beta_max", f"{shown(beta)} and {shown(beta_max)}", "beta")
        draft = cls(
            tree=tree,
            locations=points,
            interests=interests,
            interest_of=interest_of,
            complexities=_complexities(complexity, len(tree.parents)),
            shares=_shares(shares, len(tree.leaves)),
            beta=float(beta),
            beta_max=float(beta_max),
            limits=np.zeros(0),
            shortest=np.zeros(0),
            latency=latency,
        )
        return _limited(draft, max_delay, limits)

    @property
    def subscribers(self) -> int:
        """How many subscribers there are [m]."""
        return len(self.interest_of)

    def limited(self, limits: Floats) -> Problem:
        """The same problem with other limits, which some leaf must be able to meet; see `of`."""
        return _limited(self, None, limits)

    def latencies(self, first: int = 0, last: int | None = None) -> Floats:
        """The way of subscribers `first` to `last` − 1 through each leaf: a row a subscriber, a column a leaf."""
        points = self.locations[first:last]
        leaves = self.tree.locations[self.tree.leaves]
        squares = np.zeros((len(points), len(leaves)))
        for axis in range(points.shape[1]):
            squares += (points[:, axis, None] - leaves[None, :, axis]) ** 2
        ways = np.sqrt(squares, out=squares)
        if self.latency == "path":
            ways += self.tree.distances[self.tree.leaves]
        return ways

    def chunks(self) -> list[tuple[int, int]]:
        """Ranges of subscribers whose ways are few enough to be held at once."""
        step = max(1, _CHUNK // len(self.tree.leaves))
        return [(at, min(at + step, self.subscribers)) for at in range(0, self.subscribers, step)]

    def capacities(self, factor: float) -> Ints:
        """The most subscribers of each leaf at a load factor: ⌊b κ_i m⌋."""
        return np.floor(factor * self.shares * self.subscribers + _WHOLE_SLACK).astype(np.int64)

    def load_factor(self, loads: Ints) -> float:
        """The largest load relative to its share [lbf]; infinite if a leaf without capacity serves somebody."""
        fair = self.shares * self.subscribers
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = np.where(loads == 0, 0.0, loads / fair)
        return float(factors.max())


def _points(values: Any, axes: int) -> Floats:
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError("numbers", shown(values), "locations of subscribers") from error
    if array.ndim != 2 or array.shape[1] != axes or not len(array):
        raise ParameterError(
            f"at least one subscriber, each with {axes} coordinates",
            f"shape {array.shape}",
            "locations of subscribers",
        )
    if not np.isfinite(array).all():
        row = int(np.argwhere(~np.isfinite(array))[0, 0])
        raise ParameterError(
            "finite coordinates", shown(array[row].tolist()), f"location of subscriber {row}"
        )
    return np.ascontiguousarray(array)


def _check_domain(interests: Interests, domain: tuple[Any, Any]) -> None:
    d = interests.axes
    try:
        low, high = (np.asarray(each, np.float64) for each in domain)
    except (TypeError, ValueError) as error:
        raise BoxError(f"a low and a higher end on each of {d} axes", shown(domain), "domain") from error
    if low.shape != (d,) or high.shape != (d,) or not (low < high).all():
        raise BoxError(f"a low and a higher end on each of {d} axes", shown(domain), "domain")
    outside = (interests.boxes[:, :d] < low) | (interests.boxes[:, d:] > high)
    if outside.any():
        box, axis = (int(each) for each in np.argwhere(outside)[0])
        row = interests.boxes[box]
        raise BoxError(
            f"boxes inside the domain, {low[axis]} to {high[axis]}",
            f"{row[axis]} to {row[d + axis]}",
            f"interests, axis {axis}",
        )


def _complexities(values: Any, nodes: int) -> Ints:
    array = np.asarray(values)
    if array.dtype.kind not in "iu" or array.shape not in ((), (nodes,)) or array.min() < 1:
        raise ParameterError(
            f"a whole number of boxes from 1, or one for each of {nodes} nodes", shown(values), "complexity"
        )
    return np.broadcast_to(array, (nodes,)).astype(np.int64)


def _shares(values: Any, leaves: int) -> Floats:
    if values is None:
        return np.full(leaves, 1.0 / leaves)
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape != (leaves,) or not np.isfinite(array).all() or (array < 0).any() or not array.sum() > 0:
        raise ParameterError(
            f"the capacity of each of {leaves} leaves, none negative, some positive", shown(values), "shares"
        )
    shares: Floats = array / array.sum()
    return shares


def _shortest(draft: Problem) -> Floats:
    """The shortest way of each subscriber, found once for all at one place."""
    first, place_of = distinct_rows(draft.locations)
    places = replace(draft, locations=draft.locations[first], interest_of=draft.interest_of[first])
    return np.concatenate([places.latencies(*each).min(axis=1) for each in places.chunks()])[place_of]


def _limited(draft: Problem, max_delay: float | None, limits: Any) -> Problem:
    """The problem with its latency limits."""
    if max_delay is not None and limits is not None:
        raise ParameterError("either max_delay or limits", "both", "limits")
    shortest = draft.shortest if len(draft.shortest) else _shortest(draft)
    if limits is None:
        delay = 0.3 if max_delay is None else max_delay
        if not (0 <= delay < np.inf):
            raise ParameterError("a delay from 0", shown(max_delay), "max_delay")
        return replace(draft, shortest=shortest, limits=(1 + delay) * shortest)
    try:
        array = np.broadcast_to(np.asarray(limits, np.float64), shortest.shape).copy()
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"a limit for all, or one for each of {len(shortest)} subscribers", shown(limits), "limits"
        ) from error
    short = np.flatnonzero(~(array * (1 + LATENCY_SLACK) >= shortest))
    if len(short):
        told = ", ".join(f"{each} (by {shortest[each] - array[each]:g})" for each in short[:5])
        more = f" and {len(short) - 5} more" if len(short) > 5 else ""
        raise ParameterError(
            "limits that some leaf can meet", f"too short a limit for subscribers {told}{more}", "limits"
        )
    return replace(draft, shortest=shortest, limits=array)
