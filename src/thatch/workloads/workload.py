"""A generated workload: subscriptions and events as columns, and as filters and objects on demand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from thatch.model.filters import Filter
from thatch.model.language.text import expression_of_text
from thatch.workloads.columns import Cells, Intervals, Matrix, Number
from thatch.workloads.request import Request
from thatch.workloads.text_columns import TextConditions, TextEvents, TextValue

__all__ = ["EventValue", "Workload", "attribute_names", "workload_of"]

EventValue: TypeAlias = Number | TextValue


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Workload:
    """Subscriptions and events that the same name, sizes and seed always give again.

    Parameters
    ----------
    name : which workload, such as "W1"
    seed : what the random numbers were drawn from
    parameters : what shapes the workload, by name
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
        """Every event as a JSON-like object, new ones at each call."""
        return [*self.publications.objects(self.attributes)]


def attribute_names(count: int) -> tuple[str, ...]:
    """`a00`, `a01`, ... with as many digits as the last one needs, at least two."""
    digits = max(2, len(str(count - 1)))
    return tuple(f"a{number:0{digits}}" for number in range(count))


def workload_of(
    request: Request,
    parameters: Mapping[str, object],
    attributes: int,
    subscriptions: Intervals | TextConditions,
    publications: Matrix | Cells | TextEvents,
) -> Workload:
    """The answer to a request."""
    return Workload(
        name=request.name,
        seed=request.seed,
        parameters=parameters,
        attributes=attribute_names(attributes),
        subscriptions=subscriptions,
        publications=publications,
    )
