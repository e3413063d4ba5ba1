"""Spark's daemon of Python workers, with the kernels loaded before it forks them.

Spark starts it because of the setting `spark.python.daemon.module`; it must not write to standard output.
"""

from __future__ import annotations

import gc

import pyarrow as pa

from thatch.engine import Engine
from thatch.matching.growing import FEW

__all__ = ["warm"]


def warm() -> None:
    """Load what every match needs, and leave no thread behind: threads do not survive a fork."""
    engine = Engine(background=False)
    rows = range(FEW + 1)
    engine.subscribe_many(
        pa.table({"subscription": [str(row) for row in rows], "filter": [f"a > {row}" for row in rows]})
    )
    engine.compact()
    events = pa.table({"a": [1.0, 2.0], "b": ["x", "y"]})
    for _ in engine.match_pieces(events):
        pass
    engine.match({"a": 1, "b": "x"})
    gc.collect()
    gc.freeze()  # so that workers do not touch, and thereby copy, the pages of what is loaded


if __name__ == "__main__":
    from pyspark.daemon import manager

    warm()
    manager()
