"""Policies: how much a link leaves out of what it forwards, as values.

Each says which set of rows does the work. All but `Probabilistic` are safe: whatever they leave out is covered by what
they forwarded. Only `Merging` may let events through that nobody wants. They differ in how much they find, and at what price:

    Flooding                    nothing is left out
    Pairwise                    what a single filter covers
    Diagrams                    the same by decision diagrams, in one pass (paper L)
    Exact                       what all filters together cover, within a budget of work
    Probabilistic               the same by random points (paper 000); may leave out too much
    NegativeSpace               the same by keeping what is not covered yet (paper 001)
    Merging                     the same as Exact, and several filters for one around them (paper L)
    ApproximateNegativeSpace    less, with at most so many new boxes a subscription (paper 001)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from thatch.errors import ParameterError, shown
from thatch.reduction.boxes import Boxes, Ints
from thatch.reduction.forwarding.flooded_rows import FloodedRows
from thatch.reduction.forwarding.rows import Source
from thatch.reduction.moves import Moves

if TYPE_CHECKING:  # what these import takes a while to load
    from thatch.model.filters import Filter
    from thatch.model.profile import Profile
    from thatch.reduction.forwarding.judges import Judge
    from thatch.reduction.merging import When

__all__ = [
    "ApproximateNegativeSpace",
    "Diagrams",
    "Exact",
    "Flooding",
    "Merging",
    "NegativeSpace",
    "Pairwise",
    "Policy",
    "Probabilistic",
    "RowSet",
]


class RowSet(Protocol):
    """Rows of boxes that come and go on one link: the contract of every policy."""

    @property
    def active(self) -> tuple[int, ...]:
        """The rows that were forwarded, in the order in which they came."""

    @property
    def passive(self) -> tuple[int, ...]:
        """The rows that need not be known, in the order in which they came."""

    def add(self, row: int, boxes: Boxes | None = None) -> Moves:
        """Take in a row under a number that is free; `boxes` is what it asks for, where no source tells it."""

    def remove(self, row: int) -> Moves:
        """Forget a row."""

    def relabel(self, axis: int, old: Ints, new: Ints) -> None:
        """Give the ends of all boxes on one axis other labels, in the same order."""

    def moved_to(self, source: Source) -> bool:
        """Take what active rows ask for anew, from a source with other labels; False if that cannot be done."""

    def is_active(self, row: int) -> bool:
        """Whether a row was forwarded."""

    def proof(self, row: int) -> tuple[int, ...] | None:
        """The active rows that together cover a passive one; None where no proofs are kept."""

    def stats(self) -> dict[str, int]:
        """Sizes and work counters by name."""


class Policy(Protocol):
    """A value that makes sets of rows."""

    def rows(self, source: Source | None = None) -> RowSet:
        """An empty set.

        Parameters
        ----------
        source : knows what rows ask for; without one, `add` is told
        """


def _covering(judge: Callable[[], Judge], source: Source | None, *, demote: bool) -> RowSet:
    from thatch.reduction.forwarding.covering_set import CoveringSet

    return CoveringSet(judge, demote=demote, source=source)


@dataclass(frozen=True, slots=True)
class Flooding:
    """Forward everything: the baseline of all others."""

    def rows(self, source: Source | None = None) -> RowSet:  # noqa: ARG002 - what rows ask for does not matter
        """An empty set."""
        return FloodedRows()


@dataclass(frozen=True, slots=True)
class Pairwise:
    """Leave out what a single filter covers.

    Parameters
    ----------
    demote : also withdraw what a later filter covers
    """

    demote: bool = False

    def rows(self, source: Source | None = None) -> RowSet:
        """An empty set."""
        from thatch.reduction.forwarding.judges import PairwiseJudge

        return _covering(PairwiseJudge, source, demote=self.demote)


@dataclass(frozen=True, slots=True)
class Diagrams:
    """Leave out what a single filter covers, found by decision diagrams (paper L, section 4).

    Parameters
    ----------
    phases : 1 for one pass that finds who covers and who is covered, 2 for one pass each: the paper's baseline
    demote : also withdraw what a later filter covers, as the paper does
    """

    phases: Literal[1, 2] = 1
    demote: bool = True

    def __post_init__(self) -> None:
        if self.phases not in (1, 2):
            raise ParameterError("1 or 2 phases", shown(self.phases), "phases")

    def rows(self, source: Source | None = None) -> RowSet:
        """An empty set."""
        from thatch.reduction.diagrams import DiagramJudge

        return _covering(lambda: DiagramJudge(self.phases), source, demote=self.demote)


@dataclass(frozen=True, slots=True)
class Exact:
    """Leave out what all forwarded filters together cover.

    Parameters
    ----------
    budget : most cells that one decision may look at, None for a limit that suits the number of filters,
        `math.inf` for none; a decision that runs out forwards, and is counted as `unproved`
    demote : also withdraw what became covered later
    """

    budget: float | None = None
    demote: bool = False

    def __post_init__(self) -> None:
        if self.budget is not None and not self.budget >= 1:
            raise ParameterError("a budget of at least 1", shown(self.budget), "budget")

    def rows(self, source: Source | None = None) -> RowSet:
        """An empty set."""
        from thatch.reduction.forwarding.judges import ExactJudge

        return _covering(lambda: ExactJudge(self.budget), source, demote=self.demote)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merging:
    """Leave out what others cover, and forward one filter around several where that is cheap enough (paper L, section 5).

    A merger lets through what its parts want and, if it is imperfect, events that nobody behind the link wants; brokers
    drop them there. Their share is estimated, with attributes taken as independent.

    Parameters
    ----------
    threshold : most that one merger may let through in vain, as a share of all events; 0 for perfect mergers only
    budget : most that all mergers of the link may together
    intervals : most that a merged predicate may have; `!=` counts as one, a list of values as many
    every : merge when so many subscriptions came or went, None for never because of that
    when : other occasions to merge; some need to be told the time, see `ForwardingSet.tell`
    groups : also forward one filter for three or more that are proved to fill it, though no two of them do
    profile : of the events, None to take them as spread evenly
    advertisements : filters one of which every event satisfies; none if nothing is known
    """

    threshold: float = 0.0
    budget: float = 1.0
    intervals: int = 1
    every: int | None = 1
    when: When | None = None
    groups: bool = False
    profile: Profile | None = None
    advertisements: tuple[Filter, ...] = ()

    def __post_init__(self) -> None:
        for name in ("threshold", "budget"):
            if not 0 <= getattr(self, name) <= 1:
                raise ParameterError("a share between 0 and 1", shown(getattr(self, name)), name)
        for name in ("intervals", "every"):
            value = getattr(self, name)
            if not (name == "every" and value is None) and not value >= 1:
                raise ParameterError("a number of at least 1", shown(value), name)

    def rows(self, source: Source | None = None) -> RowSet:
        """An empty set; only a source that knows filters can have mergers."""
        from thatch.reduction.forwarding.covering_set import CoveringSet
        from thatch.reduction.forwarding.judges import ExactJudge
        from thatch.reduction.forwarding.merging_rows import FilterRows, MergingRows
        from thatch.reduction.merging import Profiled, Traffic, Uniform

        if not isinstance(source, FilterRows):
            raise ParameterError(
                "a source that knows filters, as a ForwardingSet is", shown(source), "source"
            )
        schema = source.schema
        density = Uniform(schema) if self.profile is None else Profiled(self.profile, schema)
        advertised = [part for each in self.advertisements for part in each.conjunctions]
        return MergingRows(
            CoveringSet(lambda: ExactJudge(None), source=source),
            source,
            Traffic(density, advertised),
            self,
        )


@dataclass(frozen=True, slots=True)
class Probabilistic:
    """Leave out what random points find covered (paper 000): a delivery may be lost.

    Parameters
    ----------
    delta : the probability of error that is accepted, between 0 and 1
    seed : where the random points begin
    literal : take the paper's estimate of a witness's probability, which is no lower bound: errors exceed `delta`
    cap : most points for one decision; a decision that would need more is less certain than `delta`
    demote : also withdraw what became covered later
    """

    delta: float
    seed: int = 0
    literal: bool = False
    cap: int | None = None
    demote: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.delta < 1:
            raise ParameterError("a probability between 0 and 1", shown(self.delta), "delta")
        if self.cap is not None and self.cap < 1:
            raise ParameterError("a cap of at least 1", shown(self.cap), "cap")

    def rows(self, source: Source | None = None) -> RowSet:
        """An empty set."""
        import numpy as np

        from thatch.reduction.forwarding.judges import ProbabilisticJudge

        rng = np.random.default_rng(self.seed)  # one stream for all decisions of the set
        return _covering(
            lambda: ProbabilisticJudge(self.delta, rng, literal=self.literal, cap=self.cap),
            source,
            demote=self.demote,
        )


@dataclass(frozen=True, slots=True)
class NegativeSpace:
    """Leave out what misses the space that is not covered yet (paper 001, section 3)."""

    def rows(self, source: Source | None = None) -> RowSet:
        """An empty set."""
        from thatch.reduction.forwarding.spaces import SpaceRows
        from thatch.reduction.negative_space import NegativeSpace as Exactly

        return SpaceRows(Exactly(), source)


@dataclass(frozen=True, slots=True)
class ApproximateNegativeSpace:
    """Leave out what misses an estimate from above of the space that is not covered yet (paper 001, section 4).

    Parameters
    ----------
    k : most new boxes a subscription may add
    metric : which boxes to split first: by "ratio" of benefit and cost, by "benefit" alone, or by "cost"
    dynamic : let the limit follow what earlier subscriptions left over
    literal : count as the paper's figure 8 does, which lets the last split pass the limit
    unsubscribe : "hand back" (figure 9) or "reassign" what a filter covered first
    """

    k: int = 50
    metric: Literal["ratio", "benefit", "cost"] = "ratio"
    dynamic: bool = False
    literal: bool = False
    unsubscribe: Literal["hand back", "reassign"] = "reassign"

    def rows(self, source: Source | None = None) -> RowSet:
        """An empty set."""
        from thatch.reduction.forwarding.spaces import SpaceRows
        from thatch.reduction.negative_space import ApproximateNegativeSpace as Approximately

        space = Approximately(
            self.k,
            metric=self.metric,
            dynamic=self.dynamic,
            literal=self.literal,
            unsubscribe=self.unsubscribe,
        )
        return SpaceRows(space, source)
