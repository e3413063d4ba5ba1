"""What some subscriptions have besides a filter: a payload, tags, and their filter's text while they are disabled."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thatch.errors import SubscriptionError, shown
from thatch.matching.arrays import starts_of
from thatch.model.filters import Filter
from thatch.model.values import is_text

__all__ = ["PLAIN", "Detail", "SubscriptionDetails", "pack_details", "read_detail", "unpack_details"]


class Detail(NamedTuple):
    """A payload as JSON text, tags, and the text of a filter that is in no index because it is disabled."""

    payload: str | None = None
    tags: tuple[str, ...] = ()
    parked: str | None = None

    def value(self) -> Any:
        """The payload, made anew for whoever asks; None if there is none."""
        return None if self.payload is None else json.loads(self.payload)


PLAIN = Detail()


@dataclass(frozen=True, slots=True)
class SubscriptionDetails:
    """All that an engine knows of a subscription."""

    subscription: str
    filter: Filter
    subscriber: str | None
    expires: float | None
    payload: Any
    tags: tuple[str, ...]
    is_enabled: bool


def read_detail(payload: Any, tags: Any, where: str) -> Detail:
    """A payload and tags as a caller gave them, checked."""
    if payload is None and tags is None:
        return PLAIN
    return Detail(None if payload is None else _json_text(payload, where), _read_tags(tags, where))


def _json_text(payload: Any, where: str) -> str:
    """The text of a payload. What JSON would change on the way is refused: keys that are no texts, tuples, NaN."""
    expected = "a payload of JSON values: objects, lists, texts, numbers, booleans"
    try:
        text = json.dumps(payload, ensure_ascii=False, allow_nan=False)
        is_same = json.loads(text) == payload and is_text(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise SubscriptionError(expected, f"{shown(payload)} ({error})", where) from None
    if not is_same:
        raise SubscriptionError(expected, shown(payload), where)
    return text


def _read_tags(tags: Any, where: str) -> tuple[str, ...]:
    if tags is None:
        return ()
    if isinstance(tags, (str, bytes)) or not isinstance(tags, Iterable):
        raise SubscriptionError("a list of texts as tags", shown(tags), where)
    each = tuple(tags)
    for tag in each:
        if not isinstance(tag, str) or not tag or not is_text(tag):
            raise SubscriptionError("a text as tag", shown(tag), where)
    return tuple(dict.fromkeys(each))


# --- at rest ---------------------------------------------------------------------------------------------------------


def pack_details(details: Mapping[int, Detail]) -> dict[str, npt.NDArray[Any]]:
    """Details by slot as arrays; none if there are none."""
    if not details:
        return {}
    texts = [json.dumps(each).encode() for each in details.values()]
    return {
        "details/slots": np.array(list(details), np.int64),
        "details/offsets": starts_of([len(text) for text in texts]),
        "details/blob": np.frombuffer(b"".join(texts), np.uint8),
    }


def unpack_details(arrays: Mapping[str, npt.NDArray[Any]]) -> dict[int, Detail]:
    """The details that `pack_details` gave."""
    if "details/slots" not in arrays:
        return {}
    blob, offsets = arrays["details/blob"].tobytes(), arrays["details/offsets"].tolist()
    found = {}
    for row, slot in enumerate(arrays["details/slots"].tolist()):
        payload, tags, parked = json.loads(blob[offsets[row] : offsets[row + 1]])
        found[slot] = Detail(payload, tuple(tags), parked)
    return found
