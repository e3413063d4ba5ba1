"""What each curve varies, and the workload at each of its points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from thatch.workloads import Workload, generate
from thatch.workloads.boxes import RealBoxes, make_real_boxes
from thatch.workloads.selective import Selective, make_selective
from thatch.workloads.workload import Request

__all__ = ["Curve", "curves"]

_DIMENSIONS = 3
_LAST = 999.0  # values of boxes lie in [0, last]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A series of points.

    Parameters
    ----------
    name : what is varied
    values : the values it takes
    make : makes the workload for a value
    """

    name: str
    values: Sequence[float]
    make: Callable[[float], Workload]


def curves(most: int, events: int, seed: int) -> list[Curve]:
    """All curves.

    Parameters
    ----------
    most : subscriptions at the last point of the first curve; the other curves have a tenth of it
    """
    count = max(1, most // 10)

    def w1_like(shape: Selective) -> Workload:
        return make_selective(Request(name="W1-like", subscriptions=count, events=events, seed=seed), shape)

    def w2_like(shape: RealBoxes) -> Workload:
        return make_real_boxes(Request(name="W2-like", subscriptions=count, events=events, seed=seed), shape)

    return [
        Curve(
            name="subscriptions",
            values=sorted({max(1, most // 10**power) for power in range(4)}),
            make=lambda value: generate("W1", int(value), events, seed),
        ),
        Curve(
            name="attributes",
            values=(10, 20, 100, 1_000, 5_000),
            make=lambda value: w1_like(_shape_over(int(value))),
        ),
        Curve(
            name="conditions of a filter",
            values=tuple(range(1, 11)),
            make=lambda value: w1_like(Selective(conditions=(int(value), int(value)))),
        ),
        Curve(
            name="match rate, %",
            values=(0.001, 0.01, 0.1, 1, 10),
            make=lambda value: w2_like(_boxes_with_share(value / 100)),
        ),
    ]


def _shape_over(attributes: int) -> Selective:
    """W1's shape over fewer or more attributes; with many, the attributes of events are drawn by popularity, as in W6."""
    return Selective(
        attributes=attributes,
        event_attributes=(min(10, attributes // 2), min(20, attributes)),
        has_sparse_events=attributes > 20,
    )


def _boxes_with_share(share: float) -> RealBoxes:
    """Boxes that contain about this share of the events, which is the mean side to the power of the dimensions."""
    side = share ** (1 / _DIMENSIONS) * _LAST
    return RealBoxes(attributes=_DIMENSIONS, last=_LAST, side=(0.5 * side, 1.5 * side))
