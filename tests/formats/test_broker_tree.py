"""Broker trees in files: what is read, and what is refused."""

from __future__ import annotations

import json

import pytest

from thatch.errors import TableError
from thatch.formats.broker_tree import read_broker_tree, sites_of
from thatch.formats.topology import read_topology

YAML = """
root: hub
brokers:
  - {name: hub, location: [0, 0]}
  - {name: north, location: [0, 40], capacity: 2, boxes: 5}
  - {name: south, location: [3, -4]}
links: [[hub, north], {between: [south, hub], latency: 0.5}]
"""


def test_a_tree_has_a_root_locations_and_what_brokers_can_bear(tmp_path):
    path = tmp_path / "tree.yaml"
    path.write_text(YAML)
    sites = read_broker_tree(path, complexity=4)
    assert sites.tree.names == ("hub", "north", "south")
    assert sites.tree.parents.tolist() == [-1, 0, 0]
    assert sites.tree.distances.tolist() == [0.0, 40.0, 5.0]
    assert sites.capacities.tolist() == [2.0, 1.0]
    assert sites.complexities.tolist() == [4, 5, 4]
    assert read_topology(path).brokers == ("hub", "north", "south")  # the same file is a topology too


def test_latencies_of_links_count_where_there_are_no_locations():
    links = [{"between": ["a", "b"], "latency": 3}, {"between": ["b", "c"], "latency": 4}]
    assert sites_of({"root": "a", "links": links}).tree.distances.tolist() == pytest.approx([0, 3, 7])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"root": None}, "a `root`"),
        ({"root": "west"}, "one of the brokers as root"),
        ({"links": [["hub", "north"]]}, "No path from 'hub' to 'south'"),
        ({"links": [["hub", "north"], ["north", "south"], ["south", "hub"]]}, "links without a cycle"),
        ({"links": [["hub", "west"]]}, "links between known brokers"),
        ({"brokers": [{"name": "hub", "location": [0, 0]}, "north", "south"]}, "a location of 2 numbers"),
        ({"brokers": [{"name": "hub", "location": [0, "x"]}, "north", "south"]}, "a location of 2 numbers"),
        ({"brokers": [{"location": [0, 0]}]}, "a broker with a `name`"),
        ({"brokers": ["hub", "north", {"name": "south", "capacity": -1}]}, "a number from 0 as `capacity`"),
        ({"brokers": ["hub", "north", {"name": "south", "boxes": 0}]}, "a number from 1 as `boxes`"),
        ({"brokers": ["hub", "north", {"name": "south", "boxes": 1.5}]}, "whole numbers of boxes"),
        ({"brokers": ["hub", "north", {"name": "south", "weight": 1}]}, "only the names"),
        ({"brokers": ["hub"], "links": []}, "a parent for each of at least 2 nodes"),
    ],
)
def test_what_is_no_tree_is_refused(change, message, tmp_path):
    content = {
        "root": "hub",
        "brokers": ["hub", "north", "south"],
        "links": [["hub", "north"], ["hub", "south"]],
    }
    path = tmp_path / "tree.json"
    path.write_text(json.dumps({**content, **change}))
    with pytest.raises(TableError, match=message) as caught:
        read_broker_tree(path)
    assert str(path) in str(caught.value)
