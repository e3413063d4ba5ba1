"""Topologies: which brokers there are and which are linked, as a value. Links never form a cycle.

A topology need not be connected: parts of a network may be linked later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import inf

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.model.values import finite, is_id

__all__ = ["Link", "Topology"]

_LATENCY = 0.01  # seconds: brokers of one continent
_NEAR = 0.001  # brokers of one building
_FAR = 0.05  # brokers of different continents


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link between two brokers.

    Parameters
    ----------
    one, other : their names
    latency : seconds that a message takes from end to end
    bandwidth : bytes a second, each way
    """

    one: str
    other: str
    latency: float = _LATENCY
    bandwidth: float = inf

    def __post_init__(self) -> None:
        if self.one == self.other:
            raise ParameterError(f"A link connects two brokers: {shown(self.one)} is linked to itself")
        for name in ("latency", "bandwidth"):
            value = getattr(self, name)
            if finite(value) is None and value != inf:
                raise ParameterError(f"a number as {name}", shown(value), self._where())
        if not 0 <= self.latency < inf:
            raise ParameterError("a latency of 0 seconds or more", shown(self.latency), self._where())
        if not self.bandwidth > 0:
            raise ParameterError("a bandwidth above 0", shown(self.bandwidth), self._where())

    @property
    def ends(self) -> tuple[str, str]:
        """The two names."""
        return self.one, self.other

    def _where(self) -> str:
        return f"the link {shown(self.one)} to {shown(self.other)}"


@dataclass(frozen=True, slots=True)
class Topology:
    """Brokers and the links between them, without a cycle.

    Parameters
    ----------
    brokers : their names, each once
    links : between them, each pair once

    Examples
    --------
    >>> line = Topology.line(3)
    >>> line.brokers
    ('b1', 'b2', 'b3')
    >>> line.path("b1", "b3")
    ('b1', 'b2', 'b3')
    >>> Topology.star(4).diameter
    2
    """

    brokers: tuple[str, ...]
    links: tuple[Link, ...] = ()
    _linked: Mapping[str, tuple[str, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        linked: dict[str, list[str]] = {}
        for name in self.brokers:
            _check_name(name)
            if name in linked:
                raise ParameterError("each broker once", f"{shown(name)} twice", "brokers")
            linked[name] = []
        roots = {name: name for name in linked}  # of disjoint sets: brokers that are connected so far
        for link in self.links:
            for name in link.ends:
                if name not in linked:
                    raise ParameterError("links between known brokers", shown(name), "links")
            one, other = (_root(roots, name) for name in link.ends)
            if one == other:
                path = " - ".join(_path(linked, *link.ends))
                got = f"{shown(link.one)} to {shown(link.other)} besides the path {path}"
                raise ParameterError("links without a cycle", got, "links")
            roots[one] = other
            linked[link.one].append(link.other)
            linked[link.other].append(link.one)
        object.__setattr__(self, "_linked", {name: tuple(near) for name, near in linked.items()})

    def neighbours(self, broker: str) -> tuple[str, ...]:
        """The brokers that are linked to one."""
        self._check_known(broker)
        return self._linked[broker]

    def path(self, one: str, other: str) -> tuple[str, ...]:
        """The brokers on the path from one to another, including both; empty if there is none."""
        self._check_known(one)
        self._check_known(other)
        return _path(self._linked, one, other)

    @property
    def diameter(self) -> int:
        """The most links between two brokers that are connected."""
        longest = 0
        seen: set[str] = set()
        for start in self.brokers:
            if start not in seen:
                reached = dict(self._walk(start))
                seen.update(reached)
                end = max(reached, key=reached.__getitem__)  # the end of a longest path of a tree
                longest = max(longest, *(distance for _, distance in self._walk(end)))
        return longest

    def _walk(self, start: str) -> Iterator[tuple[str, int]]:
        """All brokers that are reached from one, each with its distance in links."""
        pending = [(start, "", 0)]
        while pending:
            broker, before, distance = pending.pop()
            yield broker, distance
            pending += [(each, broker, distance + 1) for each in self._linked[broker] if each != before]

    def _check_known(self, broker: str) -> None:
        if broker not in self._linked:
            raise ParameterError("the name of a broker", shown(broker))

    # --- common topologies ---------------------------------------------------------------------------------------------

    @classmethod
    def line(cls, count: int, *, latency: float = _LATENCY, bandwidth: float = inf) -> Topology:
        """Brokers b1, b2, …, each linked to the one before."""
        parents = list(range(-1, _whole(count, "count") - 1))
        return cls._of(_numbered(count), parents, latency, bandwidth)

    @classmethod
    def star(cls, count: int, *, latency: float = _LATENCY, bandwidth: float = inf) -> Topology:
        """Broker b1 in the middle, all others linked to it."""
        parents = [-1] + [0] * (_whole(count, "count") - 1)
        return cls._of(_numbered(count), parents, latency, bandwidth)

    @classmethod
    def tree(
        cls, count: int, branching: int = 2, *, latency: float = _LATENCY, bandwidth: float = inf
    ) -> Topology:
        """A full tree below b1, in which each broker has `branching` children."""
        _whole(branching, "branching")
        parents = [-1] + [(number - 1) // branching for number in range(1, _whole(count, "count"))]
        return cls._of(_numbered(count), parents, latency, bandwidth)

    @classmethod
    def random_tree(
        cls, count: int, rng: np.random.Generator, *, latency: float = _LATENCY, bandwidth: float = inf
    ) -> Topology:
        """Each broker linked to a random earlier one; the longest path grows with the logarithm of the count."""
        return cls._of(_numbered(count), _random_parents(_whole(count, "count"), rng), latency, bandwidth)

    @classmethod
    def regions(
        cls,
        regions: int,
        brokers: int,
        rng: np.random.Generator,
        *,
        near: float = _NEAR,
        far: float = _FAR,
        bandwidth: float = inf,
    ) -> Topology:
        """Random trees of brokers r1-b1, r1-b2, …; the first brokers of all regions form a random tree of slow links.

        Parameters
        ----------
        regions : how many there are
        brokers : in each
        near, far : latency of a link inside a region and between regions
        """
        _whole(brokers, "brokers")
        links = [
            Link(one=f"r{parent + 1}-b1", other=f"r{number + 1}-b1", latency=far, bandwidth=bandwidth)
            for number, parent in enumerate(_random_parents(_whole(regions, "regions"), rng))
            if parent >= 0
        ]
        names: list[str] = []
        for region in range(1, regions + 1):
            here = tuple(f"r{region}-b{number}" for number in range(1, brokers + 1))
            names += here
            links += cls._of(here, _random_parents(brokers, rng), near, bandwidth).links
        return cls(tuple(names), tuple(links))

    @classmethod
    def _of(cls, names: tuple[str, ...], parents: list[int], latency: float, bandwidth: float) -> Topology:
        """Brokers, each linked to the earlier one of this number; -1 for none."""
        return cls(
            names,
            tuple(
                Link(one=names[parent], other=name, latency=latency, bandwidth=bandwidth)
                for name, parent in zip(names, parents, strict=True)
                if parent >= 0
            ),
        )


def _check_name(name: object) -> None:
    if not is_id(name):
        raise ParameterError("a broker's name: text that is not empty and has no NUL", shown(name), "brokers")


def _root(roots: dict[str, str], name: str) -> str:
    """The broker that stands for all that are connected to one; paths are halved on the way."""
    while roots[name] != name:
        roots[name] = roots[roots[name]]
        name = roots[name]
    return name


def _path(linked: Mapping[str, list[str] | tuple[str, ...]], one: str, other: str) -> tuple[str, ...]:
    before = {one: one}
    pending = [one]
    while pending and other not in before:
        here = pending.pop()
        for each in linked[here]:
            if each not in before:
                before[each] = here
                pending.append(each)
    if other not in before:
        return ()
    path = [other]
    while path[-1] != one:
        path.append(before[path[-1]])
    return tuple(reversed(path))


def _numbered(count: int) -> tuple[str, ...]:
    return tuple(f"b{number}" for number in range(1, count + 1))


def _random_parents(count: int, rng: np.random.Generator) -> list[int]:
    return [-1, *(int(rng.integers(number)) for number in range(1, count))]


def _whole(value: int, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ParameterError("a whole number of at least 1", shown(value), where)
    return int(value)
