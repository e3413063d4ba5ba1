"""Places on the globe that pass checks of shapes and tests of their two attributes: is there none, and which is one?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product

from thatch.model.derived import derive
from thatch.model.lines import (
    BOTTOM,
    MISSING,
    RANK_NUMBER,
    WHOLE,
    Constraint,
    Cut,
    difference,
    intersect,
    intersect_all,
    point,
)
from thatch.model.lines import covers as line_covers
from thatch.model.residuals import WithinCheck
from thatch.model.shape_relations import GlobeBox, are_apart, lies_inside
from thatch.model.shapes import LATITUDES, LONGITUDES, Circle
from thatch.model.simplest import is_of_type, simplest_points
from thatch.model.trees import ValueTest
from thatch.model.types import Line

__all__ = ["find_place", "has_no_place"]

_MOST_PAIRS = 1_000  # of shapes that are compared
_MOST_TRIED = 2_000  # places
_MOST_CORNERS = 12  # of one polygon
_GRID = 7  # latitudes and longitudes of a shape, of each


def has_no_place(checks: Sequence[WithinCheck], latitudes: Constraint, longitudes: Constraint) -> bool:
    """Whether it is seen that no place passes all checks where latitudes and longitudes lie in these constraints."""
    inside = [check.shape for check in checks if not check.negated]
    outside = [check.shape for check in checks if check.negated]
    if len(inside) * len(checks) > _MOST_PAIRS:
        return False
    if any(lies_inside(one, other) for one in inside for other in outside):
        return True
    if any(are_apart(one, other) for number, one in enumerate(inside) for other in inside[:number]):
        return True
    box = _box(latitudes, longitudes)
    return box is not None and (
        any(lies_inside(box, shape) for shape in outside) or any(are_apart(shape, box) for shape in inside)
    )


def _box(latitudes: Constraint, longitudes: Constraint) -> GlobeBox | None:
    """The box around two constraints, None if they hold anything but degrees."""
    if not latitudes or not longitudes:
        return None
    if not (line_covers(LATITUDES, latitudes) and line_covers(LONGITUDES, longitudes)):
        return None
    ends = [each[at][1] for each in (latitudes, longitudes) for at in (0, -1)]
    return GlobeBox(*map(float, ends))


def find_place(
    checks: Sequence[WithinCheck],
    latitude_tests: Sequence[ValueTest],
    longitude_tests: Sequence[ValueTest],
    latitude_line: Line | None,
    longitude_line: Line | None,
) -> tuple[Cut, Cut] | None:
    """A latitude and a longitude, each as a point of its line, that pass all checks and tests; None if none was found."""
    latitudes = _candidates(checks, latitude_tests, latitude_line, 0)
    longitudes = _candidates(checks, longitude_tests, longitude_line, 1)
    # Centres and corners belong together, and are tried first.
    pairs = (*zip(latitudes, longitudes, strict=False), *islice(product(latitudes, longitudes), _MOST_TRIED))
    for latitude, longitude in pairs:
        if (
            all(check.holds((latitude, longitude)) for check in checks)
            and _passes(latitude, latitude_tests, latitude_line)
            and _passes(longitude, longitude_tests, longitude_line)
        ):
            return latitude, longitude
    return None


def _passes(place: Cut, tests: Sequence[ValueTest], line: Line | None) -> bool:
    return is_of_type(place, line) and all(test.holds([derive(test.key, place)]) for test in tests)


def _candidates(
    checks: Sequence[WithinCheck], tests: Sequence[ValueTest], line: Line | None, axis: int
) -> list[Cut]:
    """Degrees of shapes and between their ends, and values that tests ask for."""
    own = intersect_all([WHOLE, WHOLE, *(test.hull() for test in tests if test.key[-1] != ")")])
    found = [point(each) for check in checks for each in _degrees_of(check, axis, own)]
    found += simplest_points(difference(own, MISSING), line)
    if own[:1] == (BOTTOM,):
        found.append(BOTTOM)
    return list(dict.fromkeys(found))


def _degrees_of(check: WithinCheck, axis: int, own: Constraint) -> Iterator[float]:
    shape = check.shape
    if isinstance(shape, Circle):
        yield (shape.latitude, shape.longitude)[axis]
    else:
        corners = shape.corners[:_MOST_CORNERS]
        yield sum(corner[axis] for corner in corners) / len(corners)
        yield from (corner[axis] for corner in corners)
    for part in (intersect(shape.bounds()[axis], own), shape.bounds()[axis]):
        ends = [float(cut[1]) for cut in part if len(cut) == 3 and cut[0] == RANK_NUMBER]
        if ends:
            start, width = min(ends), max(ends) - min(ends)
            yield from (round(start + width * step / _GRID, 6) for step in range(_GRID + 1))
            yield from (start + width * step / _GRID for step in range(_GRID + 1))
