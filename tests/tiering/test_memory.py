"""What the C library is asked for."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from thatch.tiering.memory import give_back, keep_large_apart


class _Counted(ctypes.Structure):
    """glibc's `mallinfo2`."""

    _fields_ = [(f"field{number}", ctypes.c_size_t) for number in range(10)]


def test_large_arrays_are_pieces_of_their_own_also_after_some_were_freed():
    counted = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if counted is None:
        pytest.skip("only glibc counts them")
    counted.restype = _Counted
    keep_large_apart()
    for size in (4 << 20, 1 << 20):
        before = counted().field4
        array = np.ones(size, np.uint8)
        assert counted().field4 - before >= size
        del array
        assert counted().field4 - before < size
    give_back()
