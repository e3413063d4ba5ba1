"""Kernels that only other kernels call, made callable for tests."""

from __future__ import annotations

from thatch.compiled.decorators import kernel
from thatch.matching.segments.kernels.cells import number_cell, text_cell, wide_code
from thatch.matching.segments.kernels.checks import check_holds

__all__ = ["run_check", "run_number_cell", "run_text_cell", "run_wide_code"]


@kernel
def run_check(programs, start, words, at, length):
    """`check_holds`."""
    return check_holds(programs, start, words, at, length)


@kernel
def run_number_cell(numbers, start, end, grid, grid_start, grid_end, scale, value):
    """`number_cell`."""
    return number_cell(numbers, start, end, grid, grid_start, grid_end, scale, value)


@kernel
def run_text_cell(keys, offsets, blob, start, end, words, at, length):
    """`text_cell`."""
    return text_cell(keys, offsets, blob, start, end, words, at, length)


@kernel
def run_wide_code(kind, number, words, start, length):
    """`wide_code`."""
    return wide_code(kind, number, words, start, length)
