"""Labels keep the order of cuts whatever comes; rows hold just what satisfies a filter, questions at least that."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from math import inf, nextafter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import strategies as make
from thatch.errors import FilterError, SchemaError
from thatch.model.conjunctions import Conjunction
from thatch.model.events import read_event
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.lines import BOTTOM, TOP, above, below
from thatch.model.schema import Schema
from thatch.model.types import Enum, Integer
from thatch.reduction.boxes import HIGHEST, LOWEST
from thatch.reduction.coordinates import Coordinates
from thatch.reduction.coordinates.axis import LabelledAxis
from thatch.reduction.coordinates.values import number_between, text_between

cuts = st.one_of(
    st.builds(lambda value, is_above: (above if is_above else below)(value), make.literals, st.booleans()),
    st.integers(0, 7).map(lambda rank: (rank,)),
)


class Labelled:
    """Cuts with their labels, kept up to date as someone who stores boxes does."""

    def __init__(self):
        self.axis = LabelledAxis()
        self.labels = {}
        self.relabelled = 0

    def add(self, cut):
        label = self.axis.label(cut)
        if label is None:
            old = self.axis.labels()
            self.axis.space_evenly(cut)
            new = self.axis.labels()
            assert len(old) == len(new)
            assert (np.diff(new) > 0).all()
            known = np.array(list(self.labels.values()))
            places = np.searchsorted(old, known)
            assert (old[places] == known).all()
            self.labels = dict(zip(self.labels, new[places].tolist(), strict=True))
            self.relabelled += 1
            label = self.axis.label(cut)
        self.labels[cut] = label

    def check(self):
        in_order = sorted(self.labels)
        labels = [self.labels[cut] for cut in in_order]
        assert labels == [self.axis.label(cut) for cut in in_order]
        assert labels == [self.axis.floor(cut) for cut in in_order]
        assert labels == [self.axis.ceiling(cut) for cut in in_order]
        assert all(one < other for one, other in pairwise(labels))
        assert labels[0] >= LOWEST
        assert labels[-1] <= HIGHEST + 1


@given(st.lists(cuts, min_size=1, max_size=60, unique=True))
def test_labels_are_in_the_order_of_the_cuts(several):
    labelled = Labelled()
    for cut in several:
        labelled.add(cut)
    labelled.check()


@given(st.lists(cuts, min_size=1, max_size=30, unique=True), cuts)
def test_a_cut_without_a_label_is_rounded_to_its_neighbours(several, cut):
    labelled = Labelled()
    for each in several:
        labelled.add(each)
    axis = labelled.axis
    low, high = axis.floor(cut), axis.ceiling(cut)
    assert low <= high
    for each in several:
        assert axis.label(each) <= low or each > cut
        assert axis.label(each) >= high or each < cut


@given(st.lists(cuts, max_size=30, unique=True), st.data())
def test_a_cell_lies_between_neighbouring_cuts(several, data):
    labelled = Labelled()
    for each in several:
        labelled.add(each)
    fixed = [(rank,) for rank in range(8)]
    known = sorted({*several, *fixed})
    near = [label + step for label in labelled.labels.values() for step in (-1, 0, 1)]
    label = data.draw(st.one_of(st.integers(LOWEST, HIGHEST), st.sampled_from([*near, 0])))
    label = min(max(label, LOWEST), HIGHEST)
    low, high = labelled.axis.cell(label)
    assert labelled.axis.floor(low) <= label < labelled.axis.ceiling(high)
    assert known[bisect_right(known, low) - 1] == low
    assert known[bisect_right(known, low)] == high


def bisected_numbers():
    low, high = 0.0, 1.0
    for _ in range(60):
        high = (low + high) / 2
        yield high
    for turn in range(200):
        low = nextafter(low, 1)
        yield low if turn % 2 else -low


RUNS = {
    "rising texts": (f"user-{number:06d}" for number in range(20_000)),
    "falling texts": (f"user-{number:06d}" for number in range(20_000, 0, -1)),
    "ever longer texts": ("a" * number for number in range(1, 400)),
    "nested texts": ("/".join(map(str, range(number))) + "/0" for number in range(1, 200)),
    "texts between": ("b" * 9 + chr(1) * number for number in range(1, 300)),
    "numbers that doubles hardly tell apart": bisected_numbers(),
    "whole numbers beyond doubles": (2**60 + (number * 7919) % 3000 for number in range(3_000)),
    "rising numbers": (number / 100 for number in range(20_000)),
    "microseconds": (1_700_000_000_000_000 + 37 * number for number in range(20_000)),
}


LONG = ("rising texts", "falling texts", "microseconds")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in RUNS]
)
def test_runs_of_values_keep_their_order(name):
    labelled = Labelled()
    count = 0
    for value in RUNS[name]:
        labelled.add(below(value))
        labelled.add(above(value))
        count += 1
    labelled.check()
    # Relabelling is seldom enough to be paid by all the values that came in between.
    assert labelled.relabelled <= 2 + count // 20


def test_numbers_and_texts_leave_room_where_values_are_expected():
    assert number_between(5, 0, 10, 1000) == 1000 * number_between(5, 0, 10, 10**6) // 10**6
    assert 0 < text_between("user-5", "user-4", "user-6", 1000) < 1000
    assert number_between(2**60 + 1, 2**60, 2**60 + 2, 100) == 50


# --- filters as boxes ------------------------------------------------------------------------------------------------


def filter_of(expression, schema=None):
    try:
        return Filter.of(expression, schema)
    except FilterError:
        return None


def labels_of(coordinates, event):
    """Where a flat event lies on every axis."""
    record = read_event(event, coordinates.schema)
    result = []
    for number, key in enumerate(coordinates.keys):
        if isinstance(key, str):
            result.append(coordinates._axes[number].floor(record.point(key)))
        else:
            result.append(0 if key.holds([record.point(each) for each in key.keys]) else LOWEST)
    return result


def hold(boxes, point):
    return any(
        all(
            boxes.lows[side] <= point[boxes.axes[side]] <= boxes.highs[side]
            for side in range(boxes.offsets[box], boxes.offsets[box + 1])
        )
        for box in range(len(boxes))
    )


@given(
    st.lists(make.expressions, min_size=1, max_size=3),
    make.schemas,
    st.lists(make.flat_values_events, max_size=6),
)
def test_a_row_holds_just_what_satisfies_its_filter(expressions, schema, events):
    filters = [each for each in (filter_of(expression, schema) for expression in expressions) if each]
    coordinates = Coordinates(schema)
    rows = [(each, coordinates.boxes(each)) for each in filters]
    for each, boxes in rows:
        if boxes is None:
            assert each.box_count() > 1024
            continue
        for event in events:
            assert hold(boxes, labels_of(coordinates, event)) == each.matches(event)


@given(
    st.lists(make.expressions, max_size=3),
    make.expressions,
    make.schemas,
    st.lists(make.flat_values_events, max_size=6),
)
def test_a_question_holds_all_that_satisfies_its_filter(rows, expression, schema, events):
    coordinates = Coordinates(schema)
    for each in rows:
        made = filter_of(each, schema)
        if made is not None:
            coordinates.boxes(made)
    asked = filter_of(expression, schema)
    if asked is None:
        return
    size = len(coordinates)
    boxes = coordinates.question(asked)
    assert len(coordinates) == size
    if boxes is not None:
        for event in events:
            if asked.matches(event):
                assert hold(boxes, labels_of(coordinates, event))


def test_axes_rise_inside_a_box():
    coordinates = Coordinates()
    coordinates.boxes(parse("b = 1"))
    boxes = coordinates.boxes(parse("a = 1 and b = 1 and s like '%x%y%'"))
    assert boxes.axes.tolist() == [0, 1, 2, 3]
    assert [str(key) for key in coordinates.keys[:3]] == ["b", "a", "s"]


def test_missing_is_the_lowest_label_and_the_end_of_the_line_the_highest():
    coordinates = Coordinates()
    absent = coordinates.boxes(parse("not exists(a)"))
    there = coordinates.boxes(parse("exists(a)"))
    assert (absent.lows.tolist(), absent.highs.tolist()) == ([LOWEST], [LOWEST])
    assert (there.lows.tolist(), there.highs.tolist()) == ([LOWEST + 1], [HIGHEST])
    assert coordinates.cell(0, LOWEST) == (BOTTOM, (1,))
    assert coordinates.cell(0, HIGHEST) == ((6,), TOP)


def test_a_check_and_its_opposite_are_the_halves_of_an_axis():
    coordinates = Coordinates()
    with_check = coordinates.boxes(parse("s like '%a%b%'"))
    without = coordinates.boxes(parse("s not like '%a%b%'"))
    axis = coordinates.axis(parse("s like '%a%b%'").conjunctions[0].residuals[0])
    assert (with_check.lows[axis], with_check.highs[axis]) == (0, HIGHEST)
    assert (without.lows[axis], without.highs[axis]) == (LOWEST, -1)
    assert not coordinates.check_at(axis, 0).negated
    assert coordinates.check_at(axis, LOWEST).negated


def test_values_tell_which_checks_hold():
    coordinates = Coordinates()
    coordinates.boxes(parse("s like '%a%b%'"))
    yes, no = coordinates.question(parse("s = 'xaxbx'")), coordinates.question(parse("s in ('x', 5)"))
    open_ = coordinates.question(parse("s in ('ab', 'x')"))
    assert (yes.lows[1], no.highs[1]) == (0, -1)
    assert open_.axes.tolist() == [0]


def test_a_derived_attribute_is_known_from_values():
    coordinates = Coordinates()
    row = coordinates.boxes(parse("lower(s) = 'ibm'"))
    question = coordinates.question(parse("s in ('IBM', 'Ibm')"))
    assert (row.lows.tolist(), row.highs.tolist()) == (question.lows.tolist(), question.highs.tolist())


def test_a_condition_on_a_derived_attribute_tells_about_the_attribute():
    coordinates = Coordinates()
    coordinates.boxes(parse("s is null"))
    question = coordinates.question(parse("ip(s) = '10.0.0.1'"))
    assert question.axes.tolist() == [0]
    assert question.lows.tolist() == [0]


def test_a_declared_type_has_few_values_and_so_no_derived_axes():
    schema = Schema({"s": Enum("a", "A", "b")})
    coordinates = Coordinates(schema)
    coordinates.boxes(parse("lower(s) = 'a' and s like '%a%'", schema))
    assert coordinates.keys == ["s"]


def test_what_no_row_constrains_does_not_matter_to_a_question():
    coordinates = Coordinates()
    coordinates.boxes(parse("a = 1"))
    question = coordinates.question(parse("a = 1 and b < 5 and s like '%x%y%'"))
    assert question.axes.tolist() == [0]
    assert coordinates.keys == ["a"]


def test_values_of_one_cell_are_one_box_of_a_question():
    coordinates = Coordinates()
    coordinates.boxes(parse("a < 500"))
    listed = ", ".join(map(str, range(5_000)))
    assert len(coordinates.question(parse(f"a in ({listed})"))) == 1


def test_a_filter_of_too_many_boxes_is_none_and_leaves_nothing():
    coordinates = Coordinates()
    listed = ", ".join(map(str, range(0, 80, 2)))
    many = parse(f"a in ({listed}) and b in ({listed})")
    assert coordinates.boxes(many) is None
    assert coordinates.keys == []
    assert len(coordinates.boxes(many, most=1600)) == 1600
    assert coordinates.question(many) is None
    assert len(coordinates.question(many, most=1600)) == 1600


def test_owners_hear_of_new_labels():
    heard = []
    coordinates = Coordinates(on_relabel=lambda *change: heard.append(change))
    stored = {}
    value = 0.0
    for _ in range(200):
        value = nextafter(value, inf)
        filter = parse(f"a >= {value!r}")
        boxes = coordinates.boxes(filter)
        for axis, old, new in heard:
            assert axis == 0
            for each, low in stored.items():
                stored[each] = int(new[np.searchsorted(old, low)])
        heard.clear()
        stored[filter] = int(boxes.lows[0])
    for filter, low in stored.items():
        assert coordinates.boxes(filter).lows[0] == low
    assert len(coordinates) == 200


def test_another_schema_is_refused():
    coordinates = Coordinates()
    declared = parse("a = 1", Schema({"a": Integer()}))
    for ask in (coordinates.boxes, coordinates.question):
        with pytest.raises(SchemaError, match="a filter with the schema None"):
            ask(declared)
    with pytest.raises(SchemaError):
        Coordinates("a")
    assert coordinates.keys == []


def test_one_conjunction_may_be_asked_for():
    coordinates = Coordinates()
    conjunction = parse("a = 1").conjunctions[0]
    assert isinstance(conjunction, Conjunction)
    assert len(coordinates.boxes(conjunction)) == len(coordinates.question(conjunction)) == 1
