"""What is found in a file of rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from thatch.errors import FilterError
from thatch.model.expressions import Expression

__all__ = ["FoundRule"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRule:
    """A rule of a file, or why there is none.

    Parameters
    ----------
    where : the file in which it stands
    identity : by which it is known; empty if it has no name
    found : the expression, or the error
    payload : what else is said of it, JSON-like
    tags : texts by which it may be found
    """

    where: str
    identity: str
    found: Expression | FilterError
    payload: Mapping[str, Any] | None = None
    tags: tuple[str, ...] = ()
