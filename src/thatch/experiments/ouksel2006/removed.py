"""Figures 5 and 7: the share of rows that MCS removes, for every form, number of attributes and number of rows."""

from __future__ import annotations

from collections.abc import Mapping

from thatch.experiments.experiment import Comparison, Plot, join, percent
from thatch.experiments.results import Results
from thatch.reports import PlotAxis
from thatch.workloads.ouksel2006 import FORMS

__all__ = ["compare_removed", "plot_removed"]


def compare_removed(results: Results, what: str, paper: str, why: Mapping[str, str]) -> list[Comparison]:
    """The paper's statement beside our shares; `why` has a reason for each form."""
    return [
        Comparison(
            f"{what}, {form}, m = {attributes}, k = 10 / 100 / 310",
            paper,
            join(
                percent(results.mean("removed", form=form, attributes=attributes, rows=rows))
                for rows in (10, 100, 310)
            ),
            why[form],
        )
        for form in FORMS
        for attributes in (10, 15, 20)
    ]


def plot_removed(what: str) -> tuple[Plot, ...]:
    """A plot for each form."""
    return tuple(
        Plot(
            f"{what}, {form}",
            "rows",
            "removed",
            by=("attributes",),
            where={"form": form},
            x="subscriptions k",
            y=PlotAxis("removed", format="percent"),
        )
        for form in FORMS
    )
