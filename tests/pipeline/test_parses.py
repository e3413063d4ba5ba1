"""Every job on Spark parses each filter once, whichever of its tasks need it."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from pyspark.accumulators import AccumulatorParam
from pyspark.sql.classic.dataframe import DataFrame

from tests.app.here import run_here
from thatch.model.language import parse

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark")]

# As nobody prints them: a job may also parse what it has made itself, and indexes what they hold.
FILTERS = [
    "(price between 10 and 50)",
    "(price between 20 and 30)",  # covered by the first
    "(price between 51 and 60)",
    "(lower(name) like 'a%')",
    "(side = 'buy') or (qty <= 5)",
    "(price <",
]
COMMANDS = {  # reducing is the first part of merging
    "load": "load s.csv --spark",
    "merge": "reduce s.csv --merge --spark",
    "place": "place s.csv --tree tree.json --locations places.csv --algorithm gr_star --spark",
    "match": "match s.csv log.jsonl --strategy partitioned --spark",
}


class Counts(AccumulatorParam[Counter[str]]):
    """Counters that tasks add up."""

    def zero(self, value: Counter[str]) -> Counter[str]:
        return Counter()

    def addInPlace(self, value1: Counter[str], value2: Counter[str]) -> Counter[str]:  # noqa: N802 - Spark calls it so
        return value1 + value2


@contextmanager
def parses() -> Iterator[Counter[str]]:
    """Count in this process which texts are parsed, by whichever name a module has the parser."""
    found: Counter[str] = Counter()

    def look(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code is parse.__code__ and isinstance(frame.f_locals["source"], str):
            found[frame.f_locals["source"]] += 1

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        yield found
    finally:
        sys.setprofile(before)


def counted(work: Any, total: Any) -> Callable[..., Iterator[Any]]:
    """A task that also counts the texts that it parses."""

    def task(batches: Iterator[Any]) -> Iterator[Any]:
        from tests.pipeline.test_parses import parses

        with parses() as found:
            made = list(work(batches))
        total.add(found)
        yield from made

    return task


@pytest.mark.parametrize("name", COMMANDS)
def test_each_filter_is_parsed_once(name, spark, tmp_path, monkeypatch):
    rows = [f'id{number},"{text}"' for number, text in enumerate(FILTERS)]
    (tmp_path / "s.csv").write_text("\n".join(["subscription,filter", *rows]))
    events = [{"price": number, "name": "A", "qty": number} for number in range(100)]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(each) + "\n" for each in events))
    tree = {"root": "a", "brokers": [{"name": each, "location": [0]} for each in "ab"], "links": [["a", "b"]]}
    (tmp_path / "tree.json").write_text(json.dumps(tree))
    places = "".join(f"id{number},{number}\n" for number in range(len(FILTERS)))
    (tmp_path / "places.csv").write_text("subscriber,x\n" + places)

    total = spark.sparkContext.accumulator(Counter(), Counts())
    map_in_arrow = DataFrame.mapInArrow
    monkeypatch.setattr(
        DataFrame,
        "mapInArrow",
        lambda self, func, *more, **options: map_in_arrow(self, counted(func, total), *more, **options),
    )
    with parses() as here:
        ran = run_here(tmp_path, *COMMANDS[name].split(), "--out", "out")
    assert ran.returncode == 0, ran.stderr
    assert Path(tmp_path / "out" / "manifest.json").exists()
    found = here + total.value
    assert {text: found[text] for text in FILTERS} == dict.fromkeys(FILTERS, 1)
