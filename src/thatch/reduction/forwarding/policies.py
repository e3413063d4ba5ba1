"""Policies: how much a link leaves out of what it forwards, as values.

`forwarding_set.make_rows` makes the rows that do the work. All but `Probabilistic` are safe: whatever they leave out is covered by what
they forwarded. Only `Merging` may let events through that nobody wants. They differ in what they find, and at what cost:

    Flooding                    leaves nothing out
    Pairwise                    leaves out what a single filter covers
    Diagrams                    the same by decision diagrams, in one pass (li2005)
    Exact                       leaves out what all filters together cover, within a budget of work
    Probabilistic               the same by random points (ouksel2006); may leave out too much
    NegativeSpace               the same by keeping the space that is not covered yet (jafarpour2008)
    ApproximateNegativeSpace    less, with a limit on the new boxes of each subscription (jafarpour2008)
    Merging                     the same as Exact, and one filter around several (li2005)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from thatch.errors import ParameterError, shown

if TYPE_CHECKING:  # these take a while to load
    from thatch.model.filters import Filter
    from thatch.model.profile import Profile
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
]


SPACE_BUDGET = 4_000_000  # sides: some hundred megabytes with room to grow


@dataclass(frozen=True, slots=True)
class Flooding:
    """Forward everything: the baseline of all others."""


@dataclass(frozen=True, slots=True)
class Pairwise:
    """Leave out what a single filter covers.

    Parameters
    ----------
    demote : also withdraw what a later filter covers
    """

    demote: bool = False


@dataclass(frozen=True, slots=True)
class Diagrams:
    """Leave out what a single filter covers, found by decision diagrams (li2005, section 4).

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


@dataclass(frozen=True, slots=True)
class Exact:
    """Leave out what all forwarded filters together cover.

    Parameters
    ----------
    budget : most cells that one decision may look at, None for a limit that suits the number of filters,
        `math.inf` for no limit; a filter whose decision runs out is forwarded, and counted as `unproved`
    demote : also withdraw what became covered later
    """

    budget: float | None = None
    demote: bool = False

    def __post_init__(self) -> None:
        if self.budget is not None and not self.budget >= 1:
            raise ParameterError("a budget of at least 1", shown(self.budget), "budget")


@dataclass(frozen=True, slots=True, kw_only=True)
class Merging:
    """Leave out what others cover, and forward one filter around several where that is cheap enough (li2005, section 5).

    A merger lets through what its parts want and, if it is imperfect, events that nobody behind the link wants; the next
    broker drops those. Their share is estimated, with attributes taken as independent.

    Parameters
    ----------
    threshold : most that one merger may let through in vain, as a share of all events; 0 for perfect mergers only
    budget : most that all mergers of the link together may let through in vain
    intervals : most intervals of a merged predicate; `!=` counts as one, a list of values as many
    every : merge after so many subscriptions came or went, None to not count them
    when : further conditions for merging; some need the time, see `ForwardingSet.merge_if_due`
    groups : also forward one filter for three or more that provably fill it, though no two of them do
    profile : of the events, None to assume that they are spread evenly
    advertisements : filters, one of which every event satisfies; empty if nothing is known
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


@dataclass(frozen=True, slots=True)
class Probabilistic:
    """Leave out what random points find covered (ouksel2006): a delivery may be lost.

    Parameters
    ----------
    delta : the accepted probability of error, between 0 and 1
    seed : of the random points
    literal : use the paper's estimate of a witness's probability, which is no lower bound: errors exceed `delta`
    cap : most points for one decision; a decision that needs more is less certain than `delta`. Without it a million, and
        a filter whose decision needs more is forwarded, and counted as `unproved`
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


@dataclass(frozen=True, slots=True)
class NegativeSpace:
    """Leave out what lies outside the space that is not covered yet (jafarpour2008, section 3).

    Parameters
    ----------
    budget : most sides of boxes (16 bytes each) to hold, and a few times as many to look at in one change; what
        needs more is taken as uncovered, so that more is forwarded, and counted as `unproved`
    """

    budget: int = SPACE_BUDGET

    def __post_init__(self) -> None:
        _check_space_budget(self.budget)


@dataclass(frozen=True, slots=True)
class ApproximateNegativeSpace:
    """Leave out what lies outside an upper estimate of the space that is not covered yet (jafarpour2008, section 4).

    Parameters
    ----------
    k : most new boxes that one subscription may add
    metric : which boxes to split first: by "ratio" of benefit and cost, by "benefit", or by "cost"
    dynamic : add to the limit what earlier subscriptions left over
    literal : count as the paper's figure 8 does, which lets the last split exceed the limit
    unsubscribe : "hand back" (figure 9) or "reassign" what a removed filter covered
    budget : as of `NegativeSpace`
    """

    k: int = 50
    metric: Literal["ratio", "benefit", "cost"] = "ratio"
    dynamic: bool = False
    literal: bool = False
    unsubscribe: Literal["hand back", "reassign"] = "reassign"
    budget: int = SPACE_BUDGET

    def __post_init__(self) -> None:
        _check_space_budget(self.budget)


def _check_space_budget(budget: int) -> None:
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
        raise ParameterError("a budget of at least 1 side", shown(budget), "budget")


Policy: TypeAlias = (
    Flooding
    | Pairwise
    | Diagrams
    | Exact
    | Probabilistic
    | NegativeSpace
    | ApproximateNegativeSpace
    | Merging
)
