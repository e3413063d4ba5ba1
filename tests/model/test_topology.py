"""Topologies as values: what is refused, what can be asked, and the shapes that are made."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thatch.errors import ParameterError
from thatch.model.topology import Link, Topology

COUNTS = st.integers(1, 40)
SEEDS = st.integers(0, 1_000)


def linked(*pairs: str) -> Topology:
    """A topology of links between brokers of one letter each, as in `linked("ab", "bc")`."""
    return Topology(tuple(dict.fromkeys("".join(pairs))), tuple(Link(one=a, other=b) for a, b in pairs))


def shapes(count: int, seed: int) -> list[Topology]:
    rng = np.random.default_rng(seed)
    return [
        Topology.line(count),
        Topology.star(count),
        Topology.tree(count, 3),
        Topology.random_tree(count, rng),
        Topology.regions(3, count, rng),
    ]


def test_a_cycle_is_refused_with_its_path():
    with pytest.raises(ParameterError, match="a - b - c - d") as caught:
        linked("ab", "bc", "cd", "ad")
    assert caught.value.where == "links"


def test_two_links_between_the_same_brokers_are_a_cycle():
    with pytest.raises(ParameterError, match="without a cycle"):
        linked("ab", "ba")


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Topology(("a", "a")), "'a' twice"),
        (lambda: Topology(("",)), "not empty"),
        (lambda: Topology(("\ud800",)), "text"),
        (lambda: Topology((5,)), "got 5"),  # type: ignore[arg-type]  # the test is that it is refused
        (lambda: Topology(("a",), (Link(one="a", other="b"),)), "known brokers, got 'b'"),
        (lambda: Link(one="a", other="a"), "to itself"),
        (lambda: Link(one="a", other="b", latency=-1), "latency"),
        (lambda: Link(one="a", other="b", latency=float("nan")), "latency"),
        (lambda: Link(one="a", other="b", latency=True), "a number as latency"),
        (lambda: Link(one="a", other="b", bandwidth=0), "bandwidth"),
        (lambda: Link(one="a", other="b", bandwidth="fast"), "a number as bandwidth"),  # type: ignore[arg-type]  # the test is that it is refused
        (lambda: Topology.line(0), "at least 1, got 0 - at count"),
        (lambda: Topology.tree(3, 0), "branching"),
        (lambda: Topology.star(2.5), "count"),  # type: ignore[arg-type]  # the test is that it is refused
        (lambda: Topology.line(2).neighbours("c"), "the name of a broker"),
        (lambda: Topology.line(2).path("b1", "c"), "the name of a broker"),
    ],
)
def test_what_makes_no_sense_is_refused(make, told):
    with pytest.raises(ParameterError, match=told):
        make()


def test_a_topology_may_have_parts():
    parts = linked("ab", "cd", "de")
    assert parts.path("a", "d") == ()
    assert parts.path("c", "e") == ("c", "d", "e")
    assert parts.path("a", "a") == ("a",)
    assert parts.diameter == 2
    assert Topology(()).diameter == 0


def test_neighbours_are_those_of_the_links():
    assert linked("ab", "cb").neighbours("b") == ("a", "c")


def test_lines_stars_and_trees_have_their_diameters():
    assert Topology.line(7).diameter == 6
    assert Topology.star(7).diameter == 2
    assert Topology.tree(7).diameter == 4
    assert Topology.tree(13, 3).neighbours("b1") == ("b2", "b3", "b4")


def test_links_between_regions_are_slow():
    world = Topology.regions(4, 5, np.random.default_rng(3))
    far = [link for link in world.links if link.one.split("-")[0] != link.other.split("-")[0]]
    assert len(world.brokers) == 20
    assert len(far) == 3
    assert {link.latency for link in far} == {0.05}
    assert all(link.one.endswith("b1") and link.other.endswith("b1") for link in far)


@given(count=COUNTS, seed=SEEDS)
def test_every_shape_is_one_tree(count, seed):
    for shape in shapes(count, seed):
        assert len(shape.links) == len(shape.brokers) - 1
        assert all(shape.path(shape.brokers[0], each) for each in shape.brokers)


@given(count=COUNTS, seed=SEEDS)
def test_the_diameter_is_the_longest_path(count, seed):
    shape = Topology.random_tree(min(count, 12), np.random.default_rng(seed))
    assert shape.diameter == max(len(shape.path(a, b)) - 1 for a in shape.brokers for b in shape.brokers)


@given(count=COUNTS, seed=SEEDS)
def test_the_same_seed_makes_the_same_tree(count, seed):
    assert shapes(count, seed) == shapes(count, seed)


def test_topologies_are_values():
    made = Topology.tree(5)
    assert {made: 1}[Topology.tree(5)] == 1
    assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == made
    assert pickle.loads(pickle.dumps(made)).neighbours("b1") == ("b2", "b3")
