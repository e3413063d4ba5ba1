"""What the C library is asked for."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

# In a process of its own: one that has run for long may have room for an array among what it has freed.
PROGRAM = """
import ctypes

import numpy as np

from thatch.tiering.budget import allocate_large_apart, return_memory


class Counted(ctypes.Structure):
    _fields_ = [(f"field{number}", ctypes.c_size_t) for number in range(10)]


counted = ctypes.CDLL(None).mallinfo2
counted.restype = Counted
allocate_large_apart()
for size in (4 << 20, 1 << 20):
    before = counted().field4
    array = np.ones(size, np.uint8)
    assert counted().field4 - before >= size
    del array
    assert counted().field4 - before < size
return_memory()
print("apart")
"""


@pytest.mark.slow
def test_large_arrays_are_pieces_of_their_own_also_after_some_were_freed() -> None:
    if not hasattr(ctypes.CDLL(None), "mallinfo2"):
        pytest.skip("only glibc counts them")
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert run.stdout == "apart\n", run.stderr
