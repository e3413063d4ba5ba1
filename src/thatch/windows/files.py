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
from thatch.windows.problem import Group, Occurrence, Rule
from thatch.windows.progress import Progress, progress_of

__all__ = ["read_window", "write_window"]

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
            Occurrence(time, _group(group), _what(rule, what)) for time, group, what in content["waiting"]
        ]
        keys: OrderedDict[Group, Progress] = OrderedDict()
        for group, last, state in content["keys"]:
            progress = keys[_group(group)] = progress_of(rule)
            progress.last = last
            progress.restore(state)
    except (KeyError, TypeError, ValueError, ThatchError) as error:
        raise IndexFileError(_EXPECTED, f"a damaged one ({error})", str(where)) from error
    return rule, content["limits"], waiting, keys


def _group(read: list[Any]) -> Group:
    subscription, place = read
    return subscription, tuple(map(tuple, place))


def _what(rule: Rule, read: list[Any]) -> tuple[Any, ...]:
    return tuple(map(tuple, read)) if rule.kind == "distinct" else tuple(read)
