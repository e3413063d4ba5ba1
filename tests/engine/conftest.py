"""Fixtures for pieces of a batch: the ways in which an engine matches one."""

from __future__ import annotations

import pytest

from tests.engine.event_tables import forced
from thatch.matching import growing


@pytest.fixture
def segments(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Segments from the first filter on."""
    monkeypatch.setattr(growing, "FEW", 1)
    return monkeypatch


@pytest.fixture(params=["small", "searched", "masked"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The way in which the engines of a test match, with a piece for every event."""
    if request.param != "small":
        monkeypatch.setattr(growing, "FEW", 1)
    forced(monkeypatch, "searched" if request.param == "small" else request.param, room=1, piece=1)
    return str(request.param)
