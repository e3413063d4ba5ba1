"""Load, reduce and profile in this process and on Spark: the same folders and facts from the same files."""

from __future__ import annotations

import csv
import gzip
import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest

from thatch.engine import Engine
from thatch.errors import TableError
from thatch.formats.folders import read_manifest
from thatch.formats.profile import read_profile
from thatch.model.schema import Schema
from thatch.model.types import Number, Text
from thatch.pipeline.embedded.load import load_here
from thatch.pipeline.embedded.profile import profile_here
from thatch.pipeline.embedded.reduce import reduce_here
from thatch.pipeline.jobs.job import JobOutput
from thatch.pipeline.jobs.load import load_files
from thatch.pipeline.jobs.profile import profile_files
from thatch.pipeline.jobs.reduce import ReduceOptions, reduce_files

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark")]


def filter_text(rng: Random) -> str:
    low = rng.randrange(40)
    symbol = f"symbol = 'S{rng.randrange(4)}'"
    band = f"price between {low} and {low + rng.randrange(25)}"
    others = [
        band,
        f"{symbol} and {band}",
        f"price > {low}",
        f"{symbol} and price in ({low}, {low + 1})",
        f"lower(name) like 'a%{rng.randrange(3)}'",
        f"exists(qty) and {band}",
        f"qty <= {low} or {symbol}",
        "price >",  # none at all
    ]
    return rng.choice(others)


def subscription_rows(rng: Random, count: int) -> list[dict[str, Any]]:
    rows = []
    for number in range(count):
        row: dict[str, Any] = {"subscription": f"s{number if rng.random() < 0.95 else 1}"}
        row["filter"] = filter_text(rng)
        row["subscriber"] = f"desk-{rng.randrange(9)}" if rng.random() < 0.7 else None
        row["expires"] = rng.choice([None, 1e12, 2e9 + number])
        if rng.random() < 0.03:
            row["subscription"] = None
        if rng.random() < 0.03:
            row["expires"] = "soon"
        rows.append(row)
    return rows


def write_subscriptions(folder: Path, kind: str, rng: Random) -> str:
    """Two files in a folder: lines, packed or not, or columns."""
    inputs = folder / "given"
    inputs.mkdir()
    for name in ("a", "b"):
        rows = subscription_rows(rng, 120)
        if kind == "csv":
            with (inputs / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, ["subscription", "filter", "subscriber", "expires"])
                writer.writeheader()
                writer.writerows(rows)
                file.write("few\n")
        else:
            lines = [
                *map(json.dumps, rows),
                "",
                "{broken",
                json.dumps({"subscription": "p", "filter": {"a": [1]}}),
            ]
            content = "\n".join(lines).encode() + b'\n{"subscription": "\xff", "filter": "a = 1"}\n'
            (inputs / f"{name}.jsonl.gz").write_bytes(gzip.compress(content))
    return str(inputs)


def tables(folder: Path, names: list[str]) -> dict[str, list[dict[str, Any]]]:
    return {name: pq.read_table(folder / name).to_pylist() for name in names}


def manifest(folder: Path, kind: str) -> dict[str, Any]:
    """What a manifest says, but of files only those whose names do not depend on who wrote them."""
    found = read_manifest(folder, kind)
    return {**found, "files": {name.split("/")[0] for name in found["files"]}}


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_load_writes_the_same_folder_with_and_without_spark(spark, tmp_path, kind):
    path = write_subscriptions(tmp_path, kind, Random(7))
    here, there = (JobOutput(str(tmp_path / name), command="thatch load") for name in ("here", "there"))
    found, expected = load_here(path, here), load_files(spark, path, there)
    assert found.accepted > 100
    assert found.refused > 10
    assert replace(found, subscribers=0) == replace(expected, subscribers=0)  # Spark estimates how many
    names = ["subscriptions", "rejects"]
    assert tables(tmp_path / "here", names) == tables(tmp_path / "there", names)
    assert manifest(tmp_path / "here", "load") == manifest(tmp_path / "there", "load")
    event = {"price": 20, "symbol": "S1", "qty": 3}
    opened = [Engine.open(tmp_path / name / "index.thatch") for name in ("here", "there")]
    assert opened[0].match(event) == opened[1].match(event) != []
    pages = [(tmp_path / name / "report.html").read_text() for name in ("here", "there")]
    assert pages[0].count("<section") == pages[1].count("<section")


@pytest.mark.parametrize(
    "options",
    [
        ReduceOptions(),
        ReduceOptions(budget=2, order="volume", schema=Schema({"qty": Number(0, 50)})),
    ],
    ids=["exact", "budget"],
)
def test_reduce_gives_the_same_verdicts_and_proofs_with_and_without_spark(spark, tmp_path, options):
    path = write_subscriptions(tmp_path, "csv", Random(8))
    here, there = (JobOutput(str(tmp_path / name), command="thatch reduce") for name in ("here", "there"))
    found = reduce_here(path, options, here)
    assert found == reduce_files(spark, path, options, there)
    assert found.active
    assert found.passive
    names = ["active", "passive", "rejects"]
    assert tables(tmp_path / "here", names) == tables(tmp_path / "there", names)
    assert manifest(tmp_path / "here", "reduce") == manifest(tmp_path / "there", "reduce")


def test_reduce_reads_what_load_wrote_with_and_without_spark(spark, tmp_path):
    path = write_subscriptions(tmp_path, "jsonl", Random(9))
    schema = Schema({"symbol": Text(), "qty": Number(0, 50)})
    load_here(path, JobOutput(str(tmp_path / "loaded")), schema=schema, with_index=False)
    here, there = (JobOutput(str(tmp_path / name)) for name in ("here", "there"))
    found = reduce_here(str(tmp_path / "loaded"), ReduceOptions(), here)
    assert found == reduce_files(spark, str(tmp_path / "loaded"), ReduceOptions(), there)
    assert tables(tmp_path / "here", ["active"]) == tables(tmp_path / "there", ["active"])


def write_events(folder: Path, kind: str, rng: Random) -> str:
    events = []
    for number in range(400):
        event: dict[str, Any] = {"price": rng.randrange(60), "symbol": f"S{rng.randrange(6)}"}
        if rng.random() < 0.3:
            event["qty"] = rng.choice([1.5, 7, None])
        if kind == "jsonl" and number % 9 == 0:
            event["tags"] = [{"name": f"A{rng.randrange(9)}"}, {"name": "b"}]
        events.append(event)
    path = folder / f"events.{kind}"
    if kind == "jsonl":
        path.write_text("\n".join([*map(json.dumps, events), "", "{broken", "[]"]) + "\n", encoding="utf-8")
    else:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, ["price", "symbol", "qty"])
            writer.writeheader()
            writer.writerows(events)
            file.write("few\n")
    return str(path)


@pytest.mark.parametrize(
    ("kind", "schema"), [("csv", None), ("jsonl", Schema({"price": Number(0, 30)}))], ids=["csv", "jsonl"]
)
def test_profile_counts_the_same_with_and_without_spark(spark, tmp_path, kind, schema):
    events = write_events(tmp_path, kind, Random(10))
    subscriptions = write_subscriptions(tmp_path, "csv", Random(11))
    found, expected = (
        work(JobOutput(str(tmp_path / name), command="thatch profile"))
        for name, work in (
            ("here", lambda output: profile_here(events, output, subscriptions=subscriptions, schema=schema)),
            (
                "there",
                lambda output: profile_files(
                    spark, events, output, subscriptions=subscriptions, schema=schema
                ),
            ),
        )
    )
    assert found.events == 400
    assert found.matches.rejected > 10
    # How exact sketches are is all that may differ: of so few values they know all.
    for one, other in zip(found.attributes, expected.attributes, strict=True):
        assert replace(one, quantiles=other.quantiles) == other
        assert all(abs(a - b) <= 1 for a, b in zip(one.quantiles, other.quantiles, strict=True))
    assert replace(found, bounds=expected.bounds, attributes=expected.attributes) == expected
    assert read_profile(tmp_path / "here") == found
    assert manifest(tmp_path / "here", "profile") == manifest(tmp_path / "there", "profile")


def test_a_sample_is_always_the_same(tmp_path):
    events = write_events(tmp_path, "jsonl", Random(12))
    first, second = (
        profile_here(events, JobOutput(str(tmp_path / name)), fraction=0.5) for name in ("first", "second")
    )
    assert first == second
    assert 100 < first.events < 300
    assert first.bounds.fraction == 0.5


@pytest.mark.parametrize("given", ["nothing.csv", "none-*.csv", "mixed"])
def test_what_cannot_be_read_is_refused_and_nothing_is_written(tmp_path, given):
    (tmp_path / "mixed").mkdir()
    for name in ("a.csv", "b.jsonl"):
        (tmp_path / "mixed" / name).write_text("subscription,filter\n")
    with pytest.raises(TableError, match=given.replace("*", r"\*")):
        load_here(str(tmp_path / given), JobOutput(str(tmp_path / "out")))
    assert [each.name for each in tmp_path.iterdir()] == ["mixed"]


def test_progress_only_grows(tmp_path):
    path = write_subscriptions(tmp_path, "csv", Random(13))
    seen: list[tuple[int, int]] = []
    output = JobOutput(str(tmp_path / "out"), progress=lambda *each: seen.append(each))
    reduce_here(path, ReduceOptions(), output)
    assert seen == sorted(seen)
    assert seen[-1][0] > 0
