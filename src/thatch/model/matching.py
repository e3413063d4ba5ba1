"""Whether a conjunction holds on an event, lists included, without writing out the product of the lists.

Lists side by side own different attributes, so each list is decided on its own: one of its elements must satisfy
all conditions on the attributes that the list may give. Only a residual over two attributes in two lists ties
them together; then the elements that pass on their own are paired, up to a limit.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import product

from thatch.errors import EventError
from thatch.model.conjunctions import Conjunction
from thatch.model.events import Choice, Record
from thatch.model.lines import Constraint, Cut
from thatch.model.names import ANYWHERE, base_of
from thatch.model.residuals import Residual

__all__ = ["holds", "holds_on_lists"]

_MAX_PAIRS = 100_000

Constraints = Sequence[tuple[str, Constraint]]


def holds(conjunction: Conjunction, record: Record) -> bool:
    """Whether some flat event of the record satisfies the conjunction. Linear in the elements of lists."""
    if record.choices:
        return holds_on_lists(conjunction.constraints, conjunction.residuals, record)
    return _holds_flat(conjunction.constraints, conjunction.residuals, record)


def _holds_flat(constraints: Constraints, residuals: Sequence[Residual], record: Record) -> bool:
    place_of = record.point
    for key, constraint in constraints:
        if not bisect_right(constraint, place_of(key)) & 1:
            return False
    return not residuals or all(
        residual.holds([place_of(key) for key in residual.keys]) for residual in residuals
    )


def holds_on_lists(constraints: Constraints, residuals: Sequence[Residual], record: Record) -> bool:
    """Whether some way to choose from the lists of a record satisfies constraints and checks, all of them at once."""
    if any(_owners(residual, record) > 1 for residual in residuals):
        return _holds_on_tied_lists(constraints, residuals, record)
    given = {key for choice in record.choices for key in choice.keys}
    own = [each for each in constraints if base_of(each[0]) not in given]
    own_residuals = [residual for residual in residuals if base_of(residual.keys[0]) not in given]
    return _holds_flat(own, own_residuals, record) and all(
        _holds_on_choice(constraints, residuals, choice) for choice in record.choices
    )


def _holds_on_choice(constraints: Constraints, residuals: Sequence[Residual], choice: Choice) -> bool:
    """Whether one element of a list satisfies all conditions on what the list may give."""
    inside = [each for each in constraints if base_of(each[0]) in choice.keys]
    checks = [residual for residual in residuals if base_of(residual.keys[0]) in choice.keys]
    if not inside and not checks:
        return True
    return any(
        holds_on_lists(inside, checks, element) if element.choices else _holds_flat(inside, checks, element)
        for element in choice.elements
    )


def _owners(residual: Residual, record: Record) -> int:
    """Over how many lists, the fields beside all lists counting as one, a residual's attributes spread."""
    homes = set()
    for key in residual.keys:
        base = base_of(key)
        homes.add(next((index for index, choice in enumerate(record.choices) if base in choice.keys), -1))
    return len(homes)


def _holds_on_tied_lists(constraints: Constraints, residuals: Sequence[Residual], record: Record) -> bool:
    """Write out the product of the lists that residuals tie together, after dropping elements that fail alone."""
    tied = {base_of(key) for residual in residuals if _owners(residual, record) > 1 for key in residual.keys}
    free = tuple(choice for choice in record.choices if not choice.keys & tied)
    bound = [choice for choice in record.choices if choice.keys & tied]
    survivors = []
    count = 1
    for choice in bound:
        inside = [each for each in constraints if base_of(each[0]) in choice.keys]
        flats = (points for element in choice.elements for points in _flats(element))
        passing = [points for points in flats if _holds_flat(inside, (), Record(dict(points)))]
        survivors.append(passing)
        count *= len(passing)
        if count > _MAX_PAIRS:
            lists = " and ".join(each.where for each in bound)
            raise EventError(
                f"lists {lists} with at most {_MAX_PAIRS:,} pairs that pass on their own", f"{count:,}"
            )
    whole = {key: record.point(key) for each in residuals for key in each.keys if base_of(key) == ANYWHERE}
    for chosen in product(*survivors):
        points = {**record.points, **whole}
        for each in chosen:
            points.update(each)
        if holds_on_lists(constraints, residuals, Record(points, free)):
            return True
    return False


def _flats(element: Record) -> Iterator[dict[str, Cut]]:
    for index, points in enumerate(element.flat()):
        if index > _MAX_PAIRS:
            raise EventError(f"The event has more than {_MAX_PAIRS:,} ways to choose inside one list element")
        yield points
