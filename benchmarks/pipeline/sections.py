"""What is measured, as rows of a table."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.child import ask
from benchmarks.console import note
from benchmarks.matching.rows import Row, at_least, at_most
from benchmarks.ours import Prepared, event_table, ids_of, prepare

__all__ = ["SECTIONS", "Bench"]

_WAYS = {
    "counts": "counts",
    "slots": "integer pairs, a list an event",
    "exploded": "integer pairs, a row each",
    "pairs": "pairs with ids",
}
_BATCH = 32_768  # events of one call of the embedded engine, as Spark's workers get them


@dataclass(frozen=True)
class Bench:
    """Sizes, and what the sections share."""

    folder: Path
    count: int = 1_000_000
    events: int = 200_000
    rounds: int = 5
    seed: int = 1

    @cached_property
    def w1(self) -> Prepared:
        note(f"loading {self.count:,} subscriptions of W1, and {self.events:,} events")
        return prepare("W1", self.count, self.events, self.seed)

    @cached_property
    def log(self) -> Path:
        """The events as a folder of Parquet files, as many as tasks like to have."""
        folder = self.folder / "events"
        folder.mkdir()
        table = event_table(self.w1.workload)
        for number, start in enumerate(range(0, table.num_rows, -(-table.num_rows // 8))):
            pq.write_table(table.slice(start, -(-table.num_rows // 8)), folder / f"{number}.parquet")
        return folder

    @cached_property
    def index(self) -> Path:
        path = self.folder / "w1.thatch"
        self.w1.engine.save(path)
        return path

    def ask(self, master: str, ways: list[str], **more: object) -> dict:
        """The figures of a new process with its own Spark."""
        request = {"master": master, "ways": ways, "rounds": self.rounds, "folder": str(self.folder), **more}
        note(f"{master}: {', '.join(ways)}")
        return ask(
            "benchmarks.pipeline.child", {"events": str(self.log), "index": str(self.index), **request}
        )

    @cached_property
    def two(self) -> dict:
        return self.ask("local[2]", ["counts", "slots", "exploded", "pairs"])

    def row(self, what: str, ours: float, unit: str, **more: object) -> Row:
        return Row(what=what, subscriptions=self.count, ours=ours, unit=unit, **more)  # type: ignore[arg-type]


def throughput_rows(bench: Bench) -> list[Row]:
    """Events a second and core on Spark, beside the embedded engine on one core."""
    table = event_table(bench.w1.workload)
    seconds, pairs = np.inf, 0
    for _ in range(bench.rounds):
        started, pairs = time.perf_counter(), 0
        for start in range(0, table.num_rows, _BATCH):
            pairs += bench.w1.engine.match_batch(table.slice(start, _BATCH)).num_rows
        seconds = min(seconds, time.perf_counter() - started)
    theirs = bench.events / seconds
    rows = []
    for way in ("counts", "slots", "exploded", "pairs"):
        found = bench.two[way]
        if way == "counts":
            assert found["rows"] == pairs, "Spark counts otherwise than the engine matches"
        ours = bench.events / found["seconds"] / 2
        rows.append(
            bench.row(
                f"W1 {_WAYS[way]}, local[2], a core",
                ours,
                "events/s",
                matches=pairs / bench.events,
                peer="match_batch on one core",
                theirs=theirs,
                ratio=ours / theirs,
                goal=at_least(0.6) if way in ("counts", "slots") else None,
                details={"seconds": found["seconds"], "session start": bench.two["started"]},
            )
        )
    return rows


def parquet_rows(bench: Bench) -> list[Row]:
    """Pairs written to Parquet, beside the same rows written without matching."""
    found = bench.ask("local[2]", ["parquet", "write"], rounds=1)
    ours, theirs = found["parquet"]["seconds"], found["write"]["seconds"]
    return [
        bench.row(
            "W1 pairs to Parquet, local[2]",
            ours,
            "s",
            peer="copying these rows",
            theirs=theirs,
            ratio=ours / theirs,
        )
    ]


def scaling_rows(bench: Bench) -> list[Row]:
    """Seconds of processor an event with one task at a time and with two; memory of a worker."""
    one = bench.ask("local[1]", ["counts"])["counts"]
    two = bench.two["counts"]
    ours, theirs = (1e6 * each["cpu"] / bench.events for each in (two, one))
    more = {"wall, one": one["seconds"], "wall, two": two["seconds"]}
    return [
        bench.row(
            "W1 counts, processor time", ours, "µs", peer="local[1]", theirs=theirs, ratio=ours / theirs,
            goal=at_most(1.2), details=more,
        ),
        bench.row("W1 private memory of a worker", two["workers"] / 1e6, "MB", goal=at_most(250)),
    ]  # fmt: skip


def join_rows(bench: Bench) -> list[Row]:
    """A tenth of the subscriptions and a twentieth of the events, whole, beside a join of Spark's SQL."""
    count, events = max(1, bench.count // 10), max(1, bench.events // 20)
    prepared = prepare("W1", count, events, bench.seed)
    boxes = prepared.boxes
    columns: dict[str, object] = {"subscription": ids_of(count)}
    owner = np.repeat(np.arange(count), np.diff(boxes.offsets))
    for number, name in enumerate(prepared.workload.attributes):
        chosen = boxes.attribute == number
        for bound, values in (("low", boxes.low), ("high", boxes.high)):
            column = np.full(count, np.nan)
            column[owner[chosen]] = values[chosen]
            columns[f"{bound} {name}"] = pa.array(column, mask=np.isnan(column))
    paths = {name: bench.folder / f"join-{name}.parquet" for name in ("bounds", "events", "subscriptions")}
    pq.write_table(pa.table(columns), paths["bounds"], row_group_size=10_000)
    pq.write_table(event_table(prepared.workload), paths["events"], row_group_size=1_000)
    texts = pa.table({"subscription": ids_of(count), "filter": prepared.workload.filter_texts()})
    pq.write_table(texts, paths["subscriptions"])
    request = {name: str(path) for name, path in paths.items()}
    # More often than elsewhere: of a job as short as this, Java goes on compiling parts for some rounds.
    found = bench.ask("local[2]", ["boxes", "mapped"], **request, rounds=max(bench.rounds, 8))
    # Once: it takes so long that what is compiled on the way does not matter.
    found |= bench.ask("local[2]", ["join"], **request, warm=False, rounds=1)
    rows = []
    for way, what, goal in (
        ("boxes", "bounds in columns", at_least(100)),
        ("mapped", "filters as text", None),
    ):
        assert found[way]["rows"] == found["join"]["rows"], "the join finds other pairs"
        ours, theirs = found[way]["seconds"], found["join"]["seconds"]
        rows.append(
            Row(
                what=f"W1 match, whole, {what}", subscriptions=count, ours=ours, unit="s", peer="join in Spark SQL",
                theirs=theirs, ratio=theirs / ours, goal=goal, matches=found["join"]["rows"] / events,
            )
        )  # fmt: skip
    return rows


def strategy_rows(bench: Bench) -> list[Row]:
    """Both strategies from filters as text, whole."""
    count = max(1, bench.count // 5)
    prepared = prepare("W1", count, 1, bench.seed)
    path = bench.folder / "strategies.parquet"
    texts = pa.table({"subscription": ids_of(count), "filter": prepared.workload.filter_texts()})
    pq.write_table(texts, path, row_group_size=10_000)
    found = bench.ask("local[2]", ["mapped", "partitioned"], rounds=1, warm=False, subscriptions=str(path))
    assert found["mapped"]["rows"] == found["partitioned"]["rows"], "the strategies find different pairs"
    ours, theirs = found["partitioned"]["seconds"], found["mapped"]["seconds"]
    return [
        Row(
            what="W1 partitioned subscriptions, whole", subscriptions=count, ours=ours, unit="s",
            peer="mapped index", theirs=theirs, ratio=ours / theirs, matches=found["mapped"]["rows"] / bench.events,
        )
    ]  # fmt: skip


def load_rows(bench: Bench) -> list[Row]:
    """Filters parsed, checked and told apart from their doubles, by second of processor."""
    count = max(1, bench.count // 5)
    path = bench.folder / "load.parquet"
    texts = prepare("W1", count, 1, bench.seed).workload.filter_texts()
    pq.write_table(pa.table({"subscription": ids_of(count), "filter": texts}), path, row_group_size=10_000)
    found = bench.ask("local[2]", ["load"], subscriptions=str(path))["load"]
    assert found["rows"] == count, "good filters were refused"
    row = Row(what="W1 load", subscriptions=count, ours=1e6 * found["cpu"] / count, unit="µs")
    return [row]


def shard_rows(bench: Bench) -> list[Row]:
    """How many of sixteen shards, and of sixty-four, an event visits: of W1, and with an equality in every filter."""
    count, events = max(1, bench.count // 5), min(bench.events, 20_000)
    prepared = prepare("W1", count, events, bench.seed)
    rng = np.random.default_rng(bench.seed)
    symbols = [f"S{number}" for number in rng.integers(0, 500, count + events)]
    prices = rng.integers(0, 1_000, count + events)
    asked = [
        f"symbol = '{symbol}' and price < {price}" for symbol, price in zip(symbols, prices, strict=True)
    ]
    sets = {
        "W1": (prepared.workload.filter_texts(), event_table(prepared.workload)),
        "symbol = … and price < …": (
            asked[:count],
            pa.table({"symbol": symbols[count:], "price": prices[count:]}),
        ),
    }
    rows = []
    for name, (texts, table) in sets.items():
        paths = {what: str(bench.folder / f"shards-{what}.parquet") for what in ("subscriptions", "events")}
        pq.write_table(
            pa.table({"subscription": ids_of(count), "filter": texts}),
            paths["subscriptions"],
            row_group_size=10_000,
        )
        pq.write_table(table, paths["events"])
        for shards in (16, 64):
            found = bench.ask("local[2]", ["shards"], **paths, shards=shards, rounds=1, warm=False)["shards"]
            more = {"µs a subscription": 1e6 * found["cpu"] / count, "seconds": found["seconds"]}
            what = f"{name}: visits an event, {shards} shards"
            rows.append(
                Row(what=what, subscriptions=count, ours=found["rows"] / events, unit="visits", details=more)
            )
    return rows


SECTIONS: dict[str, Callable[[Bench], list[Row]]] = {
    "throughput": throughput_rows,
    "scaling": scaling_rows,
    "parquet": parquet_rows,
    "join": join_rows,
    "strategies": strategy_rows,
    "load": load_rows,
    "shards": shard_rows,
}
