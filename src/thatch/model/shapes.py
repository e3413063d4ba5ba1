"""Shapes on the globe for geofences: a circle and a polygon, each with the boxes around it.

Latitude runs from -90 to 90 and longitude from -180 to 180 degrees; a point outside that range is nowhere. The
box around a shape may be a little larger than the shape, never smaller; across the date line it has two parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import asin, cos, degrees, isfinite, pi, radians, sin, sqrt

from thatch.errors import FilterError, shown
from thatch.model.lines import Constraint, above, below, union

__all__ = ["LATITUDES", "LONGITUDES", "Circle", "Polygon", "Shape"]

EARTH_RADIUS = 6_371_008.8  # metres, mean radius of the WGS 84 ellipsoid
_SLACK = 1e-9  # degrees added around boxes, far above rounding and far below a millimetre of meaning

LATITUDES: Constraint = (below(-90), above(90))
LONGITUDES: Constraint = (below(-180), above(180))


def _check_place(latitude: float, longitude: float, where: str) -> None:
    if not (isfinite(latitude) and -90 <= latitude <= 90):
        raise FilterError("a latitude from -90 to 90", shown(latitude), where)
    if not (isfinite(longitude) and -180 <= longitude <= 180):
        raise FilterError("a longitude from -180 to 180", shown(longitude), where)


def _longitudes(low: float, high: float) -> Constraint:
    """The longitudes from `low` to `high` degrees, either of which may lie past the date line."""
    low, high = low - _SLACK, high + _SLACK
    if high - low >= 360:
        return LONGITUDES
    parts = []
    for turn in (-360, 0, 360):
        start, end = max(low + turn, -180.0), min(high + turn, 180.0)
        if start <= end:
            parts.append((below(start), above(end)))
    return union(parts)


@dataclass(frozen=True, slots=True)
class Circle:
    """All places within `radius` metres of a centre, along the surface of a sphere."""

    latitude: float
    longitude: float
    radius: float

    def __post_init__(self) -> None:
        _check_place(self.latitude, self.longitude, "circle")
        if not (isfinite(self.radius) and self.radius > 0):
            raise FilterError("a radius in metres above 0", shown(self.radius), "circle")

    def contains(self, latitude: float, longitude: float) -> bool:
        """Whether a place of the globe lies in the circle (haversine distance)."""
        north = radians(latitude - self.latitude) / 2
        east = radians(longitude - self.longitude) / 2
        chord = sin(north) ** 2 + cos(radians(self.latitude)) * cos(radians(latitude)) * sin(east) ** 2
        return 2 * EARTH_RADIUS * asin(min(1.0, sqrt(chord))) <= self.radius

    def bounds(self) -> tuple[Constraint, Constraint]:
        """Latitudes and longitudes that hold the whole circle."""
        angle = self.radius / EARTH_RADIUS * (1 + 1e-9)
        north = self.latitude + degrees(angle) + _SLACK
        south = self.latitude - degrees(angle) - _SLACK
        latitudes = (below(max(south, -90.0)), above(min(north, 90.0)))
        if north >= 90 or south <= -90 or angle >= pi / 2:  # a pole is inside: every longitude occurs
            return latitudes, LONGITUDES
        # The widest longitude of a small circle is not at its centre's latitude but a little poleward.
        reach = degrees(asin(min(1.0, sin(angle) / cos(radians(self.latitude)))))
        return latitudes, _longitudes(self.longitude - reach, self.longitude + reach)

    def __str__(self) -> str:
        return f"circle({self.latitude!r}, {self.longitude!r}, {self.radius!r})"


@dataclass(frozen=True, slots=True)
class Polygon:
    """All places inside or on a closed line of corners, with edges straight in latitude and longitude.

    An edge goes the short way round, so a polygon may cross the date line. It may not hold a pole.
    """

    corners: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        if len(self.corners) < 3:
            raise FilterError("at least 3 corners", str(len(self.corners)), "polygon")
        if len(self.corners) > 10_000:
            raise FilterError("at most 10,000 corners", f"{len(self.corners):,}", "polygon")
        for latitude, longitude in self.corners:
            _check_place(latitude, longitude, "polygon")
        for (_, start), (_, end) in zip(self.corners, self.corners[1:] + self.corners[:1], strict=True):
            if (end - start) % 360 == 180:
                raise FilterError("edges of less than half the globe", f"{start} to {end}", "polygon")
        unrolled = self.unrolled()
        if abs(_step(unrolled[-1][1], unrolled[0][1]) + unrolled[-1][1] - unrolled[0][1]) > 180:
            raise FilterError("a polygon that does not go round a pole", shown(str(self)), "polygon")

    def unrolled(self) -> list[tuple[float, float]]:
        """The corners with longitudes that do not jump at the date line."""
        result = [self.corners[0]]
        for latitude, longitude in self.corners[1:]:
            last = result[-1][1]
            result.append((latitude, last + _step(last, longitude)))
        return result

    def contains(self, latitude: float, longitude: float) -> bool:
        """Whether a place of the globe lies in the polygon, its edges included (even-odd rule)."""
        corners = self.unrolled()
        return any(_inside(corners, latitude, longitude + turn) for turn in (-360, 0, 360))

    def bounds(self) -> tuple[Constraint, Constraint]:
        """Latitudes and longitudes that hold the whole polygon."""
        corners = self.unrolled()
        latitudes = [latitude for latitude, _ in corners]
        longitudes = [longitude for _, longitude in corners]
        box = (below(max(min(latitudes) - _SLACK, -90.0)), above(min(max(latitudes) + _SLACK, 90.0)))
        return box, _longitudes(min(longitudes), max(longitudes))

    def __str__(self) -> str:
        return (
            f"polygon({', '.join(f'({latitude!r}, {longitude!r})' for latitude, longitude in self.corners)})"
        )


Shape = Circle | Polygon


def _step(start: float, end: float) -> float:
    """The way from one longitude to another, the short way round."""
    way = (end - start) % 360
    return way - 360 if way > 180 else way


def _inside(corners: list[tuple[float, float]], latitude: float, longitude: float) -> bool:
    inside = False
    previous_lat, previous_lon = corners[-1]
    for corner_lat, corner_lon in corners:
        side = (corner_lon - previous_lon) * (latitude - previous_lat) - (longitude - previous_lon) * (
            corner_lat - previous_lat
        )
        if (
            side == 0
            and min(previous_lat, corner_lat) <= latitude <= max(previous_lat, corner_lat)
            and min(previous_lon, corner_lon) <= longitude <= max(previous_lon, corner_lon)
        ):
            return True
        if (previous_lat > latitude) != (corner_lat > latitude) and (side > 0) == (corner_lat < previous_lat):
            inside = not inside
        previous_lat, previous_lon = corner_lat, corner_lon
    return inside
