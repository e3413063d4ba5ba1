"""Figure 3(a): the expected cost of a cluster, over shared predicates and selectivity."""

from __future__ import annotations

from collections.abc import Sequence

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.results import Results
from thatch.experiments.telling import each, number
from thatch.experiments.trials import Parameters, Row, Simulation, grid
from thatch.planning.closed_forms import cluster
from thatch.planning.expected import cluster_cost, conjunction_cost
from thatch.reports import Axis

__all__ = ["FIG3A"]

_TOLD = (0.5, 0.9, 1.0)
_STEPS = 20


def _trial(parameters: Parameters, seed: int) -> Sequence[Row]:  # noqa: ARG001 - nothing is drawn
    """Equation 6 and, predicate by predicate, equation 5."""
    members, size, p = int(parameters["members"]), int(parameters["size"]), float(parameters["p"])
    found = []
    for shared in range(0, size + 1, max(size // _STEPS, 1)):
        own = conjunction_cost([p] * (size - shared), [1.0] * (size - shared))
        general = cluster_cost(([p] * shared, [1.0] * shared), [own] * members)
        found.append({"shared": shared, "closed": cluster(shared, members, size, p), "general": general})
    return found


SIMULATION = Simulation(
    name="commonality/cluster_cost",
    trial=_trial,
    parameters={"members": int, "size": int, "p": float},
    results={"shared": int, "closed": float, "general": float},
)

_PS = tuple(step / 20 for step in range(21))


def _compare(results: Results) -> list[Compared]:
    size = int(max(results.values("size")))
    known = [p for p in _TOLD if p in set(results.choices("p"))]
    step = max(size // _STEPS, 1)
    last = [0, size // 2, size]

    def saved(p: float, at: int) -> float:
        costs = [results.mean("closed", p=p, shared=shared) or 0.0 for shared in (at, at + step)]
        return round(costs[0] - costs[1], 1)

    lines = [
        Compared(
            f"expected cost, p = {p:g}, k = {' / '.join(str(shared) for shared in last)}",
            "falls with k at every p",
            each(number(results.mean("closed", p=p, shared=shared)) for shared in last),
            "as in the paper: the same equation",
        )
        for p in known
    ]
    lines += [
        Compared(
            f"saved by {step} more shared predicates, p = {p:g}: after none | after {last[1]}",
            "most for high p and few shared predicates",
            " | ".join(number(saved(p, at)) or "–" for at in (0, last[1])),
            "at p = 1 alike everywhere: the surface is a plane there" if p == 1 else "as in the paper",
        )
        for p in known
    ]
    apart = max(abs(results.values("closed") - results.values("general")) / results.values("general"))
    return [*lines, Compared("equation 6 and equation 5 differ by at most", "–", f"{apart:.1e} of the cost")]


FIG3A = Experiment(
    name="commonality/fig3a",
    figure="Figure 3(a)",
    title="expected cost of a cluster",
    statement="Conjunctive commonalities save most in clusters of high selectivity and with few commonalities so far; they "
    "contribute significantly at all selectivities.",
    setting="m = 200 subscriptions of n = 100 predicates of cost 1, of which all share k; every predicate is true with "
    "probability p. Equation 6, with its limit at p = 1, and beside it equation 5.",
    simulation=SIMULATION,
    full=grid(1, members=(200,), size=(100,), p=_PS),
    quick=grid(1, members=(200,), size=(100,), p=_TOLD),
    compare=_compare,
    plots=(
        Plot(
            title="Expected evaluations of a cluster",
            across="shared",
            up="closed",
            by=("p",),
            x="shared predicates k",
            y=Axis("evaluations", log=True),
        ),
    ),
)
