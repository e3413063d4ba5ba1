"""Bytes a subscription: what matching reads, what everything takes, and what the process really grew by."""

from __future__ import annotations

from benchmarks.child import ask
from benchmarks.console import note
from benchmarks.matching.rows import Row, at_most
from benchmarks.matching.session import Session

__all__ = ["memory_rows"]


def memory_rows(session: Session) -> list[Row]:
    """W1's hot index; W1c in all, as told by the engine and as measured in a new process."""
    count = session.sizes.count
    hot = session.w1.engine.stats()["bytes_hot"] / count
    note(f"loading {count:,} subscriptions of W1c in a new process")
    found = ask(
        "benchmarks.matching.memory_child", {"name": "W1c", "count": count, "seed": session.sizes.seed}
    )
    told = sum(found["bytes"].values())
    growth = found["growth"]
    parts = {name.removeprefix("bytes_"): size / count for name, size in found["bytes"].items()}
    return [
        Row(what="W1 hot index", subscriptions=count, ours=hot, unit="bytes", goal=at_most(60, 45)),
        Row(
            what="W1c everything, told",
            subscriptions=count,
            ours=told / count,
            unit="bytes",
            goal=at_most(250, 150),
            details=parts,
        ),
        Row(
            what="W1c everything, process",
            subscriptions=count,
            ours=growth / count,
            unit="bytes",
            goal=at_most(250, 150),
            details={"told / grown": told / growth},
        ),
        Row(
            what="W1c told v. process",
            subscriptions=count,
            ours=abs(told / growth - 1) * 100,
            unit="%",
            goal=at_most(10),
        ),
    ]
