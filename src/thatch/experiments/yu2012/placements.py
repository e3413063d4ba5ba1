"""Simulates placements by each algorithm and measures them: most figures and tables of the paper show this."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from thatch.experiments.results import Results, join, number, percent
from thatch.experiments.trials import Grid, Row, Simulation, Value, columns, grid
from thatch.experiments.yu2012.cases import PlacementCase, make_case, solve_verified

__all__ = [
    "ALGORITHMS",
    "FEW",
    "GREEDY",
    "PLAIN",
    "SETTING",
    "SIMULATION",
    "SMALL",
    "WITH_SLP",
    "bandwidths",
    "beside_bounds",
    "placements",
    "quick_placements",
    "summarize",
]

SUBSCRIBERS, BROKERS = 100_000, 100  # the paper's
SMALL, FEW = 400, 10  # subscribers and brokers of the quick size

PLAIN = "gr gr_star gr_evict gr_evict_last gr_without_latency closest closest_without_balance balance"
GREEDY = "gr gr_star"
WITH_SLP = "slp"
"""The algorithms of one trial. SLP has trials of its own: it takes far longer than all others together."""

ALGORITHMS = {
    "slp": "SLP",
    "gr_star": "Gr*",
    "gr": "Gr",
    "gr_evict": "Gr, evicted next",
    "gr_evict_last": "Gr, evicted last",
    "gr_without_latency": "Gr¬l",
    "closest": "Closest",
    "closest_without_balance": "Closest¬b",
    "balance": "Balance",
}
"""Names on pages; on one level SLP is SLP1."""

SETTING = (
    "stand-ins for PlanetLab and Google Groups (`workloads/yu2012/`), equal capacities, random networks screened with "
    "Balance: the first with a load factor of at most nine tenths of β is taken. Our SLP differs from the paper's in details "
    "(`placement/slp/split.py` says why). "
)

_USUAL: dict[str, Sequence[Value]] = {
    "set": (1,),
    "load": ("HH",),
    "subscribers": (SUBSCRIBERS,),
    "brokers": (BROKERS,),
    "levels": (1,),
    "ratio": ("4:1:4",),
    "limits": ("paper",),
    "delay": (0.3,),
    "complexity": (3,),
    "algorithms": (PLAIN, WITH_SLP),
    "sampled": (0,),
    "clusters": (5,),
}


def placements(seeds: int, **choices: Sequence[Value]) -> Grid:
    """Trials of the simulation; the defaults are the paper's.

    `sampled` (subscribers for the load) and `clusters` (super-interests) are per broker, for SLP; 0 sampled stands for the
    paper's 10 on one level and 20 on two.
    """
    if choices.get("set", (1,)) != (1,):
        choices = {**choices, "load": ("",)}
    return grid(seeds, **{**_USUAL, **choices})


def quick_placements(**choices: Sequence[Value]) -> Grid:
    """Trials of the quick size."""
    return placements(1, **{"subscribers": (SMALL,), "brokers": (FEW,), **choices})


def _trial(seed: int, **parameters: Value) -> Sequence[Row]:
    _compile_kernels()
    case = make_case(parameters, seed)
    return [_row(case, name, parameters, seed) for name in str(parameters["algorithms"]).split()]


def _row(case: PlacementCase, name: str, parameters: Mapping[str, Value], seed: int) -> Row:
    from thatch.placement.cell_bound import cell_bound

    begin = time.process_time()
    found = solve_verified(
        case.problem, name, seed, sampled=int(parameters["sampled"]), clusters=int(parameters["clusters"])
    )
    spent = time.process_time() - begin
    problem = case.problem
    factors = found.loads / (problem.shares * problem.subscribers)
    return {
        "algorithm": ALGORITHMS[name],
        "bandwidth": found.bandwidth,
        "load_factor": found.load_factor,
        "load_deviation": float(found.loads.std()),
        "overloaded": float((factors > problem.beta_max * (1 + 1e-9)).mean()),
        "rms_delay": found.delays.rms,
        "late": found.delays.broken / problem.subscribers,
        "status": found.status.value,
        "fractional": found.bounds.fractional,
        "bound": cell_bound(problem) if name == "slp" else None,
        "processor_time": spent,
        "beta": problem.beta,
        "beta_max": problem.beta_max,
        "floor": case.floor,
        "candidates": case.candidates,
        "tried": case.tried,
    }


@cache
def _compile_kernels() -> None:
    """Compile or load the kernels before anything is timed, once in a process."""
    from thatch.placement import BrokerTree, PlacementProblem, solve

    rng = np.random.default_rng(0)
    tree = BrokerTree.of([-1, 0, 0, 1, 1, 2, 2], rng.normal(size=(7, 2)))
    lows = rng.random((40, 2))
    problem = PlacementProblem.of(tree, rng.normal(size=(40, 2)), lows, lows + 0.1, max_delay=1.0)
    for name in ("gr_star", "slp", "closest"):
        solve(problem, name)


def bandwidths(results: Results, names: Sequence[str], **where: Value) -> str | None:
    """The mean bandwidth of each algorithm, in brackets if it was infeasible in some trial.

    Of an unfinished run, only networks count on which all of these algorithms have results.
    """
    seeds = {name: results.values("seed", algorithm=name, **where) for name in names}
    ran = [set(each.tolist()) for each in seeds.values() if len(each)]
    if not ran:
        return None
    shared = sorted(set.intersection(*ran))
    texts = []
    for name, mine in seeds.items():
        chosen = np.isin(mine, shared)
        found = results.values("bandwidth", algorithm=name, **where)[chosen]
        mean = float(found.mean()) if len(found) else None
        text = number(None if mean is None else round(mean, 1 if mean < 1_000 else 0)) or "–"
        statuses = results.values("status", algorithm=name, **where)[chosen]
        texts.append(f"({text})" if "infeasible" in statuses else text)
    return " / ".join(texts)


def summarize(results: Results, name: str, *columns: str, **where: Value) -> str | None:
    """The bandwidth of an algorithm, the means of these columns, and the share of infeasible placements."""
    statuses = results.values("status", algorithm=name, **where)
    if not len(statuses):
        return None
    means = [number(results.mean(column, algorithm=name, **where)) for column in columns]
    broken = percent(float((statuses == "infeasible").mean()))
    return join([bandwidths(results, [name], **where), *means, broken])


def beside_bounds(results: Results, **where: Value) -> str | None:
    """SLP, Gr* and the proved bound, relative to the linear program of the same trials."""

    def ratios(column: str, name: str) -> str | None:
        found = []
        for seed in results.choices("seed", algorithm="SLP", **where):
            program = results.mean("fractional", algorithm="SLP", seed=seed, **where)
            value = results.mean(column, algorithm=name, seed=seed, **where)
            if program and value is not None:
                found.append(value / program)
        return number(round(float(np.mean(found)), 2)) if found else None

    above = join([ratios("bandwidth", "SLP"), ratios("bandwidth", "Gr*")])
    return None if above is None else f"{above}; {ratios('bound', 'SLP') or '–'}"


SIMULATION = Simulation(
    name="yu2012/placements",
    trial=_trial,
    defaults={name: values[0] for name, values in _USUAL.items()},
    results=columns(
        int="tried",
        float="bandwidth load_factor load_deviation overloaded rms_delay late fractional bound processor_time beta beta_max floor candidates",
        str="algorithm status",
    ),
)
