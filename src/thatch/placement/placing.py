"""From subscriptions, the places of subscribers and a broker tree to a plan: the steps, whoever does their parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.model.profile import Profile
from thatch.model.schema import Schema
from thatch.placement.candidates import with_candidates
from thatch.placement.certificate import verify
from thatch.placement.demand import Demand, Gathered
from thatch.placement.each import Each, here
from thatch.placement.event_space import MOST_AXES, event_space
from thatch.placement.placement import Placement
from thatch.placement.plan import Plan, plan_of
from thatch.placement.portfolio import best
from thatch.placement.problem import LATENCY_SLACK, Latency, Problem
from thatch.placement.refit import refitted
from thatch.placement.sites import Homes, Sites
from thatch.placement.solving import ALGORITHMS, solve

__all__ = ["ASSUMED", "BEST", "MEASURED", "YARDSTICKS", "Wanted", "place", "problem_of"]

BEST = "best"  # several algorithms, of which the best answer is kept
YARDSTICKS = ("closest_without_balance", "closest")  # what people do who do not plan; both take no time
MEASURED = "product of the distributions of single attributes in the profile"
ASSUMED = "product of assumed distributions of single attributes"
_SHOWN = 5

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a placement shall be like; refused before anything is read if it cannot be.

    Parameters
    ----------
    algorithm : one of `ALGORITHMS`, or "best"
    seed : decides all that is random
    max_delay : ways may be longer than the shortest by this factor, for whom no limit is given
    latency : whether ways begin at the publisher ("path") or at the leaf ("last_hop")
    beta, beta_max : the load factor wanted, and the largest one that is allowed
    limit : seconds after which "best" ends its searches and begins no further algorithm; the answer then depends on the clock
    axes : most attributes that are taken into account
    keys : these attributes instead of a choice
    """

    algorithm: str = "gr_star_search"
    seed: int = 0
    max_delay: float = 0.3
    latency: Latency = "path"
    beta: float = 1.5
    beta_max: float = 1.8
    limit: float | None = None
    axes: int = MOST_AXES
    keys: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.algorithm not in (BEST, *ALGORITHMS):
            raise ParameterError(
                f"one of {', '.join((BEST, *ALGORITHMS))}", shown(self.algorithm), "algorithm"
            )
        if not 1 < self.beta < self.beta_max < np.inf:
            raise ParameterError(
                "1 < beta < beta_max", f"{shown(self.beta)} and {shown(self.beta_max)}", "beta"
            )
        if not 0 <= self.max_delay < np.inf:
            raise ParameterError("a delay from 0", shown(self.max_delay), "max_delay")
        if self.limit is not None and not (self.algorithm == BEST and 0 <= self.limit < np.inf):
            raise ParameterError(
                'seconds from 0, with the algorithm "best"',
                f"{shown(self.limit)} with {shown(self.algorithm)}",
                "limit",
            )
        if self.latency not in ("path", "last_hop"):
            raise ParameterError('"path" or "last_hop"', shown(self.latency), "latency")


def place(  # noqa: PLR0913 - what a plan is made of, all named
    subscriptions: Gathered,
    sites: Sites,
    homes: Homes,
    wanted: Wanted | None = None,
    *,
    profile: Profile | None = None,
    schema: Schema | None = None,
    each: Each = here,
    now: Callable[[], float] | None = None,
    tell: Tell = lambda _: None,
) -> Plan:
    """A verified plan.

    Parameters
    ----------
    homes : where subscribers are; those without subscriptions do not matter
    profile : of the log of events; without one distributions are assumed, see `thatch.model.selectivity`
    each : who does what falls into independent parts; the plan does not depend on it
    now : a clock in seconds
    tell : is told what is being done

    Raises
    ------
    ParameterError
        If a subscriber has no location, or a limit that no leaf can meet: whose it is, and by how much too short.
    """
    wanted = wanted or Wanted()
    tell("reading subscriptions")
    space = event_space(subscriptions.sides(), profile, schema=schema, most=wanted.axes, keys=wanted.keys)
    demand = subscriptions.demand(space)
    tell("finding candidates")
    problem = with_candidates(problem_of(demand, sites, homes, wanted), each)
    tell("placing subscribers")
    placement = refitted(_solved(problem, wanted, now, each, tell), each)
    certificate = verify(placement)
    if not certificate.is_valid:
        raise AssertionError(f"the plan is not what it says: {'; '.join(certificate.faults)}")
    tell("measuring")
    yardsticks = [solve(problem, name, seed=wanted.seed) for name in YARDSTICKS if name != wanted.algorithm]
    density = ASSUMED if profile is None else MEASURED
    return plan_of(
        placement,
        certificate,
        demand.subscribers,
        space,
        density=density,
        yardsticks=yardsticks,
        each=each,
    )


def problem_of(demand: Demand, sites: Sites, homes: Homes, wanted: Wanted) -> Problem:
    """The problem of subscribers with these boxes at their homes."""
    rows = homes.rows_of(demand.subscribers)
    d = demand.boxes.shape[1] // 2
    if not len(rows):
        raise ParameterError("at least one subscriber", "none", "subscriptions")
    problem = Problem.of(
        sites.tree,
        homes.points[rows],
        demand.boxes[:, :d],
        demand.boxes[:, d:],
        owners=demand.owners,
        complexity=sites.complexities,
        shares=sites.capacities,
        beta=wanted.beta,
        beta_max=wanted.beta_max,
        max_delay=wanted.max_delay,
        latency=wanted.latency,
        domain=(np.zeros(d), np.ones(d)),
    )
    if homes.limits is None:
        return problem
    given = homes.limits[rows]
    limits = np.where(np.isnan(given), problem.limits, given)
    short = np.flatnonzero(limits * (1 + LATENCY_SLACK) < problem.shortest)
    if len(short):
        told = ", ".join(
            f"{shown(demand.subscribers[each])} (by {problem.shortest[each] - limits[each]:g})"
            for each in short[:_SHOWN].tolist()
        )
        more = f" and {len(short) - _SHOWN:,} more" if len(short) > _SHOWN else ""
        raise ParameterError(
            "limits that some leaf can meet", f"too short a limit for {told}{more}", "limits"
        )
    return problem.limited(limits)


def _solved(
    problem: Problem, wanted: Wanted, now: Callable[[], float] | None, each: Each, tell: Tell
) -> Placement:
    if wanted.algorithm != BEST:
        return solve(problem, wanted.algorithm, seed=wanted.seed, bound=True, now=now, each=each)
    return best(
        problem,
        seed=wanted.seed,
        now=now,
        limit=wanted.limit,
        tell=lambda found: tell(f"placing subscribers: {_beside_bounds(found)}"),
        each=each,
    )


def _beside_bounds(found: Placement) -> str:
    """The bandwidth so far beside its bounds, in a few words."""
    bounds = {"program": found.bounds.fractional, "at the very least": found.bounds.rigorous}
    told = ", ".join(f"{value:.4g} {name}" for name, value in bounds.items() if value is not None)
    return f"{found.bandwidth:.4g} by {found.algorithm}, {found.status.value} ({told})"
