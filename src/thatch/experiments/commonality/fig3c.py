"""Figure 3(c): the expected cost of a link-group, over the size of members and selectivity."""

from __future__ import annotations

from collections.abc import Sequence

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.results import Results
from thatch.experiments.telling import number
from thatch.experiments.trials import Parameters, Row, Simulation, grid
from thatch.planning.closed_forms import link_group
from thatch.planning.expected import conjunction_cost, link_group_cost

__all__ = ["FIG3C"]

_TOLD = (5, 20, 50)


def _trial(parameters: Parameters, seed: int) -> Sequence[Row]:  # noqa: ARG001 - nothing is drawn
    """Equation 8 and, member by member, equation 7."""
    members, size, steps = (int(parameters[name]) for name in ("members", "size", "steps"))
    found = []
    for step in range(steps + 1):
        p = step / steps
        own = conjunction_cost([p] * size, [1.0] * size)
        general = link_group_cost([p**size] * members, [own] * members)
        found.append({"p": p, "closed": link_group(members, size, p), "general": general})
    return found


SIMULATION = Simulation(
    name="commonality/link_cost",
    trial=_trial,
    parameters={"members": int, "size": int, "steps": int},
    results={"p": float, "closed": float, "general": float},
)


def _compare(results: Results) -> list[Compared]:
    lines = []
    for size in _TOLD:
        costs = results.values("closed", size=size)
        if not len(costs):
            continue
        p = results.values("p", size=size)
        told = (
            f"{number(round(float(costs.max()), 1))} at p = {p[costs.argmax()]:g}; "
            f"{number(float(costs[0]))} at 0, {number(float(costs[-1]))} at 1"
        )
        lines.append(
            Compared(f"apex, n = {size}", "an apex at an inner p; n at p = 1", told, "as in the paper")
        )
    single = results.values("closed", size=1)
    if len(single):
        falls = bool((single[1:] <= single[:-1]).all())
        lines.append(
            Compared(
                "n = 1",
                "–",
                "no apex: falls from p = 0 on" if falls else "NOT SO",
                "a member that is false costs 1",
            )
        )
    apart = max(abs(results.values("closed") - results.values("general")) / results.values("general"))
    return [*lines, Compared("equation 8 and equation 7 differ by at most", "–", f"{apart:.1e} of the cost")]


FIG3C = Experiment(
    name="commonality/fig3c",
    figure="Figure 3(c)",
    title="expected cost of a link-group",
    statement="There is an apex in the expected cost at an inner selectivity: a non-obvious upper bound of the cost of an "
    "optimal plan. At p = 1 the cost is n.",
    setting="m = 200 subscriptions of n predicates each, none shared, of cost 1 and true with probability p; evaluation "
    "ends with the first true subscription. Equation 8 in a form that does not cancel in doubles, beside equation 7.",
    simulation=SIMULATION,
    full=grid(1, members=(200,), size=(1, 2, *range(5, 51, 5)), steps=(1_000,)),
    quick=grid(1, members=(200,), size=(1, 5, 20, 50), steps=(100,)),
    compare=_compare,
    plots=(
        Plot(
            title="Expected evaluations of a link-group",
            across="p",
            up="closed",
            by=("size",),
            x="selectivity p",
            y="evaluations",
        ),
    ),
)
