"""Topologies in files: what is read, what is written, and what is refused."""

from __future__ import annotations

import json
import sys
from math import inf
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thatch.errors import MissingPackageError, TableError
from thatch.formats.topology import generate_topology, read_topology, topology_of
from thatch.model.topology import Link, Topology

YAML = """
brokers: [hub, north, south, island]
links:
  - [hub, north]
  - {between: [hub, south], latency: 0.02, bandwidth: 1e6}
"""
READ = Topology(
    ("hub", "north", "south", "island"),
    (Link(one="hub", other="north"), Link(one="hub", other="south", latency=0.02, bandwidth=1e6)),
)


def topology_text(topology: Topology) -> str:
    """A topology as JSON, which is YAML too."""
    links = [
        {"between": list(each.ends), "latency": each.latency}
        | ({} if each.bandwidth == inf else {"bandwidth": each.bandwidth})
        for each in topology.links
    ]
    return json.dumps({"brokers": list(topology.brokers), "links": links}, ensure_ascii=False)


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_yaml_is_read(tmp_path):
    assert read_topology(written(tmp_path, "a.yaml", YAML)) == READ


def test_json_is_read(tmp_path):
    content = {
        "brokers": ["hub", "north", "south", "island"],
        "links": [["hub", "north"], {"between": ["hub", "south"], "latency": 0.02, "bandwidth": 1e6}],
    }
    assert read_topology(written(tmp_path, "a.json", json.dumps(content))) == READ


def test_brokers_may_be_named_by_links_alone():
    assert topology_of({"links": [["a", "b"], ["b", "c"]]}).brokers == ("a", "b", "c")


def test_a_shape_is_generated():
    told = {"generate": {"shape": "regions", "regions": 2, "brokers": 3, "seed": 7}}
    assert topology_of(told) == Topology.regions(2, 3, np.random.default_rng(7))
    assert topology_of({"generate": {"shape": "line", "count": 3, "latency": 0.5}}) == Topology.line(
        3, latency=0.5
    )
    assert generate_topology("random", count=9, seed=4) == Topology.random_tree(9, np.random.default_rng(4))


@given(count=st.integers(1, 20), seed=st.integers(0, 99))
def test_what_is_written_is_read_again(count, seed, tmp_path_factory):
    made = Topology.random_tree(count, np.random.default_rng(seed), latency=0.1 * seed, bandwidth=1 + seed)
    for name in ("a.json", "a.yaml"):
        path = written(tmp_path_factory.getbasetemp(), name, topology_text(made))
        assert read_topology(path) == made


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "an object with"),
        ("[1, 2]", "an object with"),
        ("links: 5", "a list, got 5 - at .*links"),
        ("brokers: []", "at least one broker"),
        ("brokers: a", "a list"),
        ("links: [[a]]", "a link such as .*link 1"),
        ("links: [[a, b], [a, 5]]", "link 2"),
        (
            "links: [{between: [a, b], speed: 5}]",
            "only the names between, latency, bandwidth, got 'speed'",
        ),
        ("links: [{between: [a, b], latency: slow}]", "a number as latency"),
        ("links: [[a, b], [b, c], [c, a]]", "without a cycle, .*c - b - a"),
        ("brokers: [a]\nlinks: [[a, b]]", "known brokers, got 'b'"),
        ("nodes: [a]", "only the names brokers, links"),
        ("generate: {shape: ring, count: 3}", "a shape of line, star"),
        ("generate: {shape: [1], count: 3}", "a shape of line, star"),
        ("generate: {shape: line}", "Cannot generate a line: .*count"),
        ("generate: {shape: line, count: 0}", "at least 1, got 0 - at .*count"),
        ("generate: {shape: line, count: 3, branching: 2}", "only the names"),
        ("generate: {shape: random, count: 3, seed: -1}", "seed"),
        ("generate: 5", "`shape`"),
        ("generate: {shape: line, count: 3}\nbrokers: [a]", "only the names generate"),
        ("brokers: [a", "YAML"),
        ("!!python/object/apply:os.getcwd []", "YAML"),
    ],
)
def test_what_is_no_topology_is_refused_with_its_place(text, told, tmp_path):
    path = written(tmp_path, "bad.yaml", text)
    with pytest.raises(TableError, match=f"(?s){told}") as caught:
        read_topology(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "told"),
    [("none.yaml", "Cannot read the file"), ("a.txt", "ending in .yaml"), ("bad.json", "JSON")],
)
def test_files_that_cannot_be_read_are_refused(name, told, tmp_path):
    if name == "bad.json":
        written(tmp_path, name, "{")
    with pytest.raises(TableError, match=told):
        read_topology(tmp_path / name)


def test_without_pyyaml_the_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(MissingPackageError, match=r"thatch\[brokers\]"):
        read_topology(written(tmp_path, "a.yaml", YAML))
    assert read_topology(written(tmp_path, "a.json", '{"brokers": ["a"]}')) == Topology(("a",))


def _nested(depth: int) -> str:
    inner = "x" if depth == 0 else _nested(depth - 1)
    return f"[&a{depth} {inner}" + f",*a{depth}" * 9 + "]"


@pytest.mark.parametrize(
    "text",
    [
        "links:\n  - " + _nested(7),
        "links:\n  - " + _nested(60),
        "a0: &a0 {x: 1}\n"
        + "".join(f"a{n}: &a{n} {{<<: [{','.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 30)),
        "links: &a [*a]",
    ],
)
def test_aliases_that_multiply_are_refused_before_they_are_written_out(tmp_path, text):
    path = tmp_path / "t.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(TableError) as caught:
        read_topology(path)
    assert len(str(caught.value)) < 500


def test_aliases_that_say_little_are_read(tmp_path):
    path = tmp_path / "t.yaml"
    path.write_text("links:\n- {between: [a, b], latency: &near 0.5}\n- {between: [b, c], latency: *near}\n")
    assert [link.latency for link in read_topology(path).links] == [0.5, 0.5]


@pytest.mark.parametrize("digits", [400, 5_000])
@pytest.mark.parametrize("name", ["t.yaml", "t.json"])
def test_numbers_of_many_digits_are_refused_in_our_words(tmp_path, digits, name):
    path = tmp_path / name
    path.write_text('{"links": [{"between": ["a", "b"], "latency": %s}]}' % ("1" * digits))
    with pytest.raises(TableError) as caught:
        read_topology(path)
    assert "set_int_max_str_digits" not in str(caught.value)
    assert "integer" in str(caught.value) or "a number as latency" in str(caught.value)
