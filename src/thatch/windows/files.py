"""A saved window: its rule and all that it remembers, as JSON in the container that engines are saved in."""

from __future__ import annotations

import json
import os
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from thatch.engine import container
from thatch.errors import IndexFileError, ThatchError, shown
from thatch.model.language import parse
from thatch.model.values import is_id
from thatch.windows.problem import LONGEST, Group, Occurrence, Rule
from thatch.windows.progress import Progress, place_of, progress_of, time_of

__all__ = ["COUNTS", "read_window", "write_window"]

COUNTS = ("alerts", "late", "without_key", "evicted_keys", "hurried")
_FARTHEST = 10**18  # microseconds: farther than any watermark, from the least time less the greatest lateness

_KIND = "window"
_EXPECTED = "a saved window"

Held = tuple[Rule, dict[str, Any], list[Occurrence], "OrderedDict[Group, Progress]"]


def write_window(
    path: str | os.PathLike[str],
    rule: Rule,
    limits: Mapping[str, Any],
    waiting: list[Occurrence],
    keys: Mapping[Group, Progress],
    *,
    overwrite: bool,
) -> None:
    """Write a window, whole or not at all; `limits` are what else there is, as JSON can hold it."""
    content = {
        "rule": {
            "kind": rule.kind,
            "at_least": rule.at_least,
            "within": rule.within,
            "by": rule.by,
            "attribute": rule.attribute,
            "steps": [each if isinstance(each, str) else {"filter": str(each)} for each in rule.steps],
            "time": rule.time,
        },
        "limits": dict(limits),
        "waiting": waiting,
        "keys": [[group, progress.last, progress.state()] for group, progress in keys.items()],
    }
    text = np.frombuffer(json.dumps(content).encode(), np.uint8)
    container.write(Path(path), {"kind": _KIND}, {"content": text}, overwrite=overwrite)


def read_window(path: str | os.PathLike[str]) -> Held:
    """What `write_window` has written."""
    where = Path(path)
    try:
        header, arrays = container.read(where)
    except IndexFileError as error:
        raise IndexFileError(_EXPECTED, error.got or error.expected, str(where)) from error
    if header.get("kind") != _KIND:
        raise IndexFileError(_EXPECTED, f"a saved {shown(header.get('kind'))[1:-1]}", str(where))
    try:
        content = json.loads(arrays["content"].tobytes())
        given = dict(content["rule"])
        steps = tuple(each if isinstance(each, str) else parse(each["filter"]) for each in given.pop("steps"))
        rule = Rule(**{**given, "by": tuple(given["by"])}, steps=steps)
        waiting = [
            Occurrence(time_of(time), _group(rule, group), _what(rule, what))
            for time, group, what in content["waiting"]
        ]
        keys: OrderedDict[Group, Progress] = OrderedDict()
        for group, last, state in content["keys"]:
            progress = keys[_group(rule, group)] = progress_of(rule)
            progress.last = time_of(last)
            progress.restore(rule, state)
        limits = _limits(content["limits"])
    except (
        LookupError,
        TypeError,
        ValueError,
        ArithmeticError,
        AttributeError,
        RecursionError,
        ThatchError,
    ) as error:
        raise IndexFileError(_EXPECTED, f"a damaged one ({shown(str(error))})", str(where)) from error
    return rule, limits, waiting, keys


def _limits(read: dict[str, Any]) -> dict[str, Any]:
    """What else there is, looked over."""
    numbers = [read["lateness"], read["max_keys"], read["max_waiting"], *read["counts"].values()]
    if any(type(each) is not int or each < 0 for each in numbers) or read["lateness"] > LONGEST:
        raise ValueError("limits")
    if read["max_keys"] < 1 or read["max_waiting"] < 1 or set(read["counts"]) != set(COUNTS):
        raise ValueError("limits")
    if read["watermark"] is not None and (
        type(read["watermark"]) is not int or abs(read["watermark"]) > _FARTHEST
    ):
        raise ValueError("watermark")
    return read


def _group(rule: Rule, read: list[Any]) -> Group:
    subscription, places = read
    if (subscription != "" and not is_id(subscription)) or len(places) != len(rule.by):
        raise ValueError("a key")
    return subscription, tuple(map(place_of, places))


def _what(rule: Rule, read: list[Any]) -> tuple[Any, ...]:
    if rule.kind == "distinct":
        (value,) = read
        return (place_of(value),)
    steps = tuple(read)
    possible = range(len(rule.steps)) if rule.kind == "sequence" else ()
    if any(type(each) is not int or each not in possible for each in steps) or list(steps) != sorted(
        set(steps)
    ):
        raise ValueError("steps")
    return steps
