"""Unions of intervals as byte programs: what an index keeps of a constraint that it indexes only by its hull.

```
byte 0      2, which tells it from a wildcard's program
bytes 1–2   number of cuts, little endian
then        the cuts in rising order
```

and a cut is its kind as in `sides.py`, one byte; behind that of a number eight bytes, its double; behind that of a text
its length in two bytes, and its bytes in UTF-8. A value is inside when an odd number of cuts lie below it.
"""

from __future__ import annotations

import struct

from thatch.matching.segments.sides import NUMBER, TEXT, cut_of
from thatch.model.lines import Constraint

__all__ = ["union_program"]

LONGEST = 4_096  # of a program


def union_program(constraint: Constraint) -> bytes | None:
    """A constraint as a program, None if it would be too long."""
    texts: list[str] = []
    parts = [b"\2" + len(constraint).to_bytes(2, "little")]
    size = 0
    for cut in constraint:
        kind, value = cut_of(cut, lambda text: texts.append(text) or 0)  # type: ignore[func-returns-value]
        part = bytes([kind])
        if kind >= TEXT:
            text = texts[-1].encode("utf-8")
            part += len(text).to_bytes(2, "little") + text if len(text) <= LONGEST else bytes(LONGEST)
        elif kind >= NUMBER:
            part += struct.pack("<d", value)
        parts.append(part)
        size += len(part)
        if size > LONGEST:
            return None
    return b"".join(parts)
