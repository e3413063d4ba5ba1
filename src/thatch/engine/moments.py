"""Moments in time, as callers give them."""

from __future__ import annotations

from datetime import UTC, datetime
from math import isnan
from typing import Any

from thatch.errors import SubscriptionError, shown

__all__ = ["Moment", "moment"]

Moment = float | datetime


def moment(value: Any, what: str) -> float:
    """Seconds since 1970 of a number or a datetime (naive = UTC)."""
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, bool) or not isinstance(value, (int, float)) or isnan(value):
        raise SubscriptionError("seconds since 1970 or a datetime", shown(value), what)
    return float(value)
