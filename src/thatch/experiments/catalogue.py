"""All experiments by name."""

from __future__ import annotations

from collections.abc import Iterable

from thatch.errors import ParameterError, shown
from thatch.experiments import commonality, jafarpour2008, li2005, ouksel2006, overlay, yu2012
from thatch.experiments.experiment import Experiment

__all__ = ["EXPERIMENTS", "PAPERS", "choose"]

PAPERS = {
    "ouksel2006": "Ouksel, Jurca, Podnar, Aberer: Efficient probabilistic subsumption checking for content-based "
    "publish/subscribe systems, Middleware 2006",
    "jafarpour2008": "Jafarpour, Hore, Mehrotra, Venkatasubramanian: Subscription subsumption evaluation for "
    "content-based publish/subscribe systems, Middleware 2008",
    "li2005": "Li, Hou, Jacobsen: A unified approach to routing, covering and merging in publish/subscribe systems based on "
    "modified binary decision diagrams, ICDCS 2005",
    "yu2012": "Yu, Agarwal, Yang: Subscriber assignment for wide-area content-based publish/subscribe, TKDE 24(10), 2012",
    "overlay": "Networks of brokers: what reduction on each link saves in the whole network (ouksel2006, sections 1, 2 and 5)",
    "commonality": "Commonalities of subscriptions and matching plans built from them, a work-in-progress paper of the PADRES "
    "group",
}

EXPERIMENTS: dict[str, Experiment] = {
    each.name: each
    for each in (
        *ouksel2006.EXPERIMENTS,
        *jafarpour2008.EXPERIMENTS,
        *li2005.EXPERIMENTS,
        *yu2012.EXPERIMENTS,
        *overlay.EXPERIMENTS,
        *commonality.EXPERIMENTS,
    )
}


def choose(names: Iterable[str]) -> list[Experiment]:
    """The experiments with these names, in catalogue order. A paper's key selects all of its experiments, `all` every one.

    Raises
    ------
    ParameterError
        If a name is unknown; the message lists all names.
    """
    wanted: set[str] = set()
    for name in names:
        found = [each for each in EXPERIMENTS if name in ("all", each, each.partition("/")[0])]
        if not found:
            raise ParameterError(f"all, {', '.join(PAPERS)} or one of {', '.join(EXPERIMENTS)}", shown(name))
        wanted.update(found)
    return [each for name, each in EXPERIMENTS.items() if name in wanted]
