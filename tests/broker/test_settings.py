from __future__ import annotations

import pytest

from thatch.broker.settings import Limits, Routing, Timing
from thatch.errors import ParameterError


def test_ways_that_are_none_are_refused() -> None:
    with pytest.raises(ParameterError, match="way"):
        Routing(way="by pigeon")  # type: ignore[arg-type] # wrong on purpose


@pytest.mark.parametrize("times", [(0, 1), (1, 1), (2, 1), (-1, 1), (float("nan"), 1)])
def test_a_neighbour_fails_later_than_a_message_is_resent(times: tuple[float, float]) -> None:
    resend, failure = times
    with pytest.raises(ParameterError, match="timing"):
        Timing(resend=resend, failure=failure)


@pytest.mark.parametrize("name", ["event_size", "idle", "facts"])
def test_limits_are_at_least_one(name: str) -> None:
    with pytest.raises(ParameterError, match=name):
        Limits(**{name: 0})
