"""How files of events and subscriptions are read: missing values, encoding, declared types, limits.

The same rules hold in this process and on Spark; docs/reference/files.md is their page.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from thatch.errors import ParameterError, TableError, shown
from thatch.model.language.registry import language_called
from thatch.model.schema import Schema

__all__ = ["MAX_LINE", "MISSING", "PAGE", "Reading", "RejectLimit", "bytes_of_size"]

PAGE = "docs/reference/files.md"

# What stands for a missing value in CSV columns of numbers and booleans; an empty cell is missing in all columns.
MISSING = ("NA", "N/A", "na", "n/a", "#N/A", "NULL", "null", "Null", "None", "none", "-", "--", "?")

MAX_LINE = 16 << 20
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SIZE = re.compile(r"0*([1-9][0-9]{0,14})([kmgt]?)(?:i?b)?")
_LARGE = 1 << 30  # bytes that a file may have unpacked,
_RATIO = 100  # or this many times its size if that is more: logs shrink tenfold, bombs a thousandfold


@dataclass(frozen=True, slots=True)
class RejectLimit:
    """How many rows of a file may be rejected: a number or a share of the rows. By default not all of them."""

    most: float | None = None
    is_share: bool = False

    @classmethod
    def of(cls, text: str | None, *, strict: bool = False) -> RejectLimit:
        """The limit that `--max-rejects` and `--strict` give: `20`, `0.5%`."""
        if strict:
            if text is not None:
                raise ParameterError("--strict or --max-rejects, not both", shown(text), "--max-rejects")
            return cls(0)
        if text is None:
            return cls()
        try:
            number, is_share = float(text.removesuffix("%")), text.endswith("%")
        except ValueError:
            number, is_share = -1.0, False
        if not number >= 0 or (is_share and number > 100) or not (is_share or number.is_integer()):
            raise ParameterError("a number of rows or a share such as 5%", shown(text), "--max-rejects")
        return cls(number / 100 if is_share else number, is_share)

    def allows(self, rejected: int, rows: int) -> bool:
        """Whether so many of the rows of a file may be rejected."""
        if self.most is None:
            return not rejected or rejected < rows
        return rejected <= (self.most * rows if self.is_share else self.most)

    def check(self, rejected: int, rows: int, path: str, what: str = "rows", why: str = "") -> None:
        """Raise a `TableError` if too many of the rows of a file were rejected; `why` the first one was."""
        if self.allows(rejected, rows):
            return
        listed = "; `thatch check` lists them" if what == "subscriptions" else ""
        first = f"; the first: {why}" if why else listed
        if self.most is None:
            end = f"{first}. See `--encoding` and `--max-rejects` in {PAGE}"
            raise TableError(f"All {rows:,} {what} were refused{end}", where=path)
        most = f"{self.most:.4%}" if self.is_share else f"{int(self.most):,}"
        raise TableError(f"at most {most} refused {what}", f"{rejected:,} of {rows:,}{first}", path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How files are read.

    Parameters
    ----------
    missing : texts that stand for missing values in every CSV column; None for `MISSING` in columns of numbers
    encoding : of files without a byte order mark; None for UTF-8
    schema : declared types of attributes, which decide for each cell of a CSV column
    max_line : the most bytes of a line, as UTF-8
    max_unpacked : the most bytes of a file when unpacked; None for 1 GiB, or 100 times the size of the file if that is more
    rejects : how many rows may be refused
    language : of the filters in files of subscriptions; None for that of the ending, or Thatch's own
    pipelines : files of the pipelines that Sigma rules pass through
    """

    missing: tuple[str, ...] | None = None
    encoding: str | None = None
    schema: Schema | None = None
    max_line: int = MAX_LINE
    max_unpacked: int | None = None
    rejects: RejectLimit = RejectLimit()
    language: str | None = None
    pipelines: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("max_line", "max_unpacked"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ParameterError("at least 1 byte", shown(value), name)
        if self.language is not None:
            language_called(self.language)
        if self.encoding is not None and not _is_encoding(self.encoding):
            expected = "an encoding of text such as utf-8, utf-16, latin-1 or cp1252"
            raise ParameterError(expected, shown(self.encoding), "encoding")

    @property
    def codec(self) -> str | None:
        """The encoding that files without a byte order mark are decoded from; None if they are UTF-8 already."""
        name = "utf-8" if self.encoding is None else codecs.lookup(self.encoding).name
        return None if name in ("utf-8", "utf-8-sig", "ascii") else name

    def most_unpacked(self, size: int) -> int:
        """How many bytes a file of this size may have when it is unpacked."""
        return self.max_unpacked if self.max_unpacked is not None else max(_LARGE, _RATIO * size)


def _is_encoding(name: str) -> bool:
    try:
        return isinstance("a".encode(name), bytes)
    except (LookupError, ValueError):
        return False


def bytes_of_size(text: str, name: str) -> int:
    """A number of bytes such as `100000`, `64K`, `16M` or `2G`; `name` is what it limits."""
    found = _SIZE.fullmatch(text.strip().lower())
    if found is None:
        raise ParameterError("a number of bytes such as 64K, 16M or 2G", shown(text), name)
    return int(found[1]) * _UNITS[found[2]]
