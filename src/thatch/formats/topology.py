"""Topologies in files: YAML or JSON.

    brokers: [hub, north, south]          # may be left out if links name them all
    links:
      - [hub, north]                      # or with more about it:
      - {between: [hub, south], latency: 0.02, bandwidth: 1e6}
    generate: {shape: regions, regions: 4, brokers: 25, seed: 7}    # instead of brokers and links

What placement must know may stand there too, and is no part of the topology: see `thatch.formats.broker_tree`.
Latencies are seconds, bandwidths bytes a second. Shapes are `line`, `star`, `tree`, `random` and `regions`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from thatch.errors import MissingPackageError, ParameterError, TableError, shown
from thatch.model.topology import Link, Topology
from thatch.model.values import reason_of

__all__ = ["SHAPES", "file_content", "generate_topology", "read_topology", "topology_of"]

_YAML = (".yaml", ".yml")
_FIELDS = ("brokers", "links", "root")
_BROKER_FIELDS = ("name", "location", "capacity", "boxes")
_LINK_FIELDS = ("between", "latency", "bandwidth")

# shape -> what makes it, and the names of its options
_MAKERS: dict[str, tuple[Callable[..., Topology], tuple[str, ...]]] = {
    "line": (Topology.line, ("count", "latency", "bandwidth")),
    "star": (Topology.star, ("count", "latency", "bandwidth")),
    "tree": (Topology.tree, ("count", "branching", "latency", "bandwidth")),
    "random": (Topology.random_tree, ("count", "latency", "bandwidth", "seed")),
    "regions": (Topology.regions, ("regions", "brokers", "near", "far", "bandwidth", "seed")),
}
SHAPES = tuple(_MAKERS)
_MOST_PARTS = 1_000_000  # values, lists and objects of a file


def read_topology(path: str | Path) -> Topology:
    """The topology of a file ending in `.yaml`, `.yml` or `.json`.

    Raises
    ------
    TableError
        If the file cannot be read, or holds no topology.
    MissingPackageError
        If it is YAML and PyYAML is not installed.
    """
    content = file_content(path)
    try:
        return topology_of(content)
    except TableError as error:
        where = f"{path}, {error.where}" if error.where else str(path)
        raise TableError(error.expected, error.got, where) from error


def file_content(path: str | Path) -> object:
    """What a YAML or JSON file holds."""
    suffix = Path(path).suffix.lower()
    if suffix not in (*_YAML, ".json"):
        raise TableError("a file ending in .yaml, .yml or .json", str(path))
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(f"Cannot read the file: {error}", where=str(path)) from error
    return _yaml(text, str(path)) if suffix in _YAML else _json(text, str(path))


def topology_of(content: object) -> Topology:
    """The topology that an object as of JSON describes.

    Raises `TableError` if it describes none.
    """
    if not isinstance(content, Mapping):
        raise TableError("an object with `links`, `brokers` or `generate`", shown(content))
    try:
        if "generate" in content:
            _check_names(content, ("generate",), "")
            return _generated(content["generate"])
        _check_names(content, _FIELDS, "")
        links = tuple(_link(each, f"link {number}") for number, each in enumerate(_list(content, "links"), 1))
        named = tuple(name for link in links for name in link.ends)
        given = [_name(each, f"broker {number}") for number, each in enumerate(_list(content, "brokers"), 1)]
        brokers = given if "brokers" in content else tuple(dict.fromkeys(named))
        if not brokers:
            raise TableError("at least one broker", "none", "brokers")
        return Topology(tuple(brokers), links)
    except ParameterError as error:
        raise TableError(error.expected, error.got, error.where) from error


def generate_topology(shape: str, *, seed: int = 0, **options: Any) -> Topology:
    """A topology of one of `SHAPES`, with the options of its maker in `Topology`."""
    if not isinstance(shape, str) or shape not in _MAKERS:
        raise TableError(f"a shape of {', '.join(SHAPES)}", shown(shape), "generate")
    maker, names = _MAKERS[shape]
    given = {**options, **({"seed": seed} if "seed" in names else {})}
    _check_names(given, names, f"generate, {shape}")
    if "seed" in names:
        number = given.pop("seed")
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise TableError("a whole number of at least 0 as seed", shown(number), "generate")
        given["rng"] = np.random.default_rng(number)
    try:
        return maker(**given)
    except TypeError as error:
        reason = str(error).partition("() ")[2]
        raise TableError(f"Cannot generate a {shape}: {reason}", where="generate") from error
    except ParameterError as error:
        raise TableError(error.expected, error.got, f"generate, {error.where}") from error


def _generated(entry: object) -> Topology:
    if not isinstance(entry, Mapping) or "shape" not in entry:
        raise TableError("an object with a `shape`", shown(entry), "generate")
    return generate_topology(**{str(name): value for name, value in entry.items()})


def _name(entry: object, where: str) -> Any:
    """The name of a broker: it may stand for itself, or beside what placement must know."""
    if not isinstance(entry, Mapping):
        return entry
    _check_names(entry, _BROKER_FIELDS, where)
    if "name" not in entry:
        raise TableError("a broker with a `name`", shown(entry), where)
    return entry["name"]


def _link(entry: object, where: str) -> Link:
    if isinstance(entry, Mapping):
        _check_names(entry, _LINK_FIELDS, where)
        ends, rest = entry.get("between"), {name: entry[name] for name in entry if name != "between"}
    else:
        ends, rest = entry, {}
    if not isinstance(ends, list) or len(ends) != 2 or not all(isinstance(each, str) for each in ends):
        raise TableError("a link such as [north, south] or {between: [north, south]}", shown(entry), where)
    return Link(one=ends[0], other=ends[1], **{name: _number(value) for name, value in rest.items()})


def _number(value: Any) -> Any:
    """A number that YAML took for text, as it does with 1e6; anything else as it is."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _list(content: Mapping[Any, Any], name: str) -> list[Any]:
    found = content.get(name, [])
    if not isinstance(found, list):
        raise TableError("a list", shown(found), name)
    return found


def _check_names(entry: Mapping[Any, Any], known: tuple[str, ...], where: str) -> None:
    foreign = next((name for name in entry if name not in known), None)
    if foreign is not None:
        raise TableError(f"only the names {', '.join(known)}", shown(foreign), where)


def _json(text: str, path: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TableError(f"Not valid JSON: {reason_of(error)}", where=path) from error


def _yaml(text: str, path: str) -> object:
    try:
        import yaml
    except ImportError as error:
        raise MissingPackageError("PyYAML", "brokers", "topologies in YAML") from error
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        # Before aliases become objects: merging `<<` writes out what they stand for.
        size = 0 if node is None else _written_out(node, {})
        if size <= _MOST_PARTS:
            return None if node is None else loader.construct_document(node)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise TableError(f"Not valid YAML: {reason_of(error)}", where=path) from error
    raise TableError(f"at most {_MOST_PARTS:,} parts, aliases written out", f"{size:,}", path)


def _written_out(node: Any, known: dict[int, int]) -> int:
    """How many parts a node of YAML has if every alias is replaced by what it stands for."""
    if id(node) not in known:
        known[id(node)] = _MOST_PARTS  # of a node inside itself
        children = node.value if isinstance(node.value, list) else []
        flat = (each for child in children for each in (child if isinstance(child, tuple) else (child,)))
        known[id(node)] = 1 + sum(_written_out(each, known) for each in flat)
    return known[id(node)]
