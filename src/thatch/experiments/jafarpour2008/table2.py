"""Table 2: boxes of approximate negative space."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.jafarpour2008.streams import SETTING, SIMULATION, SMALL, streams
from thatch.experiments.jafarpour2008.table1 import boxes_compared
from thatch.experiments.results import Results
from thatch.experiments.trials import Parameters
from thatch.reports import Axis
from thatch.workloads.jafarpour2008 import FORMS

__all__ = ["PAPER", "TABLE2"]

_MARKS = (2_000, 4_000, 6_000, 8_000, 10_000)
PAPER = {
    2: (_MARKS, (367, 405, 430, 438, 443)),
    3: (_MARKS, (27_928, 30_221, 31_755, 33_071, 34_079)),
    4: (_MARKS, (13_455, 23_414, 32_148, 39_969, 47_064)),
}
_SHOWN = {  # dimensions, form, k
    (2, "scattered", 50): "not reproduced: nothing is left out in 2-D, so that it equals the exact form",
    (2, "power law", 50): "not reproduced, the same",
    (3, "scattered", 50): "not reproduced: below the exact form in all settings tried, the paper's is above",
    (3, "power law", 50): "not reproduced, the same",
    (4, "scattered", 50): "three times the paper's",
    (4, "power law", 50): "above the paper's",
    (4, "power law", 10): "fits with k = 10 where the paper says 50; why is not known",
}


def _compare(results: Results) -> list[Compared]:
    printed: Parameters = {"method": "approximate", "literal": True}
    found = [
        boxes_compared(results, PAPER[dimensions], why, dimensions=dimensions, form=form, k=k, **printed)
        for (dimensions, form, k), why in _SHOWN.items()
    ]
    return [*found, *(_tried(results, dimensions) for dimensions in (2, 3))]


def _tried(results: Results, dimensions: int) -> Compared:
    """Of all settings, in how many the approximate form has more boxes than the exact one: the paper's surprise."""
    above = settings = 0
    for form in FORMS:
        where = {"dimensions": dimensions, "form": form, "arrived": max(results.values("arrived"))}
        exact = results.mean("boxes", method="exact", **where)
        for k in results.choices("k", method="approximate"):
            for literal in (False, True):
                found = results.mean("boxes", method="approximate", k=k, literal=literal, **where)
                if found is not None and exact is not None:
                    settings, above = settings + 1, above + (found > exact)
    return Compared(
        f"settings in {dimensions}-D (form, k, literal) with more boxes than exact",
        "more",
        f"{above} of {settings}",
        "not reproduced",
    )


TABLE2 = Experiment(
    name="jafarpour2008/table2",
    figure="Table 2",
    title="boxes of approximate negative space",
    statement="With k = 50 there are far fewer boxes in 4-D; in 2-D and 3-D, unexpectedly, more than in the exact form.",
    setting=SETTING
    + "k = 10 and 50, as printed (`literal`: the boxes made may pass k by one split; shown) and strictly; three seeds, means.",
    simulation=SIMULATION,
    full=streams(
        3, dimensions=(2, 3, 4), method=("approximate",), form=FORMS, k=(10, 50), literal=(False, True)
    )
    + streams(3, dimensions=(2, 3), method=("exact",), form=FORMS),
    quick=streams(
        1,
        dimensions=(2, 3, 4),
        method=("approximate",),
        form=FORMS,
        k=(10, 50),
        literal=(False, True),
        count=(SMALL,),
    )
    + streams(1, dimensions=(2, 3), method=("exact",), form=FORMS, count=(SMALL,)),
    compare=_compare,
    plots=tuple(
        Plot(
            title=f"Boxes, {dimensions}-D",
            across="arrived",
            up="boxes",
            by=("form", "method", "k"),
            where={"dimensions": dimensions, "literal": True},
            x="subscriptions",
            y=Axis("boxes", log=True),
            paper={"Table 2": PAPER[dimensions]},
        )
        for dimensions in (2, 3, 4)
    ),
)
