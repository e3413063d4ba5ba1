"""How many examples Hypothesis tries in a test that says so itself."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

__all__ = ["examples"]


def examples(count: int, **others: Any) -> settings:
    """Settings with so many examples; in `make fast` with no more than any test has there."""
    if settings.get_current_profile_name() == "fast":
        count = min(count, settings.default.max_examples)
    return settings(max_examples=count, **others)
