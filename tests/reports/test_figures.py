"""Figures: where values are drawn, what is told about them, what is refused."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from thatch.reports.figures import (
    PlotAxis,
    bars,
    boxplot,
    heatmap,
    histogram,
    lines,
    places,
    scatter,
    triangles,
)


def test_bars_stand_at_whole_numbers_so_that_equal_labels_stay_apart():
    figure = bars(["5", "5", "2020-01-01"], [1, 2, 3])
    (bar,) = figure.data
    assert bar["x"] == [0, 1, 2]
    assert figure.layout["x"]["ticks"] == [[0, "5"], [1, "5"], [2, "2020-01-01"]]


def test_bars_with_long_labels_lie_with_the_first_on_top():
    figure = bars(["a rather long label", "b"], [1, 2])
    assert figure.data[0]["lying"]
    assert figure.data[0]["x"] == [1, 2]
    assert figure.layout["y"]["range"] == [1.5, -0.5]


def test_bars_in_groups_have_a_legend():
    figure = bars(["a", "b"], {"ours": [1, 2], "theirs": [3, 4]})
    assert [bar["name"] for bar in figure.data] == ["ours", "theirs"]
    assert figure.layout["legend"]
    assert figure.rows.names == ["label", "ours", "theirs"]
    assert figure.rows.rows == [["a", 1, 3], ["b", 2, 4]]


def test_many_bars_are_cut_and_counted():
    figure = bars(range(80), range(80), most=50)
    assert (figure.shown, figure.total) == (50, 80)
    assert bars(range(80), range(80), most=50, total=900).total == 900


def test_a_summary_reports_the_least_and_the_greatest():
    figure = bars(["a", "b", "c"], [0.5, None, 0.25], value=PlotAxis("share", format="percent"))
    assert figure.summary == "3 bars. Least 25 % (c). Greatest 50 % (a)."
    assert bars([], []).summary == "0 bars. No values."


def test_what_cannot_be_drawn_is_left_out_and_counted():
    values = [1, 0, -1, None, math.nan, math.inf, "text", True]
    assert lines({"a": (range(8), values)}).data[0]["y"] == [1, 0, -1, None, None, None, None, None]
    assert lines({"a": (range(8), values)}).undrawn == 5
    assert lines({"a": (range(8), values)}, y=PlotAxis(log=True)).undrawn == 7


def test_columns_of_numpy_and_arrow_are_columns():
    figure = lines({"a": (np.array([1, 2]), pa.array([3.0, None]))})
    assert (figure.data[0]["x"], figure.data[0]["y"]) == ([1.0, 2.0], [3.0, None])


def test_moments_make_an_axis_of_dates():
    figure = lines({"a": ([date(2024, 3, 1), datetime(2024, 3, 2, 12)], [1, 2])})
    first = datetime(2024, 3, 1, tzinfo=UTC).timestamp()
    assert figure.data[0]["x"] == [first, first + 36 * 3600]
    assert [text for _, text in figure.layout["x"]["ticks"]] == [
        "03-01 00:00",
        "03-01 12:00",
        "03-02 00:00",
        "03-02 12:00",
    ]
    assert "2024-03-02 12:00:00" in figure.data[0]["texts"][1]


def test_a_cloud_of_many_points_is_thinned_evenly():
    figure = scatter({"a": (range(1000), range(1000))}, most=100)
    assert figure.data[0]["x"] == [float(x) for x in range(0, 1000, 10)]
    assert (figure.shown, figure.total) == (100, 1000)


def test_a_histogram_may_end_in_infinite_edges():
    figure = histogram([-math.inf, 0, 10, math.inf], [1, 2, 3])
    assert figure.data[0]["x"] == [-5, 5, 15]
    assert [text for _, text in figure.layout["x"]["ticks"]] == ["−∞", "0", "10", "∞"]


def test_a_histogram_on_a_log_axis_may_begin_at_zero():
    assert histogram([0, 1, 10, 100], [1, 2, 3], x=PlotAxis(log=True)).data[0]["x"] == [-0.5, 0.5, 1.5]


def test_a_histogram_of_one_unbounded_bin_is_drawn():
    assert histogram([-math.inf, math.inf], [5]).data[0]["x"] == [0.5]
    assert histogram([], []).total == 0


@pytest.mark.parametrize("edges", [[1, 0, 2], [0, 0, 1], [0, math.inf, 1], [0, None, 1]])
def test_edges_ascend(edges):
    with pytest.raises(ValueError, match="edges must ascend"):
        histogram(edges, [1, 1])


def test_a_heat_map_has_its_first_row_on_top_and_gaps_where_nothing_is_known():
    figure = heatmap(["a", "b"], ["c"], [[1], [None]])
    assert figure.data[0]["z"] == [[1.0], [None]]
    assert figure.layout["y"]["range"] == [1.5, -0.5]
    assert figure.undrawn == 1


def test_a_heat_map_may_be_logarithmic():
    figure = heatmap(["a"], ["b", "c"], [[10, 1000]], value=PlotAxis("events", log=True))
    assert figure.data[0]["z"] == [[1.0, 3.0]]
    assert figure.layout["colours"] == {
        "title": "events",
        "range": [1.0, 3.0],
        "ticks": ["10", "100", "1,000"],
    }


def test_a_figure_of_nothing_is_a_figure():
    for figure in (heatmap([], [], []), lines({}), scatter({}), bars([], []), bars([], {})):
        assert figure.total == 0


def test_columns_that_do_not_fit_each_other_are_refused():
    with pytest.raises(ValueError, match="Expected as many values of 'value' as labels, 2, got 1"):
        bars(["a", "b"], [1])
    with pytest.raises(ValueError, match="ys of 'a'"):
        lines({"a": ([1], [])})
    with pytest.raises(ValueError, match="gaps between edges"):
        histogram([1, 2], [1, 2])
    with pytest.raises(ValueError, match="values of row 'b'"):
        heatmap(["a", "b"], ["c"], [[1], [1, 2]])


def test_texts_stay_as_they_are_and_on_their_line():
    figure = bars(["<b>&\n!"], [1], value="<i>")
    assert figure.layout["x"]["ticks"] == [[0, "<b>& !"]]
    assert figure.data[0]["texts"] == ["<b>& !\n<i>: 1"]


def test_a_box_has_the_quarters_of_its_values_and_marks_are_lines():
    values = [[4, 1, 2, 3, 5], [None, 7, math.nan], []]
    figure = boxplot(["a", "b", "c"], values, value="load", marks={"β": 1.5, "β_max": None})
    (box,) = figure.data
    assert [box[part][0] for part in ("least", "quarter", "half", "three", "most")] == [1, 2, 3, 4, 5]
    assert [box[part][1] for part in ("least", "half", "most")] == [7, 7, 7]
    assert box["half"][2] is None
    assert (figure.shown, figure.summary) == (
        6,
        "3 box plots of 6 values. Least middle 3 (a). Greatest 7 (b).",
    )
    assert figure.layout["levels"] == [[1.5, "β"]]
    assert figure.rows.names == ["label", "least", "quarter", "half", "three quarters", "most"]


@examples(40)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
def test_quarters_are_those_of_numpy(values):
    (box,) = boxplot(["a"], [values]).data
    told = [box[part][0] for part in ("least", "quarter", "half", "three", "most")]
    assert told == pytest.approx(np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist(), abs=1e-6)


def test_a_box_plot_of_nothing_is_empty_and_labels_must_fit():
    assert boxplot([], []).data == []
    with pytest.raises(ValueError, match="labels"):
        boxplot(["a"], [])


def test_corners_of_a_triangle_are_relative_to_the_largest_of_all():
    figure = triangles({"a": [10, 0.5, 3], "b": [5, 1.0, 0]}, ["up", "left", "right"])
    first, second = figure.data
    assert first["y"][0] == pytest.approx(1)
    assert second["y"][0] == pytest.approx(0.5)
    assert math.hypot(first["x"][1], first["y"][1]) == pytest.approx(0.5)
    assert first["x"][1] < 0 < first["x"][2]
    assert (first["x"][0], first["y"][0]) == (first["x"][-1], first["y"][-1])
    assert (second["x"][2], second["y"][2]) == pytest.approx((0, 0))
    assert [each["text"] for each in figure.layout["notes"]] == [
        "up\nat most 10",
        "left\nat most 1",
        "right\nat most 3",
    ]
    assert figure.rows.rows == [["a", 10, 0.5, 3], ["b", 5, 1.0, 0]]


def test_a_triangle_without_a_corner_is_counted_and_not_drawn():
    values = {"a": [1, 2, None], "b": [1, -2, 3], "c": [1, 2, math.inf], "d": [1, 2, 3], "e": [0, 0, 0]}
    figure = triangles(values, ["x", "y", "z"])
    assert [each["name"] for each in figure.data] == ["d", "e"]
    assert (figure.shown, figure.total, figure.undrawn) == (2, 5, 3)
    assert len(figure.rows.rows) == 5
    with pytest.raises(ValueError, match="corners"):
        triangles({"a": [1, 2]}, ["x", "y", "z"])
    with pytest.raises(ValueError, match="corners"):
        triangles({}, ["x"])


def test_a_map_counts_those_at_one_place_and_joins_sites():
    sites = {"hub": (0.0, 0.0), "west": (-2.0, 1.0)}
    figure = places(
        {"west": [(-2.0, 0.0), (-2.0, 0.0), (1.0, 1.0)]}, sites, [("hub", "west")], what="people", total=9
    )
    dots, squares = figure.data
    assert (dots["x"], dots["y"]) == ([-2.0, 1.0], [0.0, 1.0])
    assert dots["texts"] == ["west\n2 people here", "west\n1 people here"]
    assert dots["sizes"][0] > dots["sizes"][1]
    assert squares["labels"] == ["hub", "west"]
    assert figure.layout["links"] == [[0.0, 0.0, -2.0, 1.0]]
    assert figure.layout["equal"]
    assert (figure.shown, figure.total) == (3, 9)
    assert figure.rows.rows == [["hub", 0.0, 0.0, 0], ["west", -2.0, 1.0, 3]]
    assert "labels" not in places({}, {str(number): (number, 0) for number in range(99)}).data[0]
