"""Figures 3(a) and 3(c): the expected cost of a cluster and of a link-group.

The closed forms are those of section 4 for predicates of the same selectivity and of cost 1 (equations 4, 6 and 8). The
printed forms divide by p − 1 and by p^n. Here limits are taken at p = 1 and for small p^n, and powers of numbers near 1 use
`expm1` and `log1p`: at p = 0.1, n = 20, m = 200 the printed equation 8 gives 0 in doubles instead of 222.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import expm1, log1p

from thatch.errors import ParameterError, shown
from thatch.experiments.experiment import Comparison, Comparisons, Experiment, Plot
from thatch.experiments.results import Results, join, number
from thatch.experiments.trials import Row, Simulation, columns, grid
from thatch.planning.expected import cluster_cost, conjunction_cost, link_group_cost
from thatch.reports import PlotAxis

__all__ = ["FIG3A", "FIG3C", "cluster", "conjunction", "link_group"]


def conjunction(n: int, p: float) -> float:
    """(p^n − 1) / (p − 1): n predicates that are each true with probability p."""
    _check(p, n=n)
    if p > 0.999:  # the quotient of two small differences
        return float(n) if p == 1 else expm1(n * log1p(p - 1.0)) / (p - 1.0)
    return float((1.0 - p**n) / (1.0 - p))


def cluster(k: int, m: int, n: int, p: float) -> float:
    """Members, m of them, of n predicates each, of which all share k."""
    _check(p, k=k, m=m, n=n)
    if k > n:
        raise ParameterError(f"at most n = {n} shared predicates", shown(k), "k")
    return float(conjunction(k, p) + p**k * m * conjunction(n - k, p))


def link_group(m: int, n: int, p: float) -> float:
    """Members, m of them, of n predicates each, that share none, until one is true."""
    _check(p, m=m, n=n)
    true = p**n
    if true == 1:
        return conjunction(n, p) * min(m, 1)
    tried = -expm1(m * log1p(-true)) / true if true > 0 else float(m)
    return float(conjunction(n, p) * tried)


def _check(p: float, **counts: int) -> None:
    if not 0 <= p <= 1:
        raise ParameterError("a selectivity from 0 to 1", shown(p), "p")
    for name, count in counts.items():
        if count < 0:
            raise ParameterError("a count from 0 on", shown(count), name)


_PS_SHOWN = (0.5, 0.9, 1.0)
_STEPS = 20


def _cluster_cost(_seed: int, *, members: int, size: int, p: float) -> Iterator[Row]:
    """Equation 6 and, predicate by predicate, equation 5."""
    for shared in range(0, size + 1, max(size // _STEPS, 1)):
        own = conjunction_cost([p] * (size - shared), [1.0] * (size - shared))
        general = cluster_cost(([p] * shared, [1.0] * shared), [own] * members)
        yield {"shared": shared, "closed": cluster(shared, members, size, p), "general": general}


CLUSTER_COST = Simulation(
    name="commonality/cluster_cost",
    trial=_cluster_cost,
    results=columns(int="shared", float="closed general"),
)

_PS = tuple(step / 20 for step in range(21))


def _compare_clusters(results: Results) -> Comparisons:
    size = int(max(results.values("size")))
    known = [p for p in _PS_SHOWN if p in set(results.choices("p"))]
    step = max(size // _STEPS, 1)
    last = (0, size // 2, size)
    for p in known:
        yield Comparison(
            f"expected cost, p = {p:g}, k = {' / '.join(map(str, last))}",
            "falls with k at every p",
            results.show_means("closed", p=p, shared=last),
            "as in the paper: the same equation",
        )
    for p in known:
        costs = {
            shared: results.mean("closed", p=p, shared=shared) or 0.0
            for at in last[:2]
            for shared in (at, at + step)
        }
        yield Comparison(
            f"saved by {step} more shared predicates, p = {p:g}: after none | after {last[1]}",
            "most for high p and few shared predicates",
            join((number(round(costs[at] - costs[at + step], 1)) for at in last[:2]), " | "),
            "the same everywhere at p = 1: the surface is a plane there" if p == 1 else "as in the paper",
        )
    yield _compare_equations(results, "equation 6 and equation 5")


def _compare_equations(results: Results, which: str) -> Comparison:
    apart = max(abs(results.values("closed") - results.values("general")) / results.values("general"))
    return Comparison(f"{which} differ by at most", "–", f"{apart:.1e} of the cost")


FIG3A = Experiment(
    name="commonality/fig3a",
    figure="Figure 3(a)",
    title="expected cost of a cluster",
    statement="Conjunctive commonalities save most in clusters of high selectivity and with few commonalities so far; they "
    "contribute significantly at all selectivities.",
    setting="m = 200 subscriptions of n = 100 predicates of cost 1, of which all share k; every predicate is true with "
    "probability p. Equation 6, with its limit at p = 1, and beside it equation 5.",
    simulation=CLUSTER_COST,
    full=grid(1, members=(200,), size=(100,), p=_PS),
    quick=grid(1, members=(200,), size=(100,), p=_PS_SHOWN),
    compare=_compare_clusters,
    plots=(
        Plot(
            "Expected evaluations of a cluster",
            "shared",
            "closed",
            by=("p",),
            y=PlotAxis("evaluations", log=True),
        ),
    ),
)


_SIZES_SHOWN = (5, 20, 50)


def _link_cost(_seed: int, *, members: int, size: int, steps: int) -> Iterator[Row]:
    """Equation 8 and, member by member, equation 7."""
    for step in range(steps + 1):
        p = step / steps
        own = conjunction_cost([p] * size, [1.0] * size)
        general = link_group_cost([p**size] * members, [own] * members)
        yield {"p": p, "closed": link_group(members, size, p), "general": general}


LINK_COST = Simulation(
    name="commonality/link_cost", trial=_link_cost, results=columns(float="p closed general")
)


def _compare_links(results: Results) -> Comparisons:
    for size in _SIZES_SHOWN:
        costs, p = results.values("closed", size=size), results.values("p", size=size)
        if len(costs):
            ours = (
                f"{number(round(float(costs.max()), 1))} at p = {p[costs.argmax()]:g}; "
                f"{number(float(costs[0]))} at 0, {number(float(costs[-1]))} at 1"
            )
            paper = "an apex at an inner p; n at p = 1"
            yield Comparison(f"apex, n = {size}", paper, ours, "as in the paper")
    single = results.values("closed", size=1)
    if len(single):
        falls = bool((single[1:] <= single[:-1]).all())
        ours = "no apex: falls from p = 0 on" if falls else "NOT SO"
        yield Comparison("n = 1", "–", ours, "a member that is false costs 1")
    yield _compare_equations(results, "equation 8 and equation 7")


FIG3C = Experiment(
    name="commonality/fig3c",
    figure="Figure 3(c)",
    title="expected cost of a link-group",
    statement="There is an apex in the expected cost at an inner selectivity: a non-obvious upper bound of the cost of an "
    "optimal plan. At p = 1 the cost is n.",
    setting="m = 200 subscriptions of n predicates each, none shared, of cost 1 and true with probability p; evaluation "
    "ends with the first true subscription. Equation 8 in a form that does not cancel in doubles, beside equation 7.",
    simulation=LINK_COST,
    full=grid(1, members=(200,), size=(1, 2, *range(5, 51, 5)), steps=(1_000,)),
    quick=grid(1, members=(200,), size=(1, 5, 20, 50), steps=(100,)),
    compare=_compare_links,
    plots=(Plot("Expected evaluations of a link-group", "p", "closed", by=("size",)),),
)
