"""What kernels call of CPython to read plain objects. Whoever calls such a kernel holds the GIL and keeps the objects.

Objects are given by their addresses, which is what `id` returns. Where results come as out-parameters, these are the
addresses of numbers in the caller's own table.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

from numba import types

from thatch.compiled.decorators import JIT

__all__ = [
    "TYPE_WORD", "clear_error", "hash_of_object", "is_readable", "item_of_list", "next_of_dict", "number_of_float",
    "number_of_int", "size_of_list", "utf8_of_text",
]  # fmt: skip

TYPE_WORD = 1  # of an object: the address of its type, behind the count of references

_WORD = types.int64


def _function(name: str, result: Any, *arguments: Any) -> Any:
    return types.ExternalFunction(name, result(*arguments))


next_of_dict = _function("PyDict_Next", types.intc, _WORD, _WORD, _WORD, _WORD)
hash_of_object = _function("PyObject_Hash", _WORD, _WORD)
utf8_of_text = _function("PyUnicode_AsUTF8AndSize", _WORD, _WORD, _WORD)
number_of_int = _function("PyLong_AsLongLongAndOverflow", _WORD, _WORD, _WORD)
number_of_float = _function("PyFloat_AsDouble", types.float64, _WORD)
size_of_list = _function("PyList_Size", _WORD, _WORD)
item_of_list = _function("PyList_GetItem", _WORD, _WORD, _WORD)
clear_error = _function("PyErr_Clear", types.void)


def is_readable() -> bool:
    """Whether kernels can read objects here: compiled, in a CPython whose objects begin as they usually do."""
    if not JIT or sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return False
    samples: tuple[object, ...] = ("text", 5, 0.5, True, None, [], {})
    types_seen = (
        ctypes.c_int64.from_address(id(each) + TYPE_WORD * ctypes.sizeof(ctypes.c_int64)).value
        for each in samples
    )
    return ctypes.sizeof(ctypes.c_void_p) == 8 and [*types_seen] == [id(type(each)) for each in samples]
