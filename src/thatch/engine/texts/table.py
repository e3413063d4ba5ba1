"""Texts numbered in the order of their coming, in arrays that can be saved, mapped and shared.

The base holds most of them: all bytes one after another, where each text begins, and a hash table of numbers
(`kernels`). What came last lies in a dictionary and a list until there are enough to fold into the base at once; a table
of few texts is nothing but these, and needs no compiled kernels.

    blob      s 0 s 1 s 1 0 ...      UTF-8
    offsets   0   2   4     7 ...    text n is blob[offsets[n]:offsets[n + 1]], as in an Arrow array of strings
    buckets     0 2 0 1 -1 3 0 0       number + 1 of the text that hashes there; 0 is empty, -1 deleted

One thread changes a table at a time. Others may read texts meanwhile: what they read is never moved or rewritten, only
replaced as a whole, the base before the recent texts. Who reads the recent ones first and the base second misses none.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from typing import Any, NoReturn, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from thatch.engine.texts.base import (
    Base,
    Bytes,
    Ints,
    Span,
    Texts,
    buckets_for,
    capacity,
    check_arrays,
    encode,
    text_chunks,
    text_span,
    with_room,
)
from thatch.errors import IndexFileError, SubscriptionError, shown

__all__ = ["TextTable"]

RECENT = 4_096  # so many texts are kept in a dictionary; folding that many costs less than a millisecond
MOST = 2**31 - 1  # bytes of text in all, and texts: offsets and buckets have 32 bits
_FEW_NAMES = 200  # that are quicker looked at one by one
STR_BYTES = 56  # of a str object beside its characters


_Names = tuple[NDArray[np.object_], NDArray[np.bool_]]


@cache
def _kernels() -> Any:
    from thatch.engine.texts import kernels

    return kernels


class _Recent:
    """Texts that are not folded yet: from number `start` on, and the numbers of those not removed."""

    __slots__ = ("numbers", "start", "texts")

    def __init__(self, start: int) -> None:
        self.start = start
        self.texts: list[str] = []
        self.numbers: dict[str, int] = {}


class TextTable:
    """An append-only table of texts, found by their number and by themselves.

    Parameters
    ----------
    seed : 64 bits drawn at random, so that nobody can choose texts that all hash to the same buckets

    Notes
    -----
    Every operation on one text takes constant time, folding counted in. `names`, `text`, `arrow` and `find` may run
    beside one writer for numbers that were given before; all else needs the caller's lock.
    """

    def __init__(self, seed: int = 0) -> None:
        self._seed = np.uint64(seed & (2**64 - 1))
        self._blob: Bytes = np.zeros(0, np.uint8)  # with room at the end, like the offsets
        self._offsets: Ints = np.zeros(1, np.int32)
        self._buckets: Ints = np.zeros(buckets_for(0), np.int32)
        self._used: int | None = 0  # buckets that are not empty; None if nobody has counted yet
        self._size = 0  # bytes of all texts, the recent ones too
        self._is_valid = True  # all bytes are known to be UTF-8
        self._base = Base(self._blob, self._offsets, self._buckets)
        self._recent = _Recent(0)
        # Texts as objects, once they were asked for, and which ones were; replaced together.
        self._names: _Names = (np.empty(0, object), np.zeros(0, np.bool_))
        self._names_size = 0

    def __len__(self) -> int:
        recent = self._recent
        return recent.start + len(recent.texts)

    # --- one text ------------------------------------------------------------------------------------------------

    def add(self, text: str) -> int:
        """Give the next number to a text that the table does not know; the caller has made sure of that.

        Raises
        ------
        SubscriptionError : the text is not Unicode, or the table is full
        """
        size = len(text) if text.isascii() else len(encode(text))
        recent = self._recent
        number = recent.start + len(recent.texts)
        if self._size + size > MOST or number + 1 >= MOST:
            self._refuse(1, size)
        if len(recent.texts) >= RECENT:
            self.fold()
            recent = self._recent
        recent.texts.append(text)
        recent.numbers[text] = number
        self._size += size
        return number

    def find(self, text: str) -> int:
        """The number of a text, -1 if it is unknown or was removed."""
        number = self._recent.numbers.get(text)
        if number is not None:
            return number
        base = self._base
        if base.count == 0:
            return -1
        try:
            key = text.encode()
        except UnicodeEncodeError:
            return -1
        found: int = _kernels().find_text(base.blob, base.offsets, base.buckets, self._seed, key)
        return found

    def remove(self, number: int) -> None:
        """Forget a text in `find`; its number still gives it, and it may be added again under a new one."""
        recent = self._recent
        if not 0 <= number < len(self):
            raise IndexError(number)
        if number < recent.start:
            if not self._buckets.flags.writeable:
                self._buckets = self._buckets.copy()
                self._base = Base(self._base.blob, self._base.offsets, self._buckets)
            _kernels().drop_text(self._base.blob, self._base.offsets, self._buckets, self._seed, number)
        else:
            text = recent.texts[number - recent.start]
            if recent.numbers.get(text) == number:
                del recent.numbers[text]

    def restore(self, number: int) -> None:
        """Let `find` know a text again that was removed."""
        recent = self._recent
        if number < recent.start:
            _kernels().restore_text(self._base.blob, self._base.offsets, self._buckets, self._seed, number)
        else:
            recent.numbers[recent.texts[number - recent.start]] = number

    def settle(self) -> None:
        """Undo half of a fold, after a call that was interrupted; otherwise nothing changes."""
        base, recent = self._base, self._recent
        if self._buckets.flags.writeable:
            self._buckets[self._buckets > base.count] = 0
        self._base = Base(base.blob, base.offsets, self._buckets)
        if base.count > recent.start:
            rest = _Recent(base.count)
            rest.texts = recent.texts[base.count - recent.start :]
            rest.numbers = {text: at for text, at in recent.numbers.items() if at >= base.count}
            self._recent = rest

    def text(self, number: int) -> str:
        """The text of a number, removed or not."""
        return self._read(np.array([number]))[0]

    # --- many texts ----------------------------------------------------------------------------------------------

    def extend(self, texts: Texts) -> NDArray[np.int64]:
        """Give the next numbers to many texts: to all of them or, if there are repetitions, to none.

        Returns
        -------
        the positions of texts that were known or that stand among `texts` before; empty if all were added

        Raises
        ------
        SubscriptionError : some are null or no text, or the table would be too full
        """
        chunks = text_chunks(texts)
        spans = [text_span(chunk) for chunk in chunks]
        fresh = sum(map(len, chunks))
        size = sum(len(content) for _, content in spans)
        if self._size + size > MOST or len(self) + fresh >= MOST:
            self._refuse(fresh, size)
        if len(self._recent.texts) + fresh <= RECENT:
            return self._extend_recent([text for chunk in chunks for text in chunk.to_pylist()])
        self.fold()
        known = self._append(spans, np.ones(fresh, np.bool_), is_new=True)
        repeated = np.flatnonzero(known >= 0)
        if len(repeated) == 0:
            self._recent = _Recent(self._base.count)
            self._size += size
        return repeated

    def _extend_recent(self, texts: list[str]) -> NDArray[np.int64]:
        seen: set[str] = set()
        repeated = []
        for position, text in enumerate(texts):
            if text in seen or self.find(text) >= 0:
                repeated.append(position)
            seen.add(text)
        if not repeated:
            for text in texts:
                self.add(text)
        return np.array(repeated, np.int64)

    def names(self, numbers: NDArray[np.int64]) -> list[str]:
        """The texts of many numbers that the table gave, as objects that are made once and kept."""
        if not len(numbers):
            return []
        names, is_known = self._names
        if len(names) < len(self):
            names, is_known = self._widen_names()
        if len(numbers) < _FEW_NAMES:
            found: list[Any] = names.take(numbers).tolist()
            if all(found):  # an empty text is false too, and then looked up again
                return found
        known = is_known.take(numbers)
        if not known.all():
            missing = np.unique(numbers[~known])
            texts = self._read(missing)
            names[missing] = texts
            is_known[missing] = True
            # Two readers may count the same name: this is an estimate.
            self._names_size += STR_BYTES * len(texts) + sum(map(len, texts))
        return cast("list[str]", names.take(numbers).tolist())

    def _widen_names(self) -> _Names:
        """Make room for all numbers given. What another reader writes into the old arrays meanwhile is only made twice."""
        old, was_known = self._names
        room = capacity(len(old), len(self))
        wide, is_known = np.empty(room, object), np.zeros(room, np.bool_)
        known = was_known.copy()  # first: a name is there before it is known
        wide[: len(old)], is_known[: len(old)] = old, known
        self._names = (wide, is_known)
        return self._names

    def _read(self, numbers: NDArray[np.int64]) -> list[str]:
        """The texts of numbers in rising order."""
        recent = self._recent
        base = self._base
        if numbers[0] < 0:
            raise IndexError(int(numbers[0]))
        folded = numbers[: np.searchsorted(numbers, base.count)]
        later = (numbers[len(folded) :] - recent.start).tolist()
        return base.texts(folded) + [recent.texts[place] for place in later]

    @property
    def is_folded(self) -> bool:
        """Whether all texts lie in the base, where `arrow` need not copy them."""
        return not self._recent.texts

    def arrow(self) -> pa.StringArray:
        """All texts by number: without a copy if all are folded.

        Raises
        ------
        IndexFileError : the table came from arrays, and some bytes are not UTF-8
        """
        recent = self._recent
        base = self._base
        folded = base.arrow()
        if not self._is_valid:
            try:
                folded.validate(full=True)
            except pa.ArrowInvalid as error:
                raise IndexFileError("UTF-8 text", str(error), "array `blob`") from error
            self._is_valid = True
        later = recent.texts[base.count - recent.start :]
        return pa.concat_arrays([folded, pa.array(later, pa.string())]) if later else folded

    def take(self, numbers: NDArray[np.int64]) -> TextTable:
        """A new table of these texts only, numbered in this order, removed ones too; no two may be equal."""
        table = TextTable(int(self._seed))
        repeated = table.extend(self.arrow().take(pa.array(numbers, pa.int64())))
        if len(repeated):
            number = int(numbers[repeated[0]])
            got = f"{shown(self.text(number))} twice"
            raise SubscriptionError("texts that differ", got, f"number {number}")
        return table

    # --- folding -------------------------------------------------------------------------------------------------

    def fold(self) -> None:
        """Move the recent texts into the base."""
        recent = self._recent
        if not recent.texts:
            return
        turns = range(recent.start, recent.start + len(recent.texts))
        numbers = recent.numbers
        live = [numbers.get(text) == turn for turn, text in zip(turns, recent.texts, strict=True)]
        span = text_span(pa.array(recent.texts, pa.large_string()))
        self._append([span], np.array(live, np.bool_), is_new=False)
        self._recent = _Recent(self._base.count)

    def _refuse(self, fresh: int, size: int) -> NoReturn:
        got = f"{len(self) + fresh:,} of {self._size + size:,} bytes"
        raise SubscriptionError(f"fewer than {MOST:,} ids or names of at most {MOST:,} bytes", got)

    def _append(self, spans: list[Span], live: NDArray[np.bool_], *, is_new: bool) -> NDArray[np.int64]:
        """Put texts behind the base; return the buckets of those that were known, -1 for the others.

        If they must be new and one is not, all is left as it was; else a later text takes the bucket of an equal one.
        """
        first = self._base.count
        blob, offsets = self._with_texts(spans, len(live))
        buckets, used = self._with_buckets(len(live))
        base = Base(blob[: offsets[first + len(live)]], offsets[: first + len(live) + 1], buckets)
        known = np.empty(len(live), np.int64)
        used += _kernels().fill_buckets(base.blob, base.offsets, buckets, self._seed, first, live, known)
        turns = np.flatnonzero(known >= 0)
        if is_new and len(turns):
            if buckets is self._buckets:
                buckets[buckets > first] = 0
            return known
        buckets[known[turns]] = first + turns + 1
        self._blob, self._offsets, self._buckets, self._used = blob, offsets, buckets, used
        self._base = base
        return known

    def _with_texts(self, spans: list[Span], fresh: int) -> tuple[Bytes, Ints]:
        """The blob and the offsets with texts behind those of the base, where no reader looks yet."""
        count, size = self._base.count, len(self._base.blob)
        blob = with_room(self._blob, size, size + sum(len(content) for _, content in spans))
        offsets = with_room(self._offsets, count + 1, count + 1 + fresh)
        for bounds, content in spans:
            blob[size : size + len(content)] = content
            offsets[count + 1 : count + len(bounds)] = bounds[1:] - (int(bounds[0]) - size)
            size += len(content)
            count += len(bounds) - 1
        return blob, offsets

    def _with_buckets(self, fresh: int) -> tuple[Ints, int]:
        """Slots that can be written and are at most two thirds full with `fresh` texts more; how many are used.

        They are the table's own or new ones, which the caller puts in their place when all has gone well.
        """
        old, base = self._buckets, self._base
        used = int(np.count_nonzero(old)) if self._used is None else self._used
        if 3 * (used + fresh) <= 2 * len(old):
            return (old if old.flags.writeable else old.copy()), used
        numbers = old[(old > 0) & (old <= base.count)] - 1
        live = np.zeros(base.count, np.bool_)
        live[numbers] = True
        # An eighth more, so that adding and removing in turn does not come here again and again.
        buckets = np.zeros(buckets_for(len(numbers) + len(numbers) // 8 + fresh), np.int32)
        known = np.empty(base.count, np.int64)
        used = _kernels().fill_buckets(base.blob, base.offsets, buckets, self._seed, 0, live, known)
        return buckets, used

    # --- arrays --------------------------------------------------------------------------------------------------

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything in arrays that can be saved; they are views, good until the table changes."""
        self.fold()
        base = self._base
        seed = np.array([self._seed], np.uint64)
        return {"blob": base.blob, "offsets": base.offsets, "buckets": base.buckets, "seed": seed}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> TextTable:
        """A table of what `arrays` gave, without a copy: arrays may be mapped from a file.

        Those that are not writable are copied before their first change; those that are belong to the table now.

        Raises
        ------
        IndexFileError : the arrays do not fit together
        """
        seed, blob, offsets, buckets = check_arrays(arrays)
        table = cls(seed)
        table._size = len(blob)
        table._blob, table._offsets, table._buckets = blob, offsets, buckets
        table._used, table._is_valid = None, False
        table._base = Base(blob, offsets, buckets)
        table._recent = _Recent(table._base.count)
        return table

    def sizes(self) -> dict[str, int]:
        """Bytes by part; those of Python's objects are estimates."""
        recent = self._recent
        held = sys.getsizeof(recent.texts) + sys.getsizeof(recent.numbers)
        return {
            "texts": self._blob.nbytes + self._offsets.nbytes,
            "buckets": self._buckets.nbytes,
            "names": sum(array.nbytes for array in self._names) + self._names_size,
            "recent": held + sum(map(sys.getsizeof, recent.texts)),
        }
