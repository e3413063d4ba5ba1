"""Records: tables of 64-bit numbers whose fields have names, declared once for Python and for compiled code.

A kernel takes one table instead of dozens of arrays. To add such a table to a package, declare its fields::

    class LeafRecord(KernelRecord):
        n_boxes: int  # a number
        keys: Int64s  # an array: the table holds its address and its length
        counts: LeafCounts  # another record
        volumes: Inline  # the numbers of the table from here on; only as the last field

Python fills it and keeps its arrays alive; a kernel gets the table and reads the same names::

    record = LeafRecord(n_boxes=3, keys=keys, counts=LeafCounts())
    find(record.table)

    @kernel
    def find(table):
        leaf = LeafRecord(table, 0)  # the record that begins at number 0 of the table
        for box in range(leaf.n_boxes):
            total += leaf.keys[box]
        leaf.counts.found += 1

In compiled code an array field is a bare pointer (`leaf.keys_length` is its length) and nothing checks its bounds; with
the compiler off it is a NumPy view that checks both ends. A field asked of the class is its column in the table, as in
`rows[:, LeafRecord.n_boxes]` for many records in the rows of one array.
"""

from __future__ import annotations

import ctypes
from typing import Annotated, Any, ClassVar, TypeAlias, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import from_dtype, types
from numba.core.typing.templates import AttributeTemplate  # what the public `infer_getattr` takes
from numba.extending import (
    infer_getattr,
    lower_builtin,
    lower_getattr_generic,
    lower_setattr_generic,
    models,
    register_model,
    type_callable,
)

from thatch.compiled.decorators import JIT
from thatch.compiled.pointers import CheckedArray, pointer_into

__all__ = [
    "Doubles", "Inline", "Int32s", "Int64s", "KernelRecord", "Uint8s", "Uint16s", "Uint32s", "Uint64s", "numba_type",
]  # fmt: skip

Uint8s: TypeAlias = npt.NDArray[np.uint8]
Uint16s: TypeAlias = npt.NDArray[np.uint16]
Uint32s: TypeAlias = npt.NDArray[np.uint32]
Uint64s: TypeAlias = npt.NDArray[np.uint64]
Int32s: TypeAlias = npt.NDArray[np.int32]
Int64s: TypeAlias = npt.NDArray[np.int64]
Doubles: TypeAlias = npt.NDArray[np.float64]
Inline: TypeAlias = Annotated[npt.NDArray[np.int64], "inline"]


# --- in Python -------------------------------------------------------------------------------------------------------


class _Field:
    """A number of the table at column `at`."""

    width = 1

    def __init__(self, name: str, at: int, hint: Any) -> None:
        self.name, self.at, self.hint = name, at, hint

    def __get__(self, record: KernelRecord | None, _: type[KernelRecord]) -> Any:
        return self.at if record is None else self.read(record)

    def __set__(self, record: KernelRecord, value: Any) -> None:
        record.table[self.at] = value

    def read(self, record: KernelRecord) -> Any:
        return record.table[self.at]

    @property
    def type(self) -> Any:
        """What compiled code sees."""
        return types.int64


class _ArrayField(_Field):
    """An array, by its address and its length."""

    width = 2

    def __init__(self, name: str, at: int, hint: Any) -> None:
        super().__init__(name, at, hint)
        self.dtype = _dtype(hint)

    def __set__(self, record: KernelRecord, value: npt.NDArray[Any]) -> None:
        if value.dtype != self.dtype or not value.flags.c_contiguous:
            expected = f"{self.name} must be a contiguous array of {self.dtype}"
            raise TypeError(f"{expected}, got one of {value.dtype}")
        record.arrays[self.name] = value
        record.table[self.at], record.table[self.at + 1] = value.ctypes.data, value.size

    def read(self, record: KernelRecord) -> Any:
        known = record.arrays.get(self.name)
        if known is not None:
            return known
        size = int(record.table[self.at + 1])
        if size == 0:
            return np.empty(0, self.dtype).view(CheckedArray)
        content = (ctypes.c_char * (size * self.dtype.itemsize)).from_address(int(record.table[self.at]))
        array = record.arrays[self.name] = np.frombuffer(memoryview(content), self.dtype).view(CheckedArray)
        return array

    @property
    def type(self) -> Any:
        return types.CPointer(from_dtype(self.dtype))


class _RecordField(_ArrayField):
    """Another record, by the address and the length of its table."""

    def __set__(self, record: KernelRecord, value: Any) -> None:
        super().__set__(record, value.table)

    def read(self, record: KernelRecord) -> Any:
        return self.hint(super().read(record))

    @property
    def type(self) -> Any:
        return RecordType(self.hint)


class _InlineField(_ArrayField):
    """The numbers of the table from column `at` on."""

    width = 0

    def read(self, record: KernelRecord) -> Any:
        return record.table[self.at :].view(CheckedArray)


class KernelRecord:
    """A table of numbers with named fields; the module says how to declare and use one.

    Parameters
    ----------
    table, at : a table that is there already, and where in it the record begins; without one the record makes its own
    values : what to write into the fields
    """

    fields: ClassVar[dict[str, _Field]]
    width: ClassVar[int]  # how many numbers a record takes, without those of an inline field

    def __init__(self, table: npt.NDArray[np.int64] | None = None, at: int = 0, **values: Any) -> None:
        self.table = np.zeros(self.width, np.int64) if table is None else table[at:]
        self.arrays: dict[str, npt.NDArray[Any]] = {}  # addresses alone would not keep them alive
        for name, value in values.items():
            setattr(self, name, value)

    def __init_subclass__(cls) -> None:
        cls.fields, cls.width = {}, 0
        for name, hint in get_type_hints(cls, include_extras=True).items():
            if name not in cls.__annotations__:
                continue
            field = _kind(hint)(name, cls.width, hint)
            cls.fields[name] = field
            cls.width += field.width
            setattr(cls, name, field)
            if isinstance(field, _ArrayField):
                cls.fields[f"{name}_length"] = length = _Field(f"{name}_length", field.at + 1, int)
                setattr(cls, length.name, length)
        if JIT:
            _teach_numba(cls)

    def fill(self, *owners: object) -> None:
        """Write all arrays that are not set yet, each from the first owner that has an attribute of its name."""
        for name, field in self.fields.items():
            if field.width == _ArrayField.width and name not in self.arrays:
                owner = next((each for each in owners if hasattr(each, name)), None)
                if owner is None:
                    raise TypeError(f"{type(self).__name__}.{name} is not set, and no owner has it")
                setattr(self, name, getattr(owner, name))


def _kind(hint: Any) -> type[_Field]:
    if hint is int:
        return _Field
    if isinstance(hint, type) and issubclass(hint, KernelRecord):
        return _RecordField
    return _InlineField if get_origin(hint) is Annotated else _ArrayField


def _dtype(hint: Any) -> np.dtype[Any]:
    """The element type of `npt.NDArray[...]`; numbers for a record."""
    if isinstance(hint, type) and issubclass(hint, KernelRecord):
        return np.dtype(np.int64)
    array = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    element: type[np.generic] = get_args(get_args(array)[1])[0]
    return np.dtype(element)


# --- in compiled code ------------------------------------------------------------------------------------------------


class RecordType(types.Type):
    """A record in compiled code: a pointer to its first number."""

    def __init__(self, record: type[KernelRecord]) -> None:
        self.record = record
        super().__init__(f"{record.__module__}.{record.__qualname__}")


@register_model(RecordType)
class _RecordModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, ir.IntType(64).as_pointer())


@infer_getattr
class _RecordAttributes(AttributeTemplate):
    key = RecordType

    def generic_resolve(self, value: Any, attr: str) -> Any:
        field = value.record.fields.get(attr)
        return None if field is None else field.type


@lower_getattr_generic(RecordType)
def _read_field(context: Any, builder: Any, kind: Any, pointer: Any, name: str) -> Any:
    field = kind.record.fields[name]
    own = builder.gep(pointer, [ir.Constant(ir.IntType(64), field.at)])
    if isinstance(field, _InlineField):
        return own
    number = builder.load(own)
    if not isinstance(field, _ArrayField):
        return number
    # Addresses never change while a kernel runs, so a loop need not load them again.
    number.set_metadata("invariant.load", builder.module.add_metadata([]))
    return builder.inttoptr(number, context.get_value_type(field.type))


@lower_setattr_generic(RecordType)
def _write_field(context: Any, builder: Any, signature: Any, args: Any, name: str) -> None:
    kind = signature.args[0]
    at = ir.Constant(ir.IntType(64), kind.record.fields[name].at)
    builder.store(args[1], builder.gep(args[0], [at]))


def _teach_numba(record: type[KernelRecord]) -> None:
    """Let kernels call `record(table, at)`."""

    @type_callable(record)
    def type_of_call(_: Any) -> Any:
        return lambda table, at: RecordType(record)

    @lower_builtin(record, types.Any, types.Any)
    def call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        table, at = signature.args
        offset = context.cast(builder, args[1], at, types.intp)
        return pointer_into(context, builder, table, args[0], offset, ir.IntType(64))


def numba_type(hint: Any) -> Any:
    """The type of a parameter that is annotated with an integer, an array or a record."""
    if hint is int:
        return types.int64
    return RecordType(hint) if _kind(hint) is _RecordField else types.CPointer(from_dtype(_dtype(hint)))
