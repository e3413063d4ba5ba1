from __future__ import annotations

import numpy as np
import pytest

from tests.workloads.scan import share_of_matches
from thatch.workloads import Cells, Intervals, Matrix, Workload, generate
from thatch.workloads.sampling import zipf_weights


@pytest.fixture(scope="module", params=["W1", "W1F", "W1c", "W6"])
def workload(request: pytest.FixtureRequest) -> Workload:
    return generate(request.param, 20_000, 400, 11)


def intervals(workload: Workload) -> Intervals:
    assert isinstance(workload.subscriptions, Intervals)
    return workload.subscriptions


def test_subscriptions_have_three_to_six_conditions(workload: Workload) -> None:
    assert set(np.diff(intervals(workload).offsets)) == {3, 4, 5, 6}


def test_conditions_on_even_attributes_are_equalities_on_a_thousand_values(workload: Workload) -> None:
    columns = intervals(workload)
    is_even = columns.attribute % 2 == 0
    assert (columns.low == columns.high)[is_even].all()
    assert not (columns.low == columns.high)[~is_even].any()
    values = columns.low[is_even]
    assert (values == np.floor(values)).all()
    assert values.min() == 0
    assert values.max() == 999


def test_conditions_on_odd_attributes_are_ranges_of_five_to_fifty_percent(workload: Workload) -> None:
    columns = intervals(workload)
    is_odd = columns.attribute % 2 == 1
    low, high = columns.low[is_odd], columns.high[is_odd]
    width = high - low + (0 if workload.name == "W1c" else 1)
    assert 49.9 < width.min() < 52
    assert 497 < width.max() <= 500
    assert 0 <= low.min() < 1
    assert 998 < high.max() <= 999


def test_whole_numbers_everywhere_but_on_w1c(workload: Workload) -> None:
    columns = intervals(workload)
    is_odd = columns.attribute % 2 == 1
    are_whole = (columns.low == np.floor(columns.low))[is_odd]
    values = np.array([value for event in workload.events() for value in event.values()])
    if workload.name == "W1c":
        assert not are_whole.any()
        assert 0.4 < np.mean(values != np.floor(values)) < 0.6
    else:
        assert are_whole.all()
        assert (values == np.floor(values)).all()


def test_popular_attributes_and_values_follow_zipf(workload: Workload) -> None:
    columns = intervals(workload)
    first = columns.attribute[columns.offsets[:-1]]
    count = len(workload.attributes)
    shares = np.bincount(first, minlength=count)[:5] / len(columns)
    assert shares == pytest.approx(zipf_weights(count, 0.8)[:5], rel=0.25, abs=0.003)
    on_first = columns.low[columns.attribute == 0]
    most = np.sort(np.bincount(on_first.astype(int), minlength=1_000))[::-1][:3] / len(on_first)
    assert most == pytest.approx(zipf_weights(1_000, 0.9)[:3], rel=0.25)


def test_events_carry_ten_to_twenty_attributes_and_w1f_all(workload: Workload) -> None:
    sizes = [len(event) for event in workload.events()]
    assert set(sizes) == ({20} if workload.name == "W1F" else set(range(10, 21)))


def test_popular_values_are_the_same_in_subscriptions_and_events(workload: Workload) -> None:
    columns = intervals(workload)
    wanted = columns.low[columns.attribute == 0].astype(int)
    sent = np.array(
        [event[workload.attributes[0]] for event in workload.events() if workload.attributes[0] in event]
    )
    assert np.bincount(wanted).argmax() == np.bincount(sent.astype(int)).argmax()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "least", "most"), [("W1", 0.014, 0.035), ("W1F", 0.035, 0.07), ("W1c", 0.014, 0.035)]
)
def test_the_percentage_of_matches_is_near_the_study_s(name: str, least: float, most: float) -> None:
    assert least < 100 * share_of_matches(generate(name, 20_000, 200, 2)) < most


def test_w1_keeps_events_as_a_matrix_with_a_column_an_attribute() -> None:
    publications = generate("W1", 1, 50, 1).publications
    assert isinstance(publications, Matrix)
    assert publications.values.shape == (50, 20)


def test_w6_has_five_thousand_attributes_that_are_popular_in_events_too() -> None:
    workload = generate("W6", 20_000, 5_000, 1)
    cells = workload.publications
    assert isinstance(cells, Cells)
    assert len(workload.attributes) == 5_000
    first = cells.attribute[cells.offsets[:-1]]
    shares = np.bincount(first, minlength=5_000)[:5] / len(cells)
    assert shares == pytest.approx(zipf_weights(5_000, 0.8)[:5], rel=0.3, abs=0.003)
    for part in (cells, intervals(workload)):
        assert len(np.unique(part.attribute)) > 4_900
        assert part.attribute.max() == 4_999


def test_w6_matches_far_less_than_one_in_a_million() -> None:
    assert share_of_matches(generate("W6", 20_000, 200, 1)) < 5e-6
