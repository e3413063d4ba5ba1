"""Hostile events, parameters and files: one sentence, and nothing has changed."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from thatch import Window
from thatch.engine import container
from thatch.errors import EventError, IndexFileError, ParameterError
from thatch.windows.problem import Rule


@pytest.mark.parametrize("within", [10**400, -1, 0, float("nan"), float("inf"), "1e400s", "soon", True, timedelta.max, None])  # fmt: skip
def test_a_time_that_is_none_is_refused(within: Any) -> None:
    with pytest.raises(ParameterError):
        Window.count(2, within)
    if within != 0:
        with pytest.raises(ParameterError):
            Window.count(2, 10, lateness=within)


@pytest.mark.parametrize(
    "changed",
    [
        {"kind": "sum"}, {"kind": "distinct"}, {"attribute": "x"}, {"within": 10**30}, {"within": "x"}, {"by": (5,)},
        {"by": ("(((",)}, {"by": ("anywhere()",)}, {"by": ("lower(lower(x))",)}, {"by": ('"x"',)}, {"time": ""},
    ],
    ids=str,
)  # fmt: skip
def test_a_rule_of_wrong_parts_is_refused(changed: dict[str, Any]) -> None:
    parts: dict[str, Any] = {"kind": "count", "at_least": 2, "within": 10**6, "by": ("user", "lower(x)")}
    Rule(**parts)
    with pytest.raises(ParameterError):
        Rule(**{**parts, **changed})


def test_an_event_that_does_not_count_may_have_any_time() -> None:
    window = Window.count(1, 10, of=["a"])
    for time in (1e300, 2**63 - 1, float("nan"), "yesterday", None, [1, 2]):
        assert window.add({"time": time}, ["b"]) == []
        before = window.stats(), window.watermark
        with pytest.raises(EventError):
            window.add({"time": time}, ["a"])
        assert (window.stats(), window.watermark) == before


def test_an_event_may_not_count_for_millions_of_keys() -> None:
    window = Window.count(1, 10, by="user")
    event = {"time": 1, "user": [f"u{number}" for number in range(1_000)]}
    with pytest.raises(EventError, match="1,000 keys for each of 1,001 subscriptions"):
        window.add(event, [f"s{number}" for number in range(1_001)])
    assert window.stats()["keys"] == window.stats()["waiting"] == 0


def test_microseconds_of_a_datetime_are_exact() -> None:
    late = datetime(9999, 12, 31, 23, 59, 59, 999_998, tzinfo=UTC)
    window = Window.count(2, "1us")
    assert window.add({}, ["a"], time=late) == []
    assert len(window.add({}, ["a"], time=late + timedelta(microseconds=1))) == 1
    assert Window.count(2, "1us").add({}, ["a"], time=late - timedelta(microseconds=1)) == []


# --- files -----------------------------------------------------------------------------------------------------------

_DAMAGE: list[tuple[str, Any]] = [
    *((name, value) for name in ("rule", "limits", "waiting", "keys") for value in (None, 5, "x", [5], {"x": 1})),
    *(
        ("limits", {name: value})
        for name in ("lateness", "max_keys", "max_waiting", "watermark", "counts")
        for value in ("x", -(10**30), 1.5, [1], {"late": -1})
    ),
    *(
        ("rule", change)
        for change in ({"kind": "sum"}, {"at_least": "5"}, {"by": [5]}, {"by": ["a", "b"]}, {"time": 5}, {"more": 1})
    ),
    ("rule", {"steps": [{"filter": "x ="}]}),
    *(
        ("waiting", [row])
        for row in (
            ["x", ["a", [[6, "u", 0]]], []], [10**30, ["a", [[6, "u", 0]]], []], [1, ["", []], []],
            [1, ["a", [[6, 5, 0]]], []], [1, ["a", [[9]]], []], [1, ["a", [[6, "u", 0]]], [1]], [True, ["a", [[1]]], []],
        )
    ),
    *(
        ("keys", [row])
        for row in (
            [["a", [[6, "u", 0]]], "x", [1]], [["a", [[6, "u", 0]]], 1, ["x"]], [["a", [[6, "u", 0]]], 1, [2, 1]],
            [["a", [[6, "u", 0]]], 1, [1, 1, 1]], [["a", [{}]], 1, [1]], [["\0", [[6, "u", 0]]], 1, [1]],
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("part", "change"), _DAMAGE, ids=map(str, range(len(_DAMAGE))))
def test_a_file_that_no_window_wrote_is_refused(part: str, change: Any, tmp_path: Path) -> None:
    path = tmp_path / "w.thatch"
    window = Window.count(3, 10, by="user", lateness=1)
    for second in (1, 2):
        window.add({"time": second, "user": "u"}, ["a"])
    window.save(path)
    header, arrays = container.read(path)
    content = json.loads(arrays["content"].tobytes())
    known = content[part]
    content[part] = {**known, **change} if isinstance(known, dict) and isinstance(change, dict) else change
    if change == {"x": 1} and part == "limits":
        del content["limits"]["counts"]
    _write(path, header["kind"], json.dumps(content).encode())
    with pytest.raises(IndexFileError, match="a saved window"):
        Window.open(path)


def test_a_file_nested_too_deep_or_of_nothing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "w.thatch"
    for content in (b"[" * 200_000, b"", b"{}", b"null", b"\xff"):
        _write(path, "window", content)
        with pytest.raises(IndexFileError, match="a saved window"):
            Window.open(path)


def _write(path: Path, kind: str, content: bytes) -> None:
    container.write(path, {"kind": kind}, {"content": np.frombuffer(content, np.uint8)}, overwrite=True)
