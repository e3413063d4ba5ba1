"""Figures 5 and 7: the share of rows that MCS removes, for every form, number of attributes and number of rows."""

from __future__ import annotations

from collections.abc import Mapping

from thatch.experiments.experiment import Compared, Plot
from thatch.experiments.results import Results
from thatch.experiments.telling import each, percent
from thatch.reports import Axis
from thatch.workloads.ouksel2006 import FORMS

__all__ = ["compared", "plots"]


def compared(results: Results, what: str, paper: str, why: Mapping[str, str]) -> list[Compared]:
    """The paper's sentence beside our shares; `why` by form."""
    return [
        Compared(
            f"{what}, {form}, m = {attributes}, k = 10 / 100 / 310",
            paper,
            each(
                percent(results.mean("removed", form=form, attributes=attributes, rows=rows))
                for rows in (10, 100, 310)
            ),
            why[form],
        )
        for form in FORMS
        for attributes in (10, 15, 20)
    ]


def plots(what: str) -> tuple[Plot, ...]:
    """A plot for each form."""
    return tuple(
        Plot(
            title=f"{what}, {form}",
            across="rows",
            up="removed",
            by=("attributes",),
            where={"form": form},
            x="subscriptions k",
            y=Axis("removed", format="percent"),
        )
        for form in FORMS
    )
