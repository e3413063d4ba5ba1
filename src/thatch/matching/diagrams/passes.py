"""A full pass over diagrams that expects of an event what the one before it had."""

from __future__ import annotations

from typing import Any

import numpy as np

from thatch.matching.diagrams.kernels import full_pass

__all__ = ["FullPass"]

_MUCH = 64  # one node in so many holds


class FullPass:
    """Evaluates every node of diagrams, without branches if much held for the event before."""

    def __init__(self) -> None:
        self._much = False

    def __call__(self, columns: Any, true: Any, truth: Any, value: Any, found: Any) -> int:
        """Write the outputs that are true into `found`, and give their number.

        Parameters
        ----------
        columns : those of `Chains`
        true : the variables that are true
        truth, value, found : room for every variable (all zero, before and after) and for every node
        """
        # Without a sign, so that kernels need not ask whether a number counts from the end: 0.6 of the time.
        variable, child = columns.variable.view(np.uint32), columns.child.view(np.uint32)
        count = int(full_pass(variable, child, columns.outputs, true, truth, value, found, self._much))
        self._much = count > len(variable) // _MUCH
        return count
