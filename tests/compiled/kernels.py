"""Records and kernels for tests."""

from __future__ import annotations

from thatch.compiled.decorators import kernel, subkernel
from thatch.compiled.records import Inline, KernelRecord, Uint16s

__all__ = ["ChainRecord", "Inner", "Outer", "length_of", "total"]


class Inner(KernelRecord):
    """Two numbers."""

    found: int
    limit: int


class Outer(KernelRecord):
    """One field of each kind."""

    size: int
    weights: Uint16s
    inner: Inner
    rest: Inline


class ChainRecord(KernelRecord):
    """A record that stands among others of its kind."""

    first: int
    after: int


@subkernel
def _sum(record):
    result = 0
    for index in range(record.size):
        result += record.weights[index]
        record.inner.found += 1
    return result


@kernel
def total(table):
    """The sum of all that a record holds."""
    record = Outer(table, 0)
    return _sum(record) + record.weights_length + record.rest[0] + record.rest[1]


@kernel
def length_of(table, at):
    """The sum of both numbers of the record that begins at `at`."""
    record = ChainRecord(table, at)
    return record.first + record.after
