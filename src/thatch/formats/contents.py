"""The bytes of files, unpacked and as UTF-8, within limits.

A byte order mark tells the encoding of a file, and is dropped. What an encoding cannot decode becomes bytes that are not
UTF-8, so that the row where it stands is rejected.
"""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from thatch.errors import TableError
from thatch.formats.reading import PAGE, Reading

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["as_text", "is_marked", "open_file", "open_packed", "translate_damage"]

_AT_ONCE = 1 << 18
_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be", codecs.BOM_UTF8: None}
_LONGEST_MARK = 3
_BAD = "thatch.bad"

codecs.register_error(_BAD, lambda error: ("\udc80", cast("UnicodeDecodeError", error).end))


def is_marked(start: bytes) -> bool:
    """Whether a file that starts with these bytes has the mark of an encoding other than UTF-8."""
    return any(codec is not None and start.startswith(mark) for mark, codec in _MARKS.items())


@contextmanager
def open_file(path: str, reading: Reading) -> Iterator[BinaryIO]:
    """Open a file, which is unpacked if it ends in `.gz`, as UTF-8."""
    with translate_damage(path), Path(path).open("rb") as stream:
        if path.lower().endswith(".gz"):
            size = Path(path).stat().st_size
            yield open_packed(stream, path, reading, size)
        else:
            yield as_text(stream, path, reading)


def open_packed(stream: Any, path: str, reading: Reading, size: int) -> BinaryIO:
    """The content of a packed file of some size as UTF-8."""
    return as_text(gzip.GzipFile(fileobj=stream), path, reading, reading.most_unpacked(size))


def as_text(stream: Any, path: str, reading: Reading, most: int | None = None) -> BinaryIO:
    """A stream of bytes as UTF-8; at most `most` of them are read."""
    return io.BufferedReader(_Text(stream, path, reading, most), _AT_ONCE)


@contextmanager
def translate_damage(path: str) -> Iterator[None]:
    """Raise a `TableError` for what a damaged file makes Python raise."""
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        raise TableError(f"Cannot read the file: {error}", where=path) from error


class _Text(io.RawIOBase):
    """The bytes of a stream as UTF-8; counts bytes and lengths of lines."""

    def __init__(self, source: Any, path: str, reading: Reading, most: int | None) -> None:
        super().__init__()
        self._source, self._path, self._most = source, path, most
        self._max_line, self._codec = reading.max_line, reading.codec
        self._decoder: Any = None
        self._has_begun = self._is_over = False
        self._held = memoryview(b"")
        self._read = self._line = self._rows = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        target = memoryview(buffer)
        while not self._held and not self._is_over:
            chunk = self._next() if self._has_begun else self._begin()
            self._measure(chunk)
            self._held = memoryview(chunk)
        size = min(len(target), len(self._held))
        target[:size] = self._held[:size]
        self._held = self._held[size:]
        return size

    def _begin(self) -> bytes:
        """The first bytes, after the mark."""
        self._has_begun = True
        start = b""
        while len(start) < _LONGEST_MARK and (more := self._source.read1(_AT_ONCE)):
            start += more
        self._is_over = not start
        is_known = (self._codec or "").startswith("utf-32")  # its mark begins as that of UTF-16
        found = b"" if is_known else next((mark for mark in _MARKS if start.startswith(mark)), b"")
        codec = _MARKS[found] if found else self._codec
        if codec is not None:
            self._decoder = codecs.getincrementaldecoder(codec)(_BAD)
        return self._decoded(start[len(found) :])

    def _next(self) -> bytes:
        chunk = self._source.read1(_AT_ONCE)
        self._is_over = not chunk
        return self._decoded(chunk)

    def _decoded(self, chunk: bytes) -> bytes:
        self._read += len(chunk)
        if self._most is not None and self._read > self._most:
            expected = f"at most {self._most:,} bytes when unpacked (`--max-unpacked`, {PAGE})"
            raise TableError(expected, "more", self._path)
        if self._decoder is None:
            return chunk
        text: str = self._decoder.decode(chunk, final=self._is_over)
        return text.encode("utf-8", "surrogatepass")

    def _measure(self, chunk: bytes) -> None:
        """Refuse a line that is too long before all of it is in memory."""
        end = chunk.find(b"\n")
        longest = self._line + (len(chunk) if end < 0 else end)
        if end >= 0 and len(chunk) > self._max_line:
            longest = max(longest, *map(len, chunk[end + 1 :].split(b"\n")))
        if longest > self._max_line:
            where = f"{self._path}, after line {self._rows}"
            expected = f"lines of at most {self._max_line:,} bytes (`--max-line`, {PAGE})"
            raise TableError(expected, "a longer one", where)
        self._line = self._line + len(chunk) if end < 0 else len(chunk) - chunk.rfind(b"\n") - 1
        self._rows += chunk.count(b"\n")
