"""Table 2: bandwidth on sets #2 and #3."""

from __future__ import annotations

from functools import partial

from thatch.experiments.experiment import Compared, Experiment
from thatch.experiments.results import Results
from thatch.experiments.telling import each, percent
from thatch.experiments.yu2012.drawings import bandwidth_bars
from thatch.experiments.yu2012.placements import FEW, SETTING, SIMULATION, SMALL, placements
from thatch.experiments.yu2012.table1 import ORDER, bandwidth_lines

__all__ = ["TABLE2"]

_FACTORS = {2: "Gr* below the linear program", 3: "Gr* performs well"}
_ABOVE = {2: "39 %", 3: "58 %"}


def _compare(results: Results) -> list[Compared]:
    found = []
    for number in (2, 3):
        order = "as on set #1, details not in our copy"
        found += bandwidth_lines(results, f"set #{number}", order, _FACTORS[number], set=number)
        where = {"set": number, "algorithm": "Gr"}
        factor, limit = results.mean("load_factor", **where), results.mean("beta_max", **where)
        above = None if factor is None or limit is None else factor / limit - 1
        found.append(
            Compared(f"load of Gr above β_max, set #{number}", _ABOVE[number], each([percent(above)]))
        )
    return found


TABLE2 = Experiment(
    name="yu2012/table2",
    figure="Table 2",
    title="bandwidth on sets #2 and #3",
    statement="Gr* performs well on both sets; on #2 it is even below the fractional solution. The load of Gr is above β_max by "
    "39 % on #2 and by 58 % on #3.",
    setting=SETTING
    + "100,000 subscribers, 100 brokers, five seeds. Event space has a side of 10; widths of #3 are 1 to 5 cells.",
    simulation=SIMULATION,
    full=placements(5, set=(2, 3)),
    quick=placements(1, set=(2, 3), subscribers=(SMALL,), brokers=(FEW,)),
    compare=_compare,
    drawings=tuple(
        partial(bandwidth_bars, names=ORDER, by="set", title=f"Bandwidth, set #{number}", set=number)
        for number in (2, 3)
    ),
)
