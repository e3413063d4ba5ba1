"""The workloads by name."""

from __future__ import annotations

import re
from collections.abc import Callable

from thatch.errors import SubscriptionError, shown
from thatch.workloads.boxes import RealBoxes, WholeBoxes, make_real_boxes, make_whole_boxes
from thatch.workloads.pooled import Pooled, make_pooled
from thatch.workloads.selective import Selective, make_selective
from thatch.workloads.wording import Wording, make_wording
from thatch.workloads.workload import Request, Workload

__all__ = ["MAX_DIMENSIONS", "NAMES", "generate"]

MAX_DIMENSIONS = 1_000

# W2 in the dimensions that we measure; `generate` accepts others too.
NAMES = ("W1", "W1F", "W1c", "W2-2D", "W2-3D", "W2-5D", "W3", "W4A", "W4B", "W5", "W6")

_MAKERS: dict[str, Callable[[Request], Workload]] = {
    "W1": lambda request: make_selective(request, Selective()),
    "W1F": lambda request: make_selective(request, Selective(event_attributes=(20, 20))),
    "W1c": lambda request: make_selective(request, Selective(has_real_ranges=True)),
    "W3": lambda request: make_whole_boxes(request, WholeBoxes()),
    "W4A": lambda request: make_pooled(request, Pooled(pool=2_000)),
    "W4B": lambda request: make_pooled(request, Pooled(pool=5_000)),
    "W5": lambda request: make_wording(request, Wording()),
    "W6": lambda request: make_selective(request, Selective(attributes=5_000, has_sparse_events=True)),
}


def generate(name: str, subscriptions: int, events: int, seed: int) -> Workload:
    """Generate a workload.

    The same arguments give the same workload with the same version of NumPy. Subscriptions do not depend on the
    number of events, nor events on the number of subscriptions.

    Parameters
    ----------
    name : one of `NAMES`, or `W2-<d>D` for boxes in d dimensions, 1 to 1,000
    subscriptions, events : the number of each, from 0 up
    seed : a whole number from 0 up

    Raises
    ------
    SubscriptionError
        If there is no such workload, or if a count or the seed is not an integer in range.

    Examples
    --------
    >>> workload = generate("W2-2D", subscriptions=1, events=1, seed=7)
    >>> workload.attributes
    ('a00', 'a01')
    >>> len(workload.filter_texts()), len(workload.events())
    (1, 1)
    """
    maker = _maker(name)
    return maker(Request(name=name, subscriptions=subscriptions, events=events, seed=seed))


def _maker(name: str) -> Callable[[Request], Workload]:
    maker = _MAKERS.get(name) if isinstance(name, str) else None
    if maker is not None:
        return maker
    boxes = re.fullmatch(r"W2-([1-9][0-9]{0,3})D", name) if isinstance(name, str) else None
    if boxes is None or int(boxes[1]) > MAX_DIMENSIONS:
        expected = f"{', '.join(NAMES)} or W2-<1 to {MAX_DIMENSIONS:,}>D"
        raise SubscriptionError(expected, shown(name), "the workload's name")
    dimensions = int(boxes[1])
    return lambda request: make_real_boxes(request, RealBoxes(attributes=dimensions))
