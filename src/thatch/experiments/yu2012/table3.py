"""Table 3: load factors as brokers are spread over regions in other ways than subscribers."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment
from thatch.experiments.results import Results
from thatch.experiments.telling import each, number
from thatch.experiments.yu2012.placements import FEW, SETTING, SIMULATION, SMALL, placements

__all__ = ["TABLE3"]

_RATIOS = ("4:1:4", "3:3:3", "2:5:2", "1:7:1", "7:1:1")
_NAMES = ("Balance", "SLP", "Closest¬b")
_PAPER = {"4:1:4": "Balance about 1; SLP between", "7:1:1": "Balance larger; SLP between"}
_ALGORITHMS = "balance slp closest_without_balance"


def _compare(results: Results) -> list[Compared]:
    return [
        Compared(
            f"load factor, brokers {ratio}: {' / '.join(_NAMES)}",
            _PAPER.get(str(ratio), "SLP between; more brokers near the publisher make it easier"),
            each(_factor(results, name, str(ratio)) for name in _NAMES),
        )
        for ratio in results.choices("ratio")
    ]


def _factor(results: Results, name: str, ratio: str) -> str | None:
    found = results.mean("load_factor", algorithm=name, ratio=ratio)
    return None if found is None else number(round(found, 2))


TABLE3 = Experiment(
    name="yu2012/table3",
    figure="Table 3",
    title="load factors by distribution of brokers",
    statement="The load factor of SLP lies between those of Balance and of Closest¬b. Balance has about 1 where brokers are spread "
    "as subscribers are, more where they are not, less again with more brokers near the publisher. β_max is 1.5 times the "
    "factor of Balance. The numbers of the table are not in our copy.",
    setting=SETTING
    + "Not screened here: β_max is 1.5, β 1.25 times the least factor. Set #1 (IS:H, BI:H), 100,000 subscribers "
    "4 : 1 : 4 in Asia, North America and Europe, 100 brokers in the ratios told (the paper's are lost), five seeds.",
    simulation=SIMULATION,
    full=placements(5, ratio=_RATIOS, limits=("balance",), algorithms=(_ALGORITHMS,)),
    quick=placements(
        1,
        ratio=("4:1:4", "7:1:1"),
        limits=("balance",),
        algorithms=(_ALGORITHMS,),
        subscribers=(SMALL,),
        brokers=(FEW,),
    ),
    compare=_compare,
)
