"""Checks of parameters, and parts of messages, that several modules share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.placement.arrays import ArrayLike, Floats

__all__ = ["check_limits", "list_some", "read_numbers", "read_points"]

_SHOWN = 5  # items that a message names


def check_limits(latency: str, beta: float, beta_max: float, max_delay: float | None) -> None:
    """Raise a `ParameterError` if these are invalid."""
    if latency not in ("path", "last_hop"):
        raise ParameterError('"path" or "last_hop"', shown(latency), "latency")
    is_number = all(isinstance(each, int | float | np.number) for each in (beta, beta_max))
    if not is_number or not (1 < beta < beta_max < np.inf):
        raise ParameterError("1 < beta < beta_max", f"{shown(beta)} and {shown(beta_max)}", "beta")
    if max_delay is not None and not 0 <= max_delay < np.inf:
        raise ParameterError("a delay from 0", shown(max_delay), "max_delay")


def list_some(items: Sequence[str]) -> str:
    """The first few items for a message, and how many more there are."""
    more = f" and {len(items) - _SHOWN:,} more" if len(items) > _SHOWN else ""
    return ", ".join(items[:_SHOWN]) + more


def read_numbers(values: ArrayLike, expected: str, where: str) -> Floats:
    """An array of numbers; otherwise the message says what was expected where."""
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(expected, shown(values), where) from error


def read_points(values: ArrayLike, rows: int | None, axes: int | None, what: str) -> Floats:
    """Check an array of coordinates.

    Parameters
    ----------
    rows, axes : how many there must be; None for any number from 1
    what : whose locations these are, for messages
    """
    where = f"locations of {what}s"
    array = read_numbers(values, "numbers", where)
    shape = array.shape if array.ndim == 2 else (0, 0)
    if shape[0] != (rows or max(shape[0], 1)) or shape[1] != (axes or max(shape[1], 1)):
        expected = (
            f"{rows or 'at least 1'} {what}{'' if rows == 1 else 's'} with {axes or 'some'} coordinates each"
        )
        raise ParameterError(expected, f"an array of shape {array.shape}", where)
    if not np.isfinite(array).all():
        row = int(np.argwhere(~np.isfinite(array))[0, 0])
        raise ParameterError("finite coordinates", shown(array[row].tolist()), f"location of {what} {row}")
    return np.ascontiguousarray(array)
