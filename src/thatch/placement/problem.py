"""The subscriber assignment problem: which broker serves which subscriber (yu2012, section 2)?

Given are a broker tree, subscribers with locations in network space and interests in event space, and limits:

    complexity   the filter of broker i has at most α_i boxes
    nesting      each box of an interest, and of a child's filter, lies inside ONE box of the filter above it
    latency      the path from the publisher through the leaf to subscriber j has at most length δ_j
    load         a leaf with the share κ_i of all capacity serves at most β κ_i m of m subscribers, and never more than β_max κ_i m

Sought are an assignment and filters of least bandwidth: the sum, over all brokers, of the volume of the union of a
filter's boxes. Volume stands for traffic, as if events were spread evenly; where they are not, `density.py` maps axes by
the distribution functions of attributes. `tables.py` reads a problem from a table, `placing.py` builds one from
subscriptions.

Deviation: the paper lets the union of a filter's boxes cover an interest. We ask for one box, as its algorithms do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from thatch.errors import BoxError, ParameterError, shown
from thatch.placement.arrays import ArrayLike, Floats, Ints, distinct_rows
from thatch.placement.candidates import LATENCY_SLACK, CandidateSets, LeafDistances, SubscriberTypes
from thatch.placement.checks import check_limits, list_some, read_numbers, read_points
from thatch.placement.density import map_to_shares
from thatch.placement.executor import Executor, run_here, spans
from thatch.placement.interests import Interests
from thatch.placement.tree import BrokerTree

__all__ = ["Latency", "PlacementProblem"]

Latency = Literal["path", "last_hop"]

MAX_DELAY = 0.3
_WHOLE_SLACK = 1e-9  # capacities are rounded down, but 2.9999999999 is 3


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PlacementProblem:
    """A valid instance; `PlacementProblem.of` checks and builds one. Symbols of the paper in brackets.

    Parameters
    ----------
    tree : publisher and brokers [T]
    locations : a row of coordinates for each subscriber
    interests : the distinct interests
    interest_of : which of them each subscriber has [σ_j]
    complexities : most boxes in the filter of each node [α_i]; that of the publisher means nothing
    shares : the capacity of each leaf as a share of the whole [κ_i]
    beta, beta_max : the load factor wanted, and the largest one allowed
    limits : the longest path that each subscriber accepts [δ_j]
    shortest : the length of the shortest path to each [Δ_j]
    latency : whether paths begin at the publisher ("path") or at the leaf ("last_hop")
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
    # Found when first asked for; `dataclasses.replace` begins without it.
    _candidates: CandidateSets | None = field(init=False, default=None, repr=False)

    @classmethod
    def of(  # noqa: PLR0913 - the problem has this many parts, all named
        cls,
        tree: BrokerTree,
        locations: ArrayLike,
        lows: ArrayLike,
        highs: ArrayLike,
        *,
        owners: ArrayLike | None = None,
        complexity: ArrayLike = 3,
        shares: ArrayLike | None = None,
        beta: float = 1.5,
        beta_max: float = 1.8,
        max_delay: float | None = None,
        limits: ArrayLike | None = None,
        latency: Latency = "path",
        domain: tuple[ArrayLike, ArrayLike] | None = None,
        density: Sequence[tuple[ArrayLike, ArrayLike]] | None = None,
    ) -> PlacementProblem:
        """Check the parts of a problem and build it.

        Parameters
        ----------
        lows, highs : the boxes that subscribers want, a row for each
        owners : the subscriber of each box, when some have several; by default box j belongs to subscriber j
        complexity : most boxes in a filter, one number for all brokers or one for each node of the tree
        shares : the capacities of the leaves in any unit, by default all the same
        max_delay : a path may be longer than the shortest one by this factor; 0.3 unless `limits` are given
        limits : the longest path for each subscriber, instead of `max_delay`
        domain : low and high ends of event space; boxes outside are refused
        density : how events are distributed on each axis, as histograms (see `map_to_shares`, and `histogram` for those of a
            profile); evenly if not given. Boxes are then in shares of events, and so is bandwidth; beyond a histogram
            there are no events

        Raises
        ------
        BoxError
            If interests are not boxes, lie outside the domain, or a subscriber has none.
        ParameterError
            If any other part is invalid; for limits that no leaf can meet the message says whose, and by how much.
        """
        check_limits(latency, beta, beta_max, max_delay)
        points = read_points(locations, None, tree.locations.shape[1], "subscriber")
        interests, interest_of = Interests.read(lows, highs, owners, len(points))
        if domain is not None:
            _check_domain(interests, domain)
        if density is not None:
            ends = map_to_shares(lows, density), map_to_shares(highs, density)
            interests, interest_of = Interests.read(*ends, owners, len(points))
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
        draft = replace(draft, shortest=_shortest(draft))
        if limits is None:
            delay = MAX_DELAY if max_delay is None else max_delay
            return replace(draft, limits=(1 + delay) * draft.shortest)
        if max_delay is not None:
            raise ParameterError("Give either max_delay or limits, not both", where="limits")
        return draft.with_limits(limits)

    @property
    def subscribers(self) -> int:
        """How many subscribers there are [m]."""
        return len(self.interest_of)

    def with_limits(self, limits: ArrayLike, name: Callable[[int], str] = str) -> PlacementProblem:
        """The same problem with other latency limits; `name` is what messages call a subscriber, given its number.

        Raises
        ------
        ParameterError
            If no leaf can meet the limit of some subscriber: whose it is, and by how much it is too short.
        """
        try:
            array = np.broadcast_to(np.asarray(limits, np.float64), self.shortest.shape).copy()
        except (TypeError, ValueError) as error:
            expected = f"one limit, or one for each of {self.subscribers} subscribers"
            raise ParameterError(expected, shown(limits), "limits") from error
        short = np.flatnonzero(~(array * (1 + LATENCY_SLACK) >= self.shortest)).tolist()
        if short:
            some = list_some([f"{name(j)} (by {self.shortest[j] - array[j]:g})" for j in short])
            raise ParameterError(
                f"No leaf is close enough for the limit of subscriber {some}", where="limits"
            )
        return replace(self, limits=array)

    @property
    def leaf_distances(self) -> LeafDistances:
        """Gives the length of the path to any points through each leaf."""
        return LeafDistances(self.tree.locations[self.tree.leaves], self._offsets[self.tree.leaves])

    def distances(self, served_by: Ints) -> Floats:
        """The length of the path to each subscriber, given its leaf (numbered as in `tree.leaves`)."""
        leaves = self.tree.leaves[served_by]
        steps = self.locations - self.tree.locations[leaves]
        lengths: Floats = np.sqrt((steps**2).sum(axis=1)) + self._offsets[leaves]
        return lengths

    @property
    def _offsets(self) -> Floats:
        """What comes before the last hop, for each node."""
        return self.tree.distances if self.latency == "path" else np.zeros(len(self.tree.parents))

    def delays(self, distances: Floats) -> Floats:
        """By what share paths to all subscribers are longer than the shortest ones."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(distances <= self.shortest, 0.0, distances / self.shortest - 1)

    def candidate_sets(self, executor: Executor = run_here) -> CandidateSets:
        """The leaves that each subscriber may be assigned to without breaking its latency limit; found once."""
        if self._candidates is None:
            found = CandidateSets.find(self.leaf_distances, self.locations, self.limits, executor)
            object.__setattr__(self, "_candidates", found)
            return found
        return self._candidates

    def subscriber_types(self) -> SubscriberTypes:
        """The subscribers grouped by interest and candidate set."""
        return SubscriberTypes.find(self.interest_of, self.candidate_sets())

    def capacities(self, factor: float) -> Ints:
        """The most subscribers of each leaf at a load factor: ⌊b κ_i m⌋."""
        return np.floor(factor * self.shares * self.subscribers + _WHOLE_SLACK).astype(np.int64)

    def load_factor(self, loads: Ints) -> float:
        """The largest load relative to its share [lbf]; infinite if a leaf without capacity serves a subscriber."""
        fair = self.shares * self.subscribers
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = np.where(loads == 0, 0.0, loads / fair)
        return float(factors.max())


def _check_domain(interests: Interests, domain: tuple[ArrayLike, ArrayLike]) -> None:
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


def _complexities(values: ArrayLike, nodes: int) -> Ints:
    array = np.asarray(values)
    if array.dtype.kind not in "iu" or array.shape not in ((), (nodes,)) or array.min() < 1:
        raise ParameterError(
            f"a number of boxes from 1, or one for each of {nodes} nodes", shown(values), "complexity"
        )
    return np.broadcast_to(array, (nodes,)).astype(np.int64)


def _shares(values: ArrayLike | None, leaves: int) -> Floats:
    if values is None:
        return np.full(leaves, 1.0 / leaves)
    expected = f"the capacity of each of {leaves} leaves, none negative, some positive"
    array = read_numbers(values, expected, "shares")
    if array.shape != (leaves,) or not np.isfinite(array).all() or (array < 0).any() or not array.sum() > 0:
        raise ParameterError(expected, shown(values), "shares")
    shares: Floats = array / array.sum()
    return shares


def _shortest(draft: PlacementProblem) -> Floats:
    """The length of the shortest path to each subscriber, computed once for each distinct location."""
    first, location_of = distinct_rows(draft.locations)
    points, distances = draft.locations[first], draft.leaf_distances
    parts = [distances(points[slice(*span)]).min(axis=1) for span in spans(len(points), len(draft.shares))]
    return np.concatenate(parts)[location_of]
