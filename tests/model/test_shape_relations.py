"""Shapes inside and apart from others: what is proved holds on sampled places, and what geometry shows is proved."""

from __future__ import annotations

from itertools import pairwise
from math import cos, degrees, nextafter, pi, radians, sin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thatch.errors import FilterError
from thatch.model.language import parse
from thatch.model.lines import WHOLE, above, below
from thatch.model.places import find_place, has_no_place
from thatch.model.residuals import WithinCheck
from thatch.model.shape_relations import GlobeBox, are_apart, lies_inside
from thatch.model.shapes import EARTH_RADIUS, Circle, Polygon

SMALL = Circle(10, 10, 1_000)
SQUARE = Polygon(((0, 0), (0, 10), (10, 10), (10, 0)))
DATE_LINE = Polygon(((-1, 179), (-1, -179), (2, -179), (2, 179)))
BOW = Polygon(((0, 0), (10, 10), (10, 0), (0, 10)))  # crosses itself
STAR = Polygon(
    ((10, 0), (-8, 6), (3, -9.5), (3, 9.5), (-8, -6))
)  # its middle is outside by the even-odd rule


@pytest.mark.parametrize(
    ("inner", "outer", "wanted"),
    [
        (SMALL, Circle(10.001, 10, 2_000), True),
        (SMALL, Circle(10.001, 10, 1_010), False),
        (SMALL, Circle(10, 10, 1_000), True),
        (SMALL, Circle(10, 10, nextafter(1_000, 0)), False),
        (Circle(10, 100, 1_000), Circle(-10, -170, pi * EARTH_RADIUS - 2_000), True),
        (SMALL, Circle(-10, -170, pi * EARTH_RADIUS - 2_000), False),
        (SMALL, Circle(0, 0, 21_000_000), True),
        (Circle(0, 180, 1_000), Circle(0, -180, 1_001), True),
        (Circle(90, 0, 1_000), Circle(90, 100, 1_001), True),
        (SMALL, SQUARE, False),
        (Circle(5, 5, 500_000), SQUARE, True),
        (Circle(5, 5, 560_000), SQUARE, False),
        (Circle(0, 180, 50_000), DATE_LINE, True),
        (Circle(0, -179.5, 50_000), DATE_LINE, True),
        (SQUARE, Circle(5, 5, 790_000), True),
        (SQUARE, Circle(5, 5, 700_000), False),
        (DATE_LINE, Circle(0.5, 180, 250_000), True),
        (Polygon(((80, 0), (80, 90), (80, 179), (89, 90))), Circle(90, 0, 1_200_000), True),
        (Polygon(((1, 1), (1, 9), (9, 5))), SQUARE, True),
        (Polygon(((1, 1), (1, 11), (9, 5))), SQUARE, False),
        (Polygon(((0, 0), (0, 10), (9, 5))), SQUARE, False),  # touches
        (Polygon(((0, 179.5), (0, -179.5), (1, 180))), DATE_LINE, True),
        (Polygon(((-0.5, -0.5), (-0.5, 0.5), (0.5, 0))), STAR, False),
        (STAR, Polygon(((-11, -11), (-11, 11), (11, 11), (11, -11))), True),
        (GlobeBox(1, 2, 1, 2), SQUARE, True),
        (GlobeBox(1, 2, 9, 12), SQUARE, False),
        (GlobeBox(9.999, 10.001, 9.999, 10.001), SMALL, True),
        (GlobeBox(85, 90, -180, 180), Circle(90, 0, 600_000), True),
        (GlobeBox(-90, -85, -180, 180), Circle(90, 0, 600_000), False),
    ],
)
def test_shapes_inside_others(inner, outer, wanted):
    assert lies_inside(inner, outer) is wanted


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        (SMALL, Circle(10.02, 10, 1_000), True),
        (SMALL, Circle(10.01, 10, 1_000), False),
        (SMALL, SQUARE, False),
        (Circle(10.1, 10, 1_000), SQUARE, True),
        (Circle(5, 5, 1_000), SQUARE, False),
        (SQUARE, Polygon(((11, 0), (11, 10), (20, 5))), True),
        (SQUARE, Polygon(((1, 1), (1, 9), (9, 5))), False),
        (SQUARE, Polygon(((10, 0), (10, 10), (20, 5))), False),
        (DATE_LINE, SQUARE, True),
        (Circle(0, -180, 1_000), DATE_LINE, False),
        (Polygon(((-0.5, -0.5), (-0.5, 0.5), (0.5, 0))), STAR, True),
        (SQUARE, GlobeBox(11, 12, 0, 10), True),
        (SMALL, GlobeBox(10.1, 11, 0, 20), True),
    ],
)
def test_shapes_apart_from_others(one, other, wanted):
    assert are_apart(one, other) is wanted
    assert are_apart(other, one) is wanted


def polygons(corners):
    return st.lists(corners, min_size=3, max_size=6).map(_polygon).filter(lambda each: each is not None)


def _polygon(corners):
    try:
        return Polygon(tuple(corners))
    except FilterError:
        return None


def around(latitude, longitude, width):
    """Places near one, some of them beyond the date line."""
    step = st.floats(-width, width)
    return st.tuples(step, step).map(
        lambda each: (
            min(max(latitude + each[0], -90.0), 90.0),
            (longitude + each[1] + 180) % 360 - 180,
        )
    )


centres = st.sampled_from(
    [(0.0, 0.0), (45.0, 10.0), (0.0, 179.0), (80.0, -179.0), (89.0, 30.0), (-60.0, -180.0)]
)


@st.composite
def shapes_near(draw):
    """Two shapes near each other, and places in and around them."""
    latitude, longitude = draw(centres)
    width = draw(st.sampled_from([0.01, 1.0, 10.0, 60.0]))
    near = around(latitude, longitude, width)
    radius = st.floats(0.01, 3).map(lambda each: each * width * 111_000)
    circles = st.builds(lambda place, radius: Circle(*place, radius), near, radius)
    shapes = st.one_of(circles, polygons(near))
    return draw(shapes), draw(shapes), draw(st.lists(near, min_size=10, max_size=10))


def places_of(shape):
    """Places inside a shape, most of them at its border."""
    if isinstance(shape, Circle):
        for number in range(24):
            bearing, angle = number * pi / 12, shape.radius / EARTH_RADIUS * (1 - 1e-12)
            north = shape.latitude + degrees(angle) * cos(bearing)
            east = shape.longitude + degrees(angle) * sin(bearing) / max(cos(radians(shape.latitude)), 1e-9)
            yield north, east
        return
    corners = [*shape.corners, shape.corners[0]]
    for (south, west), (north, east) in pairwise(corners):
        way = (east - west + 180) % 360 - 180
        for step in range(9):
            yield south + (north - south) * step / 8, west + way * step / 8


@given(shapes_near())
def test_what_is_proved_holds_on_sampled_places(found):
    one, other, places = found
    places = [*places, *places_of(one), *places_of(other)]
    on_globe = [(lat, (lon + 180) % 360 - 180) for lat, lon in places if abs(lat) <= 90]
    inside, apart = lies_inside(one, other), are_apart(one, other)
    assert not (inside and apart)
    for place in on_globe:
        if one.contains(*place):
            assert not inside or other.contains(*place)
            assert not apart or not other.contains(*place)


@given(st.floats(-89, 89), st.floats(-180, 180), st.floats(100, 1e6), st.floats(0, 0.98))
def test_circles_inside_circles_are_seen(latitude, longitude, radius, share):
    """A circle that touches another from within, made a little smaller."""
    outer = Circle(latitude, longitude, radius)
    way = share * radius / EARTH_RADIUS
    inner = Circle(
        latitude + degrees(way) * (1 if latitude < 0 else -1), longitude, radius * (1 - share) * 0.99
    )
    assert lies_inside(inner, outer)
    assert not lies_inside(outer, inner)


# --- in filters ------------------------------------------------------------------------------------------------------


def test_filters_with_shapes_contain_and_meet_each_other():
    wide, narrow = (
        parse("within(a, b, circle(10, 10, 2000))"),
        parse("within(a, b, circle(10.001, 10, 1000))"),
    )
    far = parse("within(a, b, circle(20, 10, 1000))")
    square = parse("within(a, b, polygon((9, 9), (9, 11), (11, 11), (11, 9)))")
    assert wide.covers(narrow)
    assert not narrow.covers(wide)
    assert square.covers(wide)
    assert not wide.covers(square)
    assert wide.intersects(narrow)
    assert not wide.intersects(far)
    assert not square.intersects(parse("within(a, b, polygon((12, 9), (12, 11), (13, 10)))"))
    assert wide.covers(parse("a between 9.999 and 10.001 and b between 9.999 and 10.001"))
    assert not wide.intersects(parse("a between 10.5 and 11 and b between 9 and 11"))
    outside = parse("not within(a, b, circle(10, 10, 2000))")
    assert not outside.intersects(narrow)
    assert not parse("within(x, y, circle(10, 10, 2000))").covers(narrow)


def test_a_place_is_found_between_shapes():
    checks = [WithinCheck("a", "b", SQUARE), WithinCheck("a", "b", Circle(5, 5, 300_000), negated=True)]
    assert not has_no_place(checks, WHOLE, WHOLE)
    latitude, longitude = find_place(checks, [], [], None, None)
    assert all(check.holds((latitude, longitude)) for check in checks)
    assert has_no_place(checks, (below(4), above(5)), (below(4), above(5)))
