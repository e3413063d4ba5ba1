"""Whether one shape on the globe lies inside another, or apart from it: proved by geometry, or not known.

Answers keep a margin far above the rounding of `Shape.contains`, so that a yes holds for every place as it is computed
there; shapes that touch are undecided. A region without any point of another's border lies wholly inside or wholly
outside of it, so that it is enough to keep borders apart and to look at one point of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import asin, cos, hypot, pi, radians, sin, sqrt

from thatch.model.shapes import EARTH_RADIUS, Circle, Polygon, Shape

__all__ = ["GlobeBox", "Region", "are_apart", "lies_inside"]

_HALF_ROUND = pi * EARTH_RADIUS  # metres from a place to its antipode
_MARGIN = 1e-3  # metres; `Circle.contains` rounds by less than a millionth, `Polygon.contains` by less than a ten thousandth
_FAR_MARGIN = 2.0  # metres, beyond three quarters of the way to the antipode, where the haversine is flat
_DEGREES = 1e-7  # between borders of polygons
_MOST_PIECES = 4_096  # of a border that is compared with a circle
_MOST_PAIRS = 100_000  # of edges
_FARTHEST = 540.0  # degrees of longitude of a border that does not jump at the date line

Corner = tuple[float, float]
Edge = tuple[Corner, Corner]


@dataclass(frozen=True, slots=True)
class GlobeBox:
    """All places between two latitudes and two longitudes, both included."""

    south: float
    north: float
    west: float
    east: float

    def contains(self, latitude: float, longitude: float) -> bool:
        """Whether a place lies in the box."""
        return self.south <= latitude <= self.north and self.west <= longitude <= self.east


Region = Circle | Polygon | GlobeBox


@lru_cache(maxsize=65_536)
def lies_inside(inner: Region, outer: Shape) -> bool:
    """Whether every place of one region is proved to lie in a shape."""
    if inner == outer:
        return True
    if isinstance(outer, Circle):
        if 2 * EARTH_RADIUS * asin(1.0) <= outer.radius:  # the whole globe
            return True
        if isinstance(inner, Circle):
            return _circle_inside(inner, outer)
        if outer.radius > _HALF_ROUND - 2 * _FAR_MARGIN or inner.contains(*_antipode(outer)):
            return False
        return _Border(inner).is_within(outer)
    if isinstance(inner, Circle):
        return outer.contains(inner.latitude, inner.longitude) and _Border(outer).is_beyond(inner)
    one, other = _Border(inner), _Border(outer)
    return (
        one.is_apart_from(other)
        and outer.contains(*one.place)
        and not any(inner.contains(*place) for place in other.places())
    )


@lru_cache(maxsize=65_536)
def are_apart(one: Region, other: Region) -> bool:
    """Whether no place is proved to lie in both regions."""
    if isinstance(one, Circle):
        if isinstance(other, Circle):
            reach = one.radius + other.radius
            return _distance(_centre(one), _centre(other)) > reach + _margin(reach)
        return not other.contains(one.latitude, one.longitude) and _Border(other).is_beyond(one)
    if isinstance(other, Circle):
        return are_apart(other, one)
    first, second = _Border(one), _Border(other)
    return (
        first.is_apart_from(second)
        and not any(other.contains(*place) for place in first.places())
        and not any(one.contains(*place) for place in second.places())
    )


# --- circles ---------------------------------------------------------------------------------------------------------


def _centre(circle: Circle) -> Corner:
    return (circle.latitude, circle.longitude)


def _antipode(circle: Circle) -> Corner:
    longitude = circle.longitude
    return (-circle.latitude, longitude - 180 if longitude > 0 else longitude + 180)


def _distance(one: Corner, other: Corner) -> float:
    """Metres between two places; longitudes may lie past the date line."""
    north, east = radians(other[0] - one[0]) / 2, radians(other[1] - one[1]) / 2
    chord = sin(north) ** 2 + cos(radians(one[0])) * cos(radians(other[0])) * sin(east) ** 2
    return 2 * EARTH_RADIUS * asin(min(1.0, sqrt(chord)))


def _margin(distance: float) -> float:
    return _MARGIN if distance < 0.75 * _HALF_ROUND else _FAR_MARGIN


def _circle_inside(inner: Circle, outer: Circle) -> bool:
    if _centre(inner) == _centre(outer):
        return inner.radius <= outer.radius  # both compute the same distance
    reach = _distance(_centre(inner), _centre(outer)) + inner.radius
    return reach + _margin(max(reach, outer.radius)) <= outer.radius


# --- borders ---------------------------------------------------------------------------------------------------------


class _Border:
    """The closed line around a polygon or a box, with longitudes that do not jump at the date line."""

    def __init__(self, region: Polygon | GlobeBox) -> None:
        if isinstance(region, Polygon):
            self.corners: Sequence[Corner] = region.unrolled()
        else:
            south, north, west, east = region.south, region.north, region.west, region.east
            self.corners = [(south, west), (south, east), (north, east), (north, west)]

    @property
    def place(self) -> Corner:
        """A place of the border, on the globe."""
        return next(self.places())

    def places(self) -> Iterator[Corner]:
        """A corner as places of the globe: one, or on the date line two."""
        latitude, longitude = self.corners[0]
        while longitude > 180:
            longitude -= 360
        while longitude < -180:
            longitude += 360
        yield (latitude, longitude)
        if abs(longitude) == 180:
            yield (latitude, -longitude)

    def edges(self) -> Iterator[Edge]:
        """From each corner to the next, and back to the first."""
        return zip(self.corners, (*self.corners[1:], self.corners[0]), strict=True)

    def is_within(self, circle: Circle) -> bool:
        """Whether all of it lies inside a circle."""
        return self._keeps(circle, circle.radius - _margin(circle.radius), is_inside=True)

    def is_beyond(self, circle: Circle) -> bool:
        """Whether all of it lies outside of a circle."""
        return self._keeps(circle, circle.radius + _margin(circle.radius), is_inside=False)

    def _keeps(self, circle: Circle, radius: float, *, is_inside: bool) -> bool:
        """Whether no place of the border is farther, or nearer, than a radius; long edges are halved until it is seen."""
        if len(self.corners) > _MOST_PIECES:
            return False
        centre, pending, pieces = _centre(circle), list(self.edges()), 0
        while pending:
            (south, west), (north, east) = pending.pop()
            middle = ((south + north) / 2, (west + east) / 2)
            distance = _distance(centre, middle)
            # No step on the globe is longer than on a map where all meridians are a degree apart.
            half = EARTH_RADIUS * radians(hypot(north - south, east - west)) / 2
            if distance + half <= radius if is_inside else distance - half > radius:
                continue
            pieces += 1
            is_wrong = distance > radius if is_inside else distance <= radius
            if is_wrong or half < _MARGIN or pieces > _MOST_PIECES:
                return False
            pending += [((south, west), middle), (middle, (north, east))]
        return True

    def is_apart_from(self, other: _Border) -> bool:
        """Whether two borders have a gap between them everywhere."""
        if len(self.corners) * len(other.corners) > _MOST_PAIRS:
            return False
        if any(abs(longitude) > _FARTHEST for each in (self, other) for _, longitude in each.corners):
            return False
        return not any(
            _are_near(one, ((south, west + turn), (north, east + turn)))
            for turn in range(-1080, 1081, 360)
            if self._reaches(other, turn)
            for (south, west), (north, east) in other.edges()
            for one in self.edges()
        )

    def _reaches(self, other: _Border, turn: int) -> bool:
        """Whether another border, so many degrees farther east, has longitudes of this one."""
        own = [longitude for _, longitude in self.corners]
        others = [longitude + turn for _, longitude in other.corners]
        return min(own) - 1 <= max(others) and min(others) <= max(own) + 1


def _are_near(one: Edge, other: Edge) -> bool:
    """Whether two edges cross or have no gap between them."""
    for axis in (0, 1):
        low, high = sorted((one[0][axis], one[1][axis]))
        other_low, other_high = sorted((other[0][axis], other[1][axis]))
        if low > other_high + _DEGREES or other_low > high + _DEGREES:
            return False
    if any(_gap(corner, other) <= _DEGREES for corner in one) or any(
        _gap(corner, one) <= _DEGREES for corner in other
    ):
        return True
    return _turns(one, other[0]) != _turns(one, other[1]) and _turns(other, one[0]) != _turns(other, one[1])


def _turns(edge: Edge, corner: Corner) -> bool:
    (start_lat, start_lon), (end_lat, end_lon) = edge
    return (end_lon - start_lon) * (corner[0] - start_lat) > (corner[1] - start_lon) * (end_lat - start_lat)


def _gap(corner: Corner, edge: Edge) -> float:
    """Degrees from a corner to the nearest point of an edge."""
    (start_lat, start_lon), (end_lat, end_lon) = edge
    north, east = end_lat - start_lat, end_lon - start_lon
    square = north * north + east * east
    along = ((corner[0] - start_lat) * north + (corner[1] - start_lon) * east) / square if square else 0.0
    along = min(max(along, 0.0), 1.0)
    return hypot(start_lat + along * north - corner[0], start_lon + along * east - corner[1])
