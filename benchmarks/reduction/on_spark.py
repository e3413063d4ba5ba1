"""Two sizes on Spark in a process of their own, and how the cost grows from one to the other."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.child import ask
from benchmarks.matching.rows import Row, at_most

__all__ = ["grown_rows"]


def grown_rows(child: str, request: dict[str, Any], what: str, told: Mapping[str, str]) -> list[Row]:
    """A row for each of two sizes, and one for the exponent.

    Parameters
    ----------
    child : the module that measures
    request : what it is asked; `counts` has the sizes
    what : is done
    told : names of further figures, and what they are called in the answer
    """
    counts = request["counts"]
    with tempfile.TemporaryDirectory() as folder:
        figures = ask(f"benchmarks.reduction.{child}", {"folder": folder, **request})["figures"]
    rows = [
        Row(
            what=f"{what} on Spark, local[2], from filter texts",
            subscriptions=each["count"],
            ours=each["seconds"],
            unit="s",
            details={name: each[field] for name, field in told.items()}
            | {"processor s": each["cpu"], "driver MB": each["driver"] / 1e6},
        )
        for each in figures
    ]
    grown = np.log(counts[1] / counts[0])
    exponents = {
        name: float(np.log(figures[1][name] / figures[0][name]) / grown) for name in ("seconds", "cpu")
    }
    rows.append(
        Row(
            what=f"exponent of the time of {what}, from the smaller to the larger",
            subscriptions=counts[1],
            ours=exponents["seconds"],
            unit="",
            goal=at_most(1.3),
            details={"of processor time": exponents["cpu"]},
        )
    )
    return rows
