"""Simulations, and the trials they consist of: parameters as data, a grid of them, a seed for each repetition."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

__all__ = ["Grid", "Parameters", "Row", "Simulation", "Trial", "Value", "grid", "random_of"]

Value = int | float | str | bool
Parameters = Mapping[str, Value]
Row = Mapping[str, Value | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """What is done in a trial; figures that show the same simulation share its results.

    Parameters
    ----------
    name : where its results are kept, such as `ouksel2006/redundant_cover`
    trial : called with parameters and a seed, nothing else decides what it returns: one row, or as many as moments of the
        trial are looked at. It runs in any process
    parameters, results : name and type (int, float, str, bool) of what a trial is told, and of what a row of it tells
    version : raised when `trial` changes what it returns; results of other versions are not used
    """

    name: str
    trial: Callable[[Parameters, int], Sequence[Row]]
    parameters: Mapping[str, type]
    results: Mapping[str, type]
    version: int = 1


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of a simulation; its parameters are sorted by name."""

    parameters: tuple[tuple[str, Value], ...]
    seed: int

    @property
    def key(self) -> str:
        """What tells it from every other trial of its simulation; `of` reads it back."""
        return json.dumps([dict(self.parameters), self.seed])

    @staticmethod
    def of(key: str) -> Trial:
        """The trial of a key."""
        parameters, seed = json.loads(key)
        return Trial(tuple(parameters.items()), seed)


Combination = tuple[tuple[str, Value], ...]


class Grid:
    """Trials: combinations of parameters, each with the seeds from 0 up; `+` puts grids together.

    Parameters
    ----------
    seeds : how many, for each combination, which is sorted by name
    """

    def __init__(self, seeds: Mapping[Combination, int]) -> None:
        self._seeds = dict(seeds)

    def __add__(self, other: Grid) -> Grid:
        both = dict(self._seeds)
        for combination, seeds in other._seeds.items():
            both[combination] = max(seeds, both.get(combination, 0))
        return Grid(both)

    def __len__(self) -> int:
        return sum(self._seeds.values())

    def __iter__(self) -> Iterator[Trial]:
        return (Trial(each, seed) for each, seeds in self._seeds.items() for seed in range(seeds))

    def __contains__(self, trial: Trial) -> bool:
        return 0 <= trial.seed < self._seeds.get(trial.parameters, 0)

    def first(self, seeds: int) -> Grid:
        """The same combinations, with so many seeds at most."""
        return Grid({each: min(seeds, here) for each, here in self._seeds.items()})

    def combinations(self) -> list[Combination]:
        """The parameters without the seeds."""
        return list(self._seeds)


def grid(seeds: int, **choices: Sequence[Value]) -> Grid:
    """All combinations of these choices, with as many seeds each."""
    names = sorted(choices)
    return Grid(
        {
            tuple(zip(names, values, strict=True)): seeds
            for values in product(*(choices[name] for name in names))
        }
    )


def random_of(seed: int, *parts: Value) -> np.random.Generator:
    """Random numbers that depend on the seed and on these parameters: independent where they differ."""
    return np.random.default_rng([seed, *(zlib.crc32(repr(part).encode()) for part in parts)])
