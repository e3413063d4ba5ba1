"""Shapes: what is inside, and the boxes around them."""

from __future__ import annotations

from math import acos, asin, atan2, cos, degrees, pi, radians, remainder, sin

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from thatch.errors import FilterError
from thatch.model.lines import contains, point
from thatch.model.shapes import EARTH_RADIUS, Circle, Polygon

latitudes = st.one_of(st.sampled_from([-90, -89.9999, -45, 0, 60, 89.9999, 90]), st.floats(-90, 90))
longitudes = st.one_of(st.sampled_from([-180, -179.9999, 0, 10, 179.9999, 180]), st.floats(-180, 180))
places = st.tuples(latitudes, longitudes)
radii = st.one_of(st.sampled_from([1, 1_000, 1_000_000, 20_000_000, 30_000_000]), st.floats(0.01, 25_000_000))
circles = st.builds(Circle, latitudes, longitudes, radii)


def distance(one, other):
    """Metres along the sphere, by the angle between two vectors."""

    def vector(latitude, longitude):
        phi, lam = radians(latitude), radians(longitude)
        return cos(phi) * cos(lam), cos(phi) * sin(lam), sin(phi)

    dot = sum(a * b for a, b in zip(vector(*one), vector(*other), strict=True))
    return EARTH_RADIUS * acos(max(-1.0, min(1.0, dot)))


def in_bounds(shape, place):
    box = shape.bounds()
    return all(contains(side, point(degrees)) for side, degrees in zip(box, place, strict=True))


@given(circles, places)
def test_a_circle_holds_what_is_near_enough(circle, place):
    metres = distance((circle.latitude, circle.longitude), place)
    assume(abs(metres - circle.radius) > 1 + 1e-6 * circle.radius)
    assert circle.contains(*place) == (metres < circle.radius)


@given(circles, places)
def test_the_box_around_a_circle_holds_all_of_it(circle, place):
    if circle.contains(*place):
        assert in_bounds(circle, place)


def walked(start, angle, bearing):
    """Where one arrives who walks from a place along a great circle; angle and bearing in radians."""
    phi, lam = radians(start[0]), radians(start[1])
    height = max(-1.0, min(1.0, sin(phi) * cos(angle) + cos(phi) * sin(angle) * cos(bearing)))
    turn = atan2(sin(bearing) * sin(angle) * cos(phi), cos(angle) - sin(phi) * height)
    return degrees(asin(height)), remainder(degrees(lam + turn), 360)


@given(circles, st.floats(0, 2 * pi), st.floats(0, 1))
def test_the_box_around_a_circle_holds_its_rim(circle, bearing, share):
    """Walk from the centre in some direction, almost to the rim."""
    angle = min(circle.radius / EARTH_RADIUS, pi) * (1 - share * 1e-9)
    place = walked((circle.latitude, circle.longitude), angle, bearing)
    if circle.contains(*place):
        assert in_bounds(circle, place)


@given(
    st.floats(-89, 89),
    longitudes,
    st.one_of(st.sampled_from([1, 1_000, 1_000_000]), st.floats(1, 5_000_000)),
    st.sampled_from([-1, 1]),
)
def test_the_box_around_a_circle_holds_its_easternmost_and_westernmost_place(
    latitude, longitude, radius, side
):
    """They lie where a meridian touches the circle, nearer to the pole than the centre."""
    angle = radius / EARTH_RADIUS
    assume(radians(abs(latitude)) + angle < pi / 2 - 1e-6)
    circle = Circle(latitude, longitude, radius)
    touching = degrees(asin(sin(radians(latitude)) / cos(angle)))
    reach = degrees(asin(sin(angle) / cos(radians(latitude))))
    place = touching, remainder(longitude + side * reach * (1 - 1e-6), 360)
    assert circle.contains(*place)
    assert in_bounds(circle, place)
    outside = touching, remainder(longitude + side * (reach * (1 + 1e-3) + 1e-6), 360)
    assert reach > 179 or not in_bounds(circle, outside)


@pytest.mark.parametrize("latitude", [60, -60, 85])
def test_a_circle_far_north_or_south_is_wider_than_at_the_latitude_of_its_centre(latitude):
    circle = Circle(latitude, 0, 400_000)
    angle = circle.radius / EARTH_RADIUS
    touching = degrees(asin(sin(radians(latitude)) / cos(angle)))
    reach = degrees(asin(sin(angle) / cos(radians(latitude)))) * (1 - 1e-9)
    assert not circle.contains(latitude, reach)
    assert circle.contains(touching, reach)
    assert in_bounds(circle, (touching, reach))


polygons = st.sampled_from(
    [
        Polygon(((0, 0), (0, 10), (10, 10), (10, 0))),
        Polygon(((-1, 179), (-1, -179), (2, -179), (2, 179))),
        Polygon(((0, 179.9), (0, -179.9), (1, -179.9), (1, 179.9))),
        Polygon(((80, 0), (90, 20), (80, 40))),
        Polygon(((0, 0), (10, 10), (0, 20), (5, 10))),
        Polygon(((-90, -180), (-90, -10), (90, -10), (90, -180))),
    ]
)


@given(polygons, places)
def test_the_box_around_a_polygon_holds_all_of_it(polygon, place):
    if polygon.contains(*place):
        assert in_bounds(polygon, place)


@given(polygons)
def test_a_polygon_holds_its_corners(polygon):
    for corner in polygon.corners:
        assert polygon.contains(*corner)
        assert in_bounds(polygon, corner)


def test_the_date_line_cuts_no_shape():
    polygon = Polygon(((-1, 179), (-1, -179), (2, -179), (2, 179)))
    assert all(polygon.contains(0, longitude) for longitude in (179.5, 180, -180, -179.5))
    assert not any(polygon.contains(0, longitude) for longitude in (178.9, -178.9, 0))
    circle = Circle(0, 180, 200_000)
    assert all(circle.contains(0, longitude) for longitude in (179, 180, -180, -179))
    assert len(circle.bounds()[1]) == 4


def test_a_circle_round_a_pole_has_every_longitude():
    circle = Circle(89.9, 0, 50_000)
    assert circle.contains(89.9, 180)
    assert in_bounds(circle, (89.9, 180))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Circle(91, 0, 1),
        lambda: Circle(0, 181, 1),
        lambda: Circle(0, 0, 0),
        lambda: Circle(0, 0, float("inf")),
        lambda: Circle(float("nan"), 0, 1),
        lambda: Polygon(((0, 0), (1, 1))),
        lambda: Polygon(((0, 0), (0, 91), (99, 0))),
        lambda: Polygon(((80, 0), (80, 120), (80, -120))),
    ],
)
def test_what_is_no_shape_is_refused(make):
    with pytest.raises(FilterError) as caught:
        make()
    assert caught.value.expected
    assert caught.value.got
    assert caught.value.where
