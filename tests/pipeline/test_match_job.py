"""The job of `thatch match --spark` reads a log as often as it says, and parses each filter once."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from thatch.pipeline.jobs import match as job
from thatch.pipeline.jobs.job import JobOutput
from thatch.pipeline.jobs.match import MatchOptions, match_files

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark")]

ROWS = 4_000  # so many that all else that the job reads is less than a tenth of one pass


def records_read(spark) -> int:
    """How many records all stages so far have read from files."""
    context = spark.sparkContext
    scala = context._jsc.sc()
    scala.listenerBus().waitUntilEmpty()
    nothing = context._gateway.new_array(context._jvm.double, 0)
    statuses = context._jvm.java.util.ArrayList()
    stages = scala.statusStore().stageList(None, False, False, nothing, statuses)
    return sum(stages.apply(number).inputRecords() for number in range(stages.size()))


def write_log(folder, kind: str, *, bad: bool) -> str:
    path = folder / f"log.{kind}"
    if kind == "jsonl":
        lines = [json.dumps({"x": number, "t": "a"}) for number in range(ROWS)]
        path.write_text("\n".join(["oops" if bad else lines[0], *lines[1:]]) + "\n")
    elif kind == "csv":
        path.write_text("x,t\n" + "0\n" * bad + "".join(f"{number},a\n" for number in range(ROWS)))
    else:
        pq.write_table(pa.table({"x": list(range(ROWS)), "t": ["a"] * ROWS}), path)
    return str(path)


@pytest.mark.parametrize(
    ("kind", "bad", "passes"),
    [
        ("jsonl", False, 2),  # rows are numbered, then matched
        ("jsonl", True, 3),  # and those that are not events listed
        ("csv", False, 3),  # lines, then records are counted
        ("csv", True, 4),
        ("parquet", False, 2),  # one of them is the count by the footer
    ],
)
def test_the_log_is_read_as_often_as_the_job_says(spark, tmp_path, monkeypatch, kind, bad, passes):
    subscriptions = tmp_path / "s.csv"
    subscriptions.write_text("subscription,filter\na,x < 3\nbad,x <\na,x > 5\n")
    monkeypatch.setattr(job, "split_checked", pytest.fail)  # filters are parsed by the index alone
    log = write_log(tmp_path, kind, bad=bad)
    before = records_read(spark)
    output = JobOutput(str(tmp_path / "out"))
    facts = match_files(spark, str(subscriptions), log, MatchOptions(strategy="mapped"), output)
    assert round((records_read(spark) - before) / ROWS) == passes
    assert facts.events == ROWS
    assert (facts.refused, facts.rejected) == (int(bad), 2)
    assert facts.matches == (2 if bad and kind == "jsonl" else 3)
    rejects = pq.read_table(tmp_path / "out" / "rejects").to_pylist()
    assert [(row["row"], row["subscription"]) for row in rejects] == [(1, "bad"), (2, "a")]
    assert rejects[1]["reason"] == "Expected each id once in the table, got 'a' again"
