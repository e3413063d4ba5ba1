"""Wildcard checks as byte programs, which `check_holds` in `kernels.py` runs on UTF-8 text.

A program, all integers little endian:

```
byte 0      1 if the check is negated, else 0
bytes 1–2   how many bytes a text of the pattern's form has at least
bytes 3–4   number of pieces; 1 means there is no `%`
then        the pieces in the order in which they are tried: the first, the last, those between from left to right
```

and a piece:

```
byte 0      1 if it has a `_`, else 0
bytes 1–2   its length in bytes
then        its text in UTF-8, with the byte 0xFF, which no UTF-8 has, for `_`
```

The last piece comes early because it is as cheap to try as the first. The pieces are those of `wildcard`: after a `%`
there is never a `_`, so that a piece between two `%` is not empty and begins with a byte to look for.
"""

from __future__ import annotations

from thatch.model.residuals import WildcardCheck
from thatch.model.wildcards import Piece

__all__ = ["LONGEST", "program"]

LONGEST = 4_096  # of a program, which bounds what a hostile pattern costs on a long text
_ONE = b"\xff"  # any one character: `_`


def program(check: WildcardCheck) -> bytes | None:
    """A check as a program, None if it would be longer than `LONGEST`: such a one is verified in Python."""
    pieces = check.pattern.pieces
    first, *rest = (_encoded(piece) for piece in pieces)
    ordered = [first, *rest[-1:], *rest[:-1]]
    least = sum(map(len, ordered))
    if 5 + 3 * len(ordered) + least > LONGEST:
        return None
    header = bytes([check.negated]) + least.to_bytes(2, "little") + len(ordered).to_bytes(2, "little")
    return header + b"".join(
        bytes([_ONE in piece]) + len(piece).to_bytes(2, "little") + piece for piece in ordered
    )


def _encoded(piece: Piece) -> bytes:
    """The bytes of a piece, with `_ONE` for `_`."""
    return b"".join(_ONE if part is None else part.encode("utf-8") for part in piece)
