"""Events as columns: an attribute each, with the class and the value of every event."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from thatch.matching.segments.sides import Texts
from thatch.model.events import Record

__all__ = ["EventColumns"]


@dataclass(frozen=True, slots=True)
class EventColumns:
    """Flat events of plain values. A row per column of the table, an entry per event.

    `classes` are those of the line (0 missing, 1 null, 2 false, 3 true, 4 NaN, 5 number, 6 text); a number stands in
    `numbers`, of a text its position in `texts`.
    """

    attribute: npt.NDArray[np.int32]
    classes: npt.NDArray[np.uint8]
    numbers: npt.NDArray[np.float64]
    codes: npt.NDArray[np.int32]
    texts: Texts
    read: Callable[[int], Record]  # one event as a record, for filters that must be verified

    def __len__(self) -> int:
        return int(self.classes.shape[1])
