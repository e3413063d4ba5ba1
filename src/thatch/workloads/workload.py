"""A generated workload: what was requested, and subscriptions and events as columns, filters and objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import IntEnum
from operator import index
from typing import TypeAlias

import numpy as np

from thatch.errors import SubscriptionError, shown
from thatch.model.filters import Filter
from thatch.model.language.text import expression_of_text
from thatch.workloads.columns import Cells, Intervals, Matrix, Number, TextConditions, TextEvents, TextValue

__all__ = [
    "MAX_COUNT",
    "MAX_SEED",
    "EventValue",
    "RandomStream",
    "Request",
    "Workload",
    "WorkloadShape",
    "attribute_names",
    "workload_of",
]

MAX_COUNT = 100_000_000  # of subscriptions or events, because of memory
MAX_SEED = 2**64 - 1


class RandomStream(IntEnum):
    """Parts of a workload with separate random numbers, so that the size of one does not change the others."""

    WORLD = 0  # shared by subscriptions and events, such as which values are popular
    SUBSCRIPTIONS = 1
    EVENTS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A call of `generate`; refuses counts and seeds that are out of range."""

    name: str
    subscriptions: int
    events: int
    seed: int

    def __post_init__(self) -> None:
        for what, limit in (("subscriptions", MAX_COUNT), ("events", MAX_COUNT), ("seed", MAX_SEED)):
            object.__setattr__(self, what, _whole(getattr(self, what), what, limit))

    def rng(self, stream: RandomStream) -> np.random.Generator:
        """A new random generator for one part."""
        return np.random.default_rng([stream, self.seed])


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadShape:
    """The parameters of a generator; each kind of workload adds its own."""

    attributes: int = 20


def _whole(value: int, what: str, limit: int) -> int:
    """An integer from 0 to a limit; NumPy integers are accepted, booleans are not."""
    try:
        number = -1 if isinstance(value, bool) else index(value)
    except TypeError:
        number = -1
    if not 0 <= number <= limit:
        raise SubscriptionError(f"a whole number from 0 to {limit:,}", shown(value), what)
    return number


EventValue: TypeAlias = Number | TextValue


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Workload:
    """Subscriptions and events; the same name, sizes and seed give the same workload.

    Parameters
    ----------
    name : such as "W1"
    seed : of the random numbers
    parameters : the parameters of the generator, by name
    attributes : names of the attributes, by index
    subscriptions : as columns; `Intervals` for all but W5
    publications : the events as columns; `Matrix`, for W6 `Cells`, for W5 `TextEvents`
    """

    name: str
    seed: int
    parameters: Mapping[str, object]
    attributes: tuple[str, ...] = field(repr=False)
    subscriptions: Intervals | TextConditions = field(repr=False)
    publications: Matrix | Cells | TextEvents = field(repr=False)

    def filter_texts(self) -> list[str]:
        """Every subscription as SQL-style text."""
        return self.subscriptions.texts(self.attributes)

    def filters(self) -> list[Filter]:
        """Every subscription as a filter, parsed from its text."""
        return [Filter.of(expression_of_text(text)) for text in self.filter_texts()]

    def events(self) -> list[dict[str, EventValue]]:
        """Every event as a new JSON-like object."""
        return [*self.publications.objects(self.attributes)]


def attribute_names(count: int) -> tuple[str, ...]:
    """`a00`, `a01`, ... with as many digits as the last one needs, at least two."""
    digits = max(2, len(str(count - 1)))
    return tuple(f"a{number:0{digits}}" for number in range(count))


def workload_of(
    request: Request,
    shape: WorkloadShape,
    subscriptions: Intervals | TextConditions,
    publications: Matrix | Cells | TextEvents,
) -> Workload:
    """The workload for a request."""
    return Workload(
        name=request.name,
        seed=request.seed,
        parameters=asdict(shape),
        attributes=attribute_names(shape.attributes),
        subscriptions=subscriptions,
        publications=publications,
    )
