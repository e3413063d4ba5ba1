"""What indexes and engines compute of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["starts_of"]


def starts_of(sizes: npt.ArrayLike, kind: type[np.generic] = np.int64) -> npt.NDArray[Any]:
    """Where parts of these sizes begin when they stand one after the other, and where the last ends."""
    starts = np.zeros(np.size(sizes) + 1, kind)
    np.cumsum(sizes, out=starts[1:])
    return starts
