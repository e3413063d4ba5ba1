"""Random draws that several workloads share."""

from __future__ import annotations

import numpy as np

from thatch.workloads.columns import Floats, Integers

__all__ = ["distinct_choices", "draws", "offsets_of", "popularity", "ragged_choices", "zipf_weights"]


def zipf_weights(count: int, exponent: float) -> Floats:
    """Probabilities of `count` things, the r-th in proportion to r ** -exponent; exponent 0 is uniform."""
    weights = np.arange(1, count + 1, dtype=np.float64) ** -exponent
    shares: Floats = weights / weights.sum()
    return shares


def popularity(rng: np.random.Generator, rows: int, values: int) -> Integers:
    """A random order of popularity for each row: entry [row, r] is the value of rank r."""
    orders = np.tile(np.arange(values, dtype=np.int32), (rows, 1))
    return rng.permuted(orders, axis=1, out=orders)


def draws(rng: np.random.Generator, weights: Floats, size: int) -> Integers:
    """Indices drawn independently, in proportion to `weights`."""
    cumulative = np.cumsum(weights)
    cumulative /= cumulative[-1]
    return np.searchsorted(cumulative, rng.random(size), side="right").astype(np.int32)


def distinct_choices(rng: np.random.Generator, weights: Floats, rows: int, columns: int) -> Integers:
    """Rows of distinct indices, drawn without replacement.

    Notes
    -----
    Works by rejection, so `columns` should be well below the number of weights: O(rows * columns²).
    """
    chosen = np.empty((columns, rows), dtype=np.int32)
    for column in range(columns):
        pending = np.arange(rows)
        while pending.size:
            chosen[column, pending] = draws(rng, weights, pending.size)
            is_repeated = (chosen[:column, pending] == chosen[column, pending]).any(axis=0)
            pending = pending[is_repeated]
    return chosen.T


def ragged_choices(
    rng: np.random.Generator, weights: Floats, rows: int, sizes: tuple[int, int]
) -> tuple[Integers, Integers]:
    """For each row, a random number of distinct indices, uniform between the two `sizes`.

    Returns
    -------
    Offsets (row r has the entries from offset r up to offset r + 1), and the indices row after row.
    """
    counts = rng.integers(sizes[0], sizes[1] + 1, rows)
    chosen = distinct_choices(rng, weights, rows, sizes[1])
    return offsets_of(counts), chosen[np.arange(sizes[1]) < counts[:, None]]


def offsets_of(counts: Integers) -> Integers:
    """The start of each row, and the end of the last one."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
