"""Curves at tiny sizes: a point for every value, and a page that needs nothing else."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from benchmarks.curves.command import main
from benchmarks.curves.shapes import curves


@pytest.mark.slow
def test_curves_are_measured_printed_kept_and_drawn(tmp_path, capsys):
    points = main(["--quick", "--count", "2000"])
    assert Counter(point.curve for point in points) == {
        "subscriptions": 4, "attributes": 5, "conditions of a filter": 10, "match rate, %": 5,
    }  # fmt: skip
    assert all(point.microseconds > 0 for point in points)
    assert len(capsys.readouterr().out.splitlines()) == len(points) + 3
    assert len(json.loads((tmp_path / "curves-part.json").read_text())["rows"]) == len(points)
    page = (tmp_path / "curves-part.html").read_text(encoding="utf-8")
    assert "hot bytes per subscription over attributes" in page
    assert '<script src="http' not in page


@pytest.mark.parametrize("rate", [0.1, 1, 10])
def test_boxes_of_the_match_rate_curve_hold_about_that_share(rate):
    (curve,) = (each for each in curves(20_000, 200, 1) if each.name == "match rate, %")
    workload = curve.make(rate)
    low, high = (getattr(workload.subscriptions, end).reshape(-1, 3) for end in ("low", "high"))
    points = workload.publications.values[:, None, :]
    share = ((low <= points) & (points <= high)).all(axis=2).mean()
    assert rate / 200 < share < rate / 50
