"""Benchmarks write what they measure to a folder of the test, not to the store of real figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import store
from benchmarks.curves import command as curves


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "STORE", tmp_path)
    monkeypatch.setattr(curves, "STORE", tmp_path)
