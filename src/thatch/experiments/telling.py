"""Numbers of a comparison as people read them; what was not measured stays None."""

from __future__ import annotations

from collections.abc import Iterable

from thatch.reports import Format
from thatch.reports.formatting import shown

__all__ = ["each", "number", "percent"]


def number(value: float | None) -> str | None:
    """A number; counts without a fraction."""
    if value is None:
        return None
    return shown(int(value) if float(value).is_integer() else value)


def percent(share: float | None) -> str | None:
    """A share as a percentage."""
    form: Format = "percent"
    return None if share is None else shown(share, form)


def each(values: Iterable[str | None]) -> str | None:
    """Several numbers in a row, parted by strokes; None if there is none of them."""
    told = list(values)
    return " / ".join(one or "–" for one in told) if any(told) else None
