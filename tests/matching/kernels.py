"""Kernels that only other kernels call, made callable for tests."""

from __future__ import annotations

from thatch.matching.segments.checks.kernels import check_holds
from thatch.matching.segments.vectors.kernels import kernel

__all__ = ["run_check"]


@kernel
def run_check(programs, start, words, at, length):
    """`check_holds`."""
    return check_holds(programs, start, words, at, length)
