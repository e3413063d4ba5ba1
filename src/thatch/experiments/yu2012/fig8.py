"""Figures 8b, 8c and 8d: delays of subscribers and loads of brokers on set #1; 8a is with table 1."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment
from thatch.experiments.results import Results
from thatch.experiments.telling import each, number, percent
from thatch.experiments.yu2012.details import (
    DELAY,
    LOAD,
    SIMULATION,
    delay_cloud,
    details,
    load_boxes,
    load_curves,
)
from thatch.experiments.yu2012.placements import FEW, SETTING, SMALL

__all__ = ["FIG8"]

_LIMIT = 0.3 * (1 + 1e-6)
_DELAYS = {
    "SLP": "at most 0.3",
    "Gr*": "at most 0.3",
    "Closest¬b": "small",
    "Gr¬l": "broken, most of all near the publisher",
}
_LOADS = {
    "SLP": "near β",
    "Gr*": "at most β_max",
    "Gr": "more than 10 % of brokers overloaded",
    "Gr¬l": "at most β_max",
    "Closest": "good",
    "Closest¬b": "good, some above β_max",
    "Balance": "best",
}


def _compare(results: Results) -> list[Compared]:
    return [
        *(
            Compared(
                f"delay of {name}: largest / later than 0.3 / the same, nearer half",
                paper,
                _late(results, name),
            )
            for name, paper in _DELAYS.items()
        ),
        *(
            Compared(f"load of {name}: largest / brokers above β_max", paper, _overloaded(results, name))
            for name, paper in _LOADS.items()
        ),
    ]


def _late(results: Results, name: str) -> str | None:
    shortest, delays = (results.values(axis, algorithm=name, part=DELAY) for axis in ("x", "y"))
    if not len(delays):
        return None
    is_near = shortest <= sorted(shortest)[len(shortest) // 2]
    shares = ((delays > _LIMIT).mean(), (delays[is_near] > _LIMIT).mean())
    return each([number(float(delays.max())), *(percent(float(share)) for share in shares)])


def _overloaded(results: Results, name: str) -> str | None:
    loads, limits = (results.values(column, algorithm=name, part=LOAD) for column in ("x", "beta_max"))
    if not len(loads):
        return None
    return each([number(float(loads.max())), percent(float((loads > limits * (1 + 1e-9)).mean()))])


FIG8 = Experiment(
    name="yu2012/fig8",
    figure="Figures 8b, 8c, 8d",
    title="delays and loads one by one, set #1 (IS:H, BI:H)",
    statement="SLP1 and Gr* hold delays at 0.3; Gr¬l breaks it, above all for subscribers near the publisher. Balance, Closest "
    "and Closest¬b have good loads; SLP1 is close to β; Gr overloads more than 10 % of the brokers.",
    setting=SETTING
    + "100,000 subscribers, 100 brokers, five seeds; 400 subscribers of each trial. The cloud is of one seed.",
    simulation=SIMULATION,
    full=details(5),
    quick=details(1, subscribers=(SMALL,), brokers=(FEW,)),
    compare=_compare,
    drawings=(delay_cloud, load_boxes, load_curves),
)
