from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.workloads.scan import are_equal
from thatch.errors import SubscriptionError, ThatchError
from thatch.workloads import NAMES, Intervals, Workload, generate

# W6 stands as one example beside these: it takes 80 ms to order the values of 5,000 attributes.
small = [*NAMES[:-1], "W2-1D", "W2-11D"]
names = st.sampled_from(small)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_name_sizes_and_seed_give_the_same_workload(name: str) -> None:
    first, second = generate(name, 300, 40, 5), generate(name, 300, 40, 5)
    assert are_equal(first.subscriptions, second.subscriptions)
    assert are_equal(first.publications, second.publications)
    assert first.filter_texts() == second.filter_texts()
    assert first.events() == second.events()
    assert (first.name, first.seed, first.parameters) == (second.name, second.seed, second.parameters)


@pytest.mark.parametrize("name", NAMES)
def test_another_seed_gives_other_subscriptions_and_events(name: str) -> None:
    first, second = generate(name, 300, 40, 5), generate(name, 300, 40, 6)
    assert first.filter_texts() != second.filter_texts()
    assert first.events() != second.events()


@pytest.mark.parametrize("name", NAMES)
def test_the_number_of_one_side_leaves_the_other_as_it_is(name: str) -> None:
    workload = generate(name, 300, 40, 5)
    assert are_equal(workload.subscriptions, generate(name, 300, 7, 5).subscriptions)
    assert are_equal(workload.publications, generate(name, 8, 40, 5).publications)


def test_w1_and_w1f_have_the_same_subscriptions() -> None:
    assert are_equal(generate("W1", 300, 0, 5).subscriptions, generate("W1F", 300, 0, 5).subscriptions)


@given(
    name=names, subscriptions=st.integers(0, 20), events=st.integers(0, 20), seed=st.integers(0, 2**64 - 1)
)
@example(name="W6", subscriptions=30, events=10, seed=1)
def test_every_size_and_seed_gives_that_many_filters_and_events(
    name: str, subscriptions: int, events: int, seed: int
) -> None:
    workload = generate(name, subscriptions, events, seed)
    assert len(workload.subscriptions) == len(workload.filters()) == subscriptions
    assert len(workload.publications) == len(workload.events()) == events
    assert {key for event in workload.events() for key in event} <= set(workload.attributes)


@given(name=names, subscriptions=st.integers(0, 30), seed=st.integers(0, 2**64 - 1))
@example(name="W6", subscriptions=30, seed=1)
def test_a_subscription_has_different_attributes_and_at_least_one(
    name: str, subscriptions: int, seed: int
) -> None:
    workload = generate(name, subscriptions, 0, seed)
    columns = workload.subscriptions
    assert columns.offsets[0] == 0
    assert columns.offsets[-1] == len(columns.attribute)
    for start, end in zip(columns.offsets[:-1], columns.offsets[1:], strict=True):
        assert 1 <= end - start == len(set(columns.attribute[start:end].tolist()))
    assert all(0 <= attribute < len(workload.attributes) for attribute in columns.attribute)


@given(name=st.sampled_from([name for name in small if name != "W5"]), seed=st.integers(0, 2**64 - 1))
@example(name="W6", seed=1)
def test_no_interval_is_empty_or_open_on_both_sides(name: str, seed: int) -> None:
    columns = generate(name, 50, 0, seed).subscriptions
    assert isinstance(columns, Intervals)
    assert (columns.low <= columns.high).all()
    assert (np.isfinite(columns.low) | np.isfinite(columns.high)).all()
    assert columns.offsets.dtype == np.int64
    assert columns.attribute.dtype == np.int32
    assert columns.low.dtype == columns.high.dtype == np.float64


def test_attributes_are_numbered_with_two_digits_or_as_many_as_it_takes() -> None:
    assert generate("W1", 0, 0, 0).attributes[::19] == ("a00", "a19")
    assert generate("W2-3D", 0, 0, 0).attributes == ("a00", "a01", "a02")
    assert generate("W2-101D", 0, 0, 0).attributes[::100] == ("a000", "a100")
    assert generate("W6", 0, 0, 0).attributes[::4_999] == ("a0000", "a4999")


@pytest.mark.parametrize("name", NAMES)
def test_a_workload_says_what_it_is_in_a_short_line_and_can_be_pickled(name: str) -> None:
    workload = generate(name, 30, 10, 1)
    assert workload.name == name
    assert workload.parameters["attributes"] == len(workload.attributes)
    assert repr(workload).startswith(f"Workload(name='{name}', seed=1, parameters={{")
    assert len(repr(workload)) < 600
    copy: Workload = pickle.loads(pickle.dumps(workload))
    assert copy.filter_texts() == workload.filter_texts()
    assert copy.events() == workload.events()


def test_objects_are_new_at_each_call() -> None:
    workload = generate("W5", 1, 1, 1)
    workload.events()[0].clear()
    assert workload.events()[0]


@pytest.mark.parametrize(
    "name", ["W7", "w1", "", "W2", "W2-0D", "W2-1001D", "W2-03D", "W2-3D\n", "W4", None, 1, []]
)
def test_a_name_of_no_workload_is_refused(name: object) -> None:
    with pytest.raises(SubscriptionError) as caught:
        generate(name, 1, 1, 1)  # type: ignore[arg-type]
    assert "W2-<1 to 1,000>D" in caught.value.expected
    assert caught.value.got == repr(name)
    assert caught.value.where == "the workload's name"


@pytest.mark.parametrize("wrong", [-1, 2**70, 1.0, True, "1", None, np.float64(1)])
@pytest.mark.parametrize("where", ["subscriptions", "events", "seed"])
def test_a_count_or_seed_that_is_no_whole_number_in_range_is_refused(where: str, wrong: object) -> None:
    arguments: dict[str, object] = {"subscriptions": 1, "events": 1, "seed": 1, where: wrong}
    with pytest.raises(ThatchError) as caught:
        generate("W1", **arguments)  # type: ignore[arg-type]
    assert isinstance(caught.value, ValueError)
    assert f"whole number from 0 to {'18,' if where == 'seed' else '100,000,000'}" in str(caught.value)
    assert str(caught.value).endswith(f"- at {where}")


def test_numpy_integers_are_taken_as_counts_and_seed() -> None:
    workload = generate("W1", np.int64(3), np.uint8(2), np.int32(1))  # type: ignore[arg-type]
    assert workload.filter_texts() == generate("W1", 3, 2, 1).filter_texts()
    assert type(workload.seed) is int
