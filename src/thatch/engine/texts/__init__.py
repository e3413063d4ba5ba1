"""Texts by number: the ids of subscriptions and the names of subscribers, in few bytes and in arrays that map."""

from __future__ import annotations

from thatch.engine.texts.table import TextTable

__all__ = ["TextTable"]
