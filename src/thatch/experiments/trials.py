"""Simulations and their trials: every trial is a set of parameters and a seed."""

from __future__ import annotations

import inspect
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np

__all__ = ["Grid", "Row", "Simulation", "Trial", "Value", "columns", "grid", "random_of"]

Value: TypeAlias = int | float | str | bool
Row: TypeAlias = Mapping[str, Value | None]
Combination: TypeAlias = tuple[tuple[str, Value], ...]

_TYPES: dict[str, type] = {"int": int, "float": float, "str": str, "bool": bool}


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """What one trial does. Figures that show the same simulation share its results.

    Parameters
    ----------
    name : the folder of its results, such as `ouksel2006/redundant_cover`
    trial : a function of a seed and keyword parameters (int, float, str or bool) that gives one or more rows. Nothing
        else may influence its result; it runs in any process
    results : name and type of every column of a row; see `columns`
    version : raise it when `trial` returns something else than before; results of other versions are ignored
    defaults : the parameters by name with a typical value, for a `trial` that takes `**parameters`
    """

    name: str
    trial: Callable[..., Iterable[Row]]
    results: Mapping[str, type]
    version: int = 1
    defaults: Mapping[str, Value] | None = None

    @property
    def parameters(self) -> dict[str, type]:
        """Name and type of every parameter of a trial."""
        if self.defaults is not None:
            return {name: type(value) for name, value in self.defaults.items()}
        _, *keywords = inspect.signature(self.trial).parameters.values()  # the first is the seed
        return {each.name: _TYPES[each.annotation] for each in keywords}


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of a simulation; parameters are sorted by name."""

    parameters: Combination
    seed: int

    @property
    def key(self) -> str:
        """A text that identifies the trial within its simulation; `of` reads it back."""
        return json.dumps([dict(self.parameters), self.seed])

    @staticmethod
    def of(key: str) -> Trial:
        """The trial with this key."""
        parameters, seed = json.loads(key)
        return Trial(tuple(parameters.items()), seed)


class Grid:
    """Trials: combinations of parameters, each with seeds from 0 up. Grids can be added.

    Parameters
    ----------
    seeds : the number of seeds of each combination, whose parameters are sorted by name
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
        """The same combinations with at most this many seeds each."""
        return Grid({each: min(seeds, here) for each, here in self._seeds.items()})


def columns(**names: str) -> dict[str, type]:
    """Columns by type: `columns(int="arrived active", float="share")`."""
    return {name: _TYPES[kind] for kind, text in names.items() for name in text.split()}


def grid(seeds: int, **choices: Sequence[Value]) -> Grid:
    """All combinations of these choices, each with this many seeds."""
    names = sorted(choices)
    combinations = product(*(choices[name] for name in names))
    return Grid({tuple(zip(names, values, strict=True)): seeds for values in combinations})


def random_of(seed: int, *parts: Value) -> np.random.Generator:
    """A random generator for a seed and these parameters; generators of different parameters are independent."""
    return np.random.default_rng([seed, *(zlib.crc32(repr(part).encode()) for part in parts)])
