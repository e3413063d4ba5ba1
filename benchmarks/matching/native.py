"""Results of native peers, measured elsewhere by their own programs, set beside our figures of this run.

A file of results is JSON, `{"results": [...]}`, each with

    name                    of the peer, such as "Boost R-tree, bulk loaded"
    version                 of the peer
    workload                such as "W2-3D"; `python -m benchmarks.export` writes one as plain arrays
    subscriptions, seed     what was generated
    microseconds_per_event  one thread
    matches_per_event       must be what we find, or the peer did something else
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from benchmarks.matching.rows import Row, times_faster

__all__ = ["NativeResult", "native_rows", "read_native"]

_NEAR = 0.01  # by which matches an event may differ: the peer may have asked other events of the same seed


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeResult:
    """One result of a file, fields as above."""

    name: str
    version: str
    workload: str
    subscriptions: int
    seed: int
    microseconds_per_event: float
    matches_per_event: float


def read_native(path: Path, seed: int) -> list[NativeResult]:
    """The results in a file.

    Raises
    ------
    ValueError
        If it is no such file, or of another seed; the message says what was expected.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"Expected a JSON file of native results, got {error} - at {path}") from error
    listed = content.get("results") if isinstance(content, dict) else None
    _expect(isinstance(listed, list), '{"results": [...]}', content, str(path))
    assert isinstance(listed, list)
    return [_result(each, seed, f"{path}, result {number}") for number, each in enumerate(listed)]


def _result(each: Any, seed: int, where: str) -> NativeResult:
    names = {field.name for field in fields(NativeResult)}
    _expect(
        isinstance(each, dict) and set(each) == names, f"the fields {', '.join(sorted(names))}", each, where
    )
    for name in ("name", "version", "workload"):
        _expect(isinstance(each[name], str), f"text as {name}", each[name], where)
    for name in ("subscriptions", "seed", "microseconds_per_event", "matches_per_event"):
        is_number = isinstance(each[name], (int, float)) and not isinstance(each[name], bool)
        _expect(is_number and each[name] >= 0, f"a number from 0 up as {name}", each[name], where)
    _expect(each["seed"] == seed, f"results of seed {seed}, as this run has", each["seed"], where)
    return NativeResult(**each)


def _expect(is_so: bool, expected: str, got: object, where: str) -> None:  # noqa: FBT001 - the test itself
    if not is_so:
        raise ValueError(f"Expected {expected}, got {repr(got)[:100]} - at {where}")


def native_rows(rows: Sequence[Row], results: Sequence[NativeResult]) -> list[Row]:
    """A row for each of our figures that has the workload and size of a result, quicker or slower.

    A peer that found another number of matches did something else: it is shown so, and gets no ratio.
    """
    made = []
    for result in results:
        for row in rows:
            if (row.workload, row.subscriptions) != (result.workload, result.subscriptions):
                continue
            peer = f"{result.name} {result.version}, native"
            beside = times_faster(row, peer, result.microseconds_per_event)
            if row.matches is not None and not _is_near(result.matches_per_event, row.matches):
                beside = replace(beside, ratio=None, details={"other matches": result.matches_per_event})
            made.append(beside)
    return made


def _is_near(matches: float, ours: float) -> bool:
    return abs(matches - ours) <= _NEAR * max(ours, 1)
