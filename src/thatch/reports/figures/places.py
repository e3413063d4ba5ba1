"""Maps of places: who is where, around sites that are joined by links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log2
from typing import Any

from thatch.reports.figures.figure import Figure, PlotAxis, hover, plural, rows_of
from thatch.reports.figures.points import SYMBOLS
from thatch.reports.texts import plot_text

__all__ = ["Place", "places"]

Place = tuple[float, float]

_HEIGHT = 460
_NAMED = 25  # of more sites, names are shown only under the pointer
_SMALLEST = 2.5  # a dot for one


def places(
    groups: Mapping[str, Sequence[Place]],
    sites: Mapping[str, Place],
    links: Sequence[tuple[str, str]] = (),
    *,
    title: str = "",
    what: str = "points",
    site: str = "site",
    total: int | None = None,
) -> Figure:
    """A map with a colour for each group; those at one place are one dot, larger if they are many.

    Parameters
    ----------
    links : pairs of sites that are joined
    what, site : what groups consist of, and what a site is called
    total : how many there are in all groups, if these are only some
    """
    shown = sum(map(len, groups.values()))
    data = [
        _dots(name, Counter(each), what) | {"symbol": SYMBOLS[number % 8]}
        for number, (name, each) in enumerate(groups.items())
    ]
    x, y = PlotAxis(), PlotAxis()
    names = list(sites)
    data.append(
        {
            "type": "points",
            "name": f"{site}s",
            "x": [each[0] for each in sites.values()],
            "y": [each[1] for each in sites.values()],
            "texts": [hover(name, {}) for name in names],
            "symbol": "square",
            "size": 5,
            "colour": "var(--text)",
            **({"labels": [plot_text(name, 24) for name in names]} if len(names) <= _NAMED else {}),
        }
    )
    every = [*sites.values(), *(each for group in groups.values() for each in group)]
    return Figure(
        title=title,
        summary=f"Map of {plural(len(sites), site)} and {shown:,} {what}.",
        data=data,
        layout={
            "legend": True,
            "equal": True,
            "x": x.layout([each[0] for each in every]) | {"ticks": []},
            "y": y.layout([each[1] for each in every]) | {"ticks": []},
            "links": [[*sites[one], *sites[other]] for one, other in links],
        },
        rows=rows_of(
            [site, "x", "y", what],
            [[name, *place, len(groups.get(name, ()))] for name, place in sites.items()],
        ),
        height=_HEIGHT,
        shown=shown,
        total=max(shown, total or 0),
        what=what,
    )


def _dots(name: str, found: Counter[Place], what: str) -> dict[str, Any]:
    return {
        "type": "points",
        "name": plot_text(name),
        "x": [place[0] for place in found],
        "y": [place[1] for place in found],
        "texts": [hover(name, {"": f"{count:,} {what} here"}) for count in found.values()],
        "sizes": [_SMALLEST + log2(count) for count in found.values()],
    }
