"""The global predicate index (li2005, section 3.1): every distinct predicate once, as a Boolean variable.

A predicate is a constraint on one attribute's line, however it was written; the paper's order of type, attribute,
operator and value is that of cuts. Every variable is positive, even that of `!=`: as the opposite of `=` it would hold
where the attribute is missing. Variable 0 is never true.

Each attribute finds its true variables at a point of the line: those of single values by a hash, all others by comparing
ranks of cuts, with the answer between two cuts cached. Ranks are recomputed only when many predicates were added or
removed; until then the newest few are tested one by one.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from thatch.model.derived import derive
from thatch.model.events import Record
from thatch.model.lines import BOTTOM, Constraint, Cut, contains, first_point, intervals, is_single
from thatch.model.names import base_of

__all__ = ["NEVER", "Predicate", "PredicateIndex", "Variables"]

NEVER = 0
_ENTRY_BYTES = 200  # of a predicate among those of its attribute: entries of dicts, ranks, a number
_FRESH = 8  # predicates at least that are tested one by one before ranks are recomputed
_ANSWER_BYTES = 200  # of a cached answer: an array without its content, an entry of a dict
_KEPT = 1 << 16  # variables in the cached answers of one attribute, at most

Variables = npt.NDArray[np.int32]
Predicate = tuple[str, Constraint]

_NONE = np.zeros(0, np.int32)


class PredicateIndex:
    """Predicates in use, each with its variable and its number of uses."""

    def __init__(self) -> None:
        self._variables: dict[Predicate, int] = {}
        self._predicates: list[Predicate | None] = [None]
        self._uses: list[int] = [0]
        self._free: list[int] = []
        self._attributes: dict[str, _AttributePredicates] = {}
        self._derived: dict[str, list[str]] = {}  # base -> derived attributes that have predicates
        self._lenient: dict[str, int] = {}  # attributes with predicates that hold on missing, and how many
        self._bytes = 0  # of the predicates themselves

    def __len__(self) -> int:
        """How many distinct predicates there are."""
        return len(self._variables)

    @property
    def size(self) -> int:
        """One more than the highest variable ever given."""
        return len(self._predicates)

    def predicate(self, variable: int) -> Predicate:
        """What a variable in use stands for."""
        found = self._predicates[variable]
        assert found is not None, "a variable in use"
        return found

    def acquire(self, key: str, constraint: Constraint) -> int:
        """The variable of a predicate, with one more use."""
        variable = self._variables.get((key, constraint))
        if variable is None:
            variable = self._new((key, constraint))
        self._uses[variable] += 1
        return variable

    def release(self, variable: int) -> None:
        """Remove one use; a predicate without uses is dropped."""
        self._uses[variable] -= 1
        if not self._uses[variable]:
            self._forget(variable)

    def nbytes(self) -> int:
        """Bytes of the predicates, and of the structures that find them."""
        columns = (self._variables, self._predicates, self._uses, self._free)
        answers = sum(attribute.kept_bytes() for attribute in self._attributes.values())
        return self._bytes + answers + sum(map(sys.getsizeof, columns))

    def true_variables(self, record: Record) -> Variables:
        """The variables that are true for an event; for lists, those that are true for some element."""
        parts: list[Variables] = []
        points = record.possible_points()
        for base, some in points.items():
            self._true_at(base, some, parts)
            for key in self._derived.get(base, ()):
                self._true_at(key, [derive(key, point) for point in some], parts)
        for key in self._lenient:
            if base_of(key) not in points:
                self._attributes[key].true_at(BOTTOM, parts)
        return np.concatenate(parts) if parts else _NONE

    def _true_at(self, key: str, points: Iterable[Cut], parts: list[Variables]) -> None:
        attribute = self._attributes.get(key)
        if attribute is not None:
            for point in points:
                attribute.true_at(point, parts)

    def _new(self, predicate: Predicate) -> int:
        key, constraint = predicate
        if self._free:
            variable = self._free.pop()
            self._predicates[variable] = predicate
        else:
            variable = len(self._predicates)
            self._predicates.append(predicate)
            self._uses.append(0)
        self._variables[predicate] = variable
        self._bytes += _bytes_of(constraint) + _ENTRY_BYTES
        if key not in self._attributes:
            self._attributes[key] = _AttributePredicates()
            if key[-1] == ")":
                self._derived.setdefault(base_of(key), []).append(key)
        self._attributes[key].add(variable, constraint)
        if contains(constraint, BOTTOM):
            self._lenient[key] = self._lenient.get(key, 0) + 1
        return variable

    def _forget(self, variable: int) -> None:
        key, constraint = self.predicate(variable)
        del self._variables[key, constraint]
        self._bytes -= _bytes_of(constraint) + _ENTRY_BYTES
        self._predicates[variable] = None
        attribute = self._attributes[key]
        attribute.remove(variable, constraint)
        self._free += attribute.spare
        attribute.spare.clear()
        if contains(constraint, BOTTOM):
            self._lenient[key] -= 1
            if not self._lenient[key]:
                del self._lenient[key]
        if not len(attribute):
            self._free += attribute.spare + attribute.retired
            del self._attributes[key]
            if key[-1] == ")":
                self._derived[base_of(key)].remove(key)
                if not self._derived[base_of(key)]:
                    del self._derived[base_of(key)]


class _AttributePredicates:
    """The predicates on one attribute's line."""

    def __init__(self) -> None:
        self.retired: list[int] = []  # removed variables that are still in the arrays
        self.spare: list[int] = []  # removed variables that may be reused
        self._points: dict[Cut, Variables] = {}
        self._spans: dict[int, Constraint] = {}  # all that are no single values
        self._fresh: dict[int, Constraint] = {}  # of them, those that have no ranks yet
        self._cuts: list[Cut] = []
        self._sides: tuple[Variables, Variables, Variables] = (_NONE, _NONE, _NONE)  # variables, lows, highs
        self._kept: dict[int, Variables] = {}  # by cell: what is true there
        self._room = _KEPT

    def __len__(self) -> int:
        return len(self._points) + len(self._spans)

    def kept_bytes(self) -> int:
        """Bytes of the cached answers."""
        return _ANSWER_BYTES * len(self._kept) + 4 * (_KEPT - self._room)

    def add(self, variable: int, constraint: Constraint) -> None:
        if len(constraint) == 2 and is_single(*constraint):
            self._points[first_point(constraint[0])] = np.array([variable], np.int32)
        else:
            self._spans[variable] = self._fresh[variable] = constraint

    def remove(self, variable: int, constraint: Constraint) -> None:
        if variable not in self._spans:
            del self._points[first_point(constraint[0])]
            self.spare.append(variable)
            return
        del self._spans[variable]
        if self._fresh.pop(variable, None) is not None:
            self.spare.append(variable)
            return
        self.retired.append(variable)
        if len(self.retired) > max(_FRESH, len(self._spans)):
            self._rank()

    def true_at(self, point: Cut, parts: list[Variables]) -> None:
        """Append the variables of all predicates that hold at a point, and of some that were removed."""
        if len(self._fresh) > max(_FRESH, len(self._spans) // 8):
            self._rank()
        single = self._points.get(point)
        if single is not None:
            parts.append(single)
        if self._cuts:
            parts.append(self._spans_in(bisect_right(self._cuts, point)))
        if self._fresh:
            fresh = [each for each, constraint in self._fresh.items() if contains(constraint, point)]
            parts.append(np.array(fresh, np.int32))

    def _spans_in(self, cell: int) -> Variables:
        """The variables of ranked predicates that hold between two cuts."""
        found = self._kept.get(cell)
        if found is None:
            variables, lows, highs = self._sides
            found = variables[(lows < cell) & (cell <= highs)]
            if self._room >= len(found):
                self._room -= len(found)
                self._kept[cell] = found
        return found

    def _rank(self) -> None:
        """Compute the ranks of all cuts: a point after `n` cuts lies between those of ranks `n - 1` and `n`."""
        self._cuts = sorted({cut for constraint in self._spans.values() for cut in constraint})
        rank = {cut: number for number, cut in enumerate(self._cuts)}
        rows = [
            (variable, rank[low], rank[high])
            for variable, constraint in self._spans.items()
            for low, high in intervals(constraint)
        ]
        columns = np.array(rows, np.int32).reshape(-1, 3)
        variables, lows, highs = (np.ascontiguousarray(columns[:, each]) for each in range(3))
        self._sides = (variables, lows, highs)
        self._kept, self._room = {}, _KEPT
        self._fresh = {}
        self.spare += self.retired
        self.retired = []


def _bytes_of(constraint: Constraint) -> int:
    """Bytes of a constraint: its tuple, and its cuts at values; other cuts are shared objects."""
    cuts = [cut for cut in constraint if len(cut) == 3]
    return sys.getsizeof(constraint) + sum(sys.getsizeof(cut) + sys.getsizeof(cut[1]) for cut in cuts)
