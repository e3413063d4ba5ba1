"""From subscriptions, locations of subscribers and a broker tree to a placement plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from thatch.errors import MissingPackageError, ParameterError, shown
from thatch.model.profile import Profile
from thatch.model.schema import Schema
from thatch.placement.certificate import Certificate, Clock, certify
from thatch.placement.checks import check_limits
from thatch.placement.event_space import MOST_AXES, event_space
from thatch.placement.executor import Executor, run_here
from thatch.placement.filters import refit
from thatch.placement.placement import Placement, Status
from thatch.placement.plan import PlacementPlan, plan_of
from thatch.placement.problem import MAX_DELAY, Latency, PlacementProblem
from thatch.placement.relaxation import find_shortage, least_relaxations
from thatch.placement.sites import Homes, Sites
from thatch.placement.solving import ALGORITHMS, best, solve
from thatch.placement.subscriptions import SubscriberBoxes, SubscriptionSource

__all__ = ["ASSUMED", "BEST", "MEASURED", "YARDSTICKS", "PlacementOptions", "place", "problem_of"]

BEST = "best"  # several algorithms, of which the best answer is kept
YARDSTICKS = ("closest_without_balance", "closest")  # what people do without planning; both take no time
MEASURED = "product of the distributions of single attributes in the profile"
ASSUMED = "product of assumed distributions of single attributes"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementOptions:
    """What a placement should be like; invalid options are refused before anything is read.

    Parameters
    ----------
    algorithm : one of `ALGORITHMS`, or "best"
    seed : decides everything random
    max_delay : paths may be longer than the shortest by this factor, for subscribers without a limit of their own
    latency : whether paths begin at the publisher ("path") or at the leaf ("last_hop")
    beta, beta_max : the load factor wanted, and the largest one allowed
    limit : seconds after which "best" ends its searches and begins no further algorithm; the answer then depends on the clock
    axes : most attributes that are taken into account
    keys : these attributes instead of a choice
    """

    algorithm: str = "gr_star_search"
    seed: int = 0
    max_delay: float = MAX_DELAY
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
        check_limits(self.latency, self.beta, self.beta_max, self.max_delay)
        if self.limit is not None and not (self.algorithm == BEST and 0 <= self.limit < np.inf):
            raise ParameterError(
                'seconds from 0, with the algorithm "best"',
                f"{shown(self.limit)} with {shown(self.algorithm)}",
                "limit",
            )


def place(  # noqa: PLR0913 - a plan has this many parts, all named
    subscriptions: SubscriptionSource,
    sites: Sites,
    homes: Homes,
    options: PlacementOptions | None = None,
    *,
    profile: Profile | None = None,
    schema: Schema | None = None,
    executor: Executor = run_here,
    now: Clock | None = None,
    on_progress: Callable[[str], None] = lambda _: None,
) -> PlacementPlan:
    """Place subscribers: a verified plan.

    Parameters
    ----------
    homes : where subscribers are; those without subscriptions are ignored
    profile : of the log of events; without one, distributions are assumed (`thatch.model.selectivity`)
    executor : runs independent pieces of work; the plan does not depend on it
    now : a clock in seconds
    on_progress : gets a line about each step

    Raises
    ------
    ParameterError
        If a subscriber has no location, or a limit that no leaf can meet: whose it is, and by how much it is too short.
    """
    options = options or PlacementOptions()
    on_progress("reading subscriptions")
    space = event_space(subscriptions.sides(), profile, schema=schema, most=options.axes, keys=options.keys)
    boxes = subscriptions.boxes(space)
    on_progress("finding candidates")
    problem = problem_of(boxes, sites, homes, options)
    problem.candidate_sets(executor)
    on_progress("placing subscribers")
    found = refit(_solve(problem, options, now, executor, on_progress), executor)
    placement, certificate = certify(found, now, boxes.subscribers.__getitem__)
    if certificate.status is Status.INFEASIBLE:
        on_progress("finding what would be feasible")
        certificate = _explain(certificate, problem, executor)
    on_progress("measuring")
    yardsticks = [solve(problem, name, seed=options.seed) for name in YARDSTICKS if name != options.algorithm]
    return plan_of(
        placement,
        certificate,
        boxes.subscribers,
        space,
        density=ASSUMED if profile is None else MEASURED,
        yardsticks=yardsticks,
    )


def _explain(certificate: Certificate, problem: PlacementProblem, executor: Executor) -> Certificate:
    """The certificate with the reason why limits are broken; as it is without SciPy, which finds flows."""
    try:
        shortage = find_shortage(problem)
    except MissingPackageError:
        return certificate
    relaxations = () if shortage is None else least_relaxations(problem, executor)
    return replace(certificate, is_possible=shortage is None, shortage=shortage, relaxations=relaxations)


def problem_of(
    boxes: SubscriberBoxes, sites: Sites, homes: Homes, options: PlacementOptions
) -> PlacementProblem:
    """The problem of subscribers with these boxes at their homes."""
    rows = homes.rows_of(boxes.subscribers)
    d = boxes.boxes.shape[1] // 2
    if not len(rows):
        raise ParameterError("There are no subscribers to place", where="subscriptions")
    problem = PlacementProblem.of(
        sites.tree,
        homes.points[rows],
        boxes.boxes[:, :d],
        boxes.boxes[:, d:],
        owners=boxes.owners,
        complexity=sites.complexities,
        shares=sites.capacities,
        beta=options.beta,
        beta_max=options.beta_max,
        max_delay=options.max_delay,
        latency=options.latency,
        domain=(np.zeros(d), np.ones(d)),
    )
    if homes.limits is None:
        return problem
    given = homes.limits[rows]
    limits = np.where(np.isnan(given), problem.limits, given)
    return problem.with_limits(limits, lambda j: shown(boxes.subscribers[j]))


def _solve(
    problem: PlacementProblem,
    options: PlacementOptions,
    now: Clock | None,
    executor: Executor,
    on_progress: Callable[[str], None],
) -> Placement:
    """A placement that is not verified yet."""
    if options.algorithm != BEST:
        name, seed = options.algorithm, options.seed
        return solve(problem, name, seed=seed, bound=True, now=now, executor=executor, check=False)
    return best(
        problem,
        seed=options.seed,
        now=now,
        limit=options.limit,
        on_progress=lambda found: on_progress(f"placing subscribers: {_describe(found)}"),
        executor=executor,
        check=False,
    )


def _describe(found: Placement) -> str:
    """The bandwidth so far beside its bounds, in a few words."""
    bounds = {"linear program": found.bounds.fractional, "at the very least": found.bounds.rigorous}
    known = ", ".join(f"{value:.4g} {name}" for name, value in bounds.items() if value is not None)
    return f"{found.bandwidth:.4g} by {found.algorithm}, {found.status.value} ({known})"
