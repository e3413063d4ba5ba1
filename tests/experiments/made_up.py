"""A simulation that counts: what the harness is tested with."""

from __future__ import annotations

from collections.abc import Callable

from thatch.experiments.trials import Simulation


def counting(version: int = 1, fails: Callable[[int], bool] = lambda seed: False) -> Simulation:
    """Each trial tells its size times ten plus its seed, twice. Those whose seed `fails` raise an error."""

    # A function inside a function goes to workers by value: they need not know this file.
    def trial(seed: int, *, size: int, form: str):
        if fails(seed):
            raise ValueError(f"no seed {seed}, please")
        told = size * 10 + seed
        return [{"mark": mark, "told": told + mark, "share": 0.5} for mark in range(2)]

    return Simulation(
        name="nobody2000/counting",
        trial=trial,
        results={"mark": int, "told": int, "share": float},
        version=version,
    )
